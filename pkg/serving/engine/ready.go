package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	readyEvery = 100 * time.Millisecond
	probeLimit = 5 * time.Second
)

// Await waits until the engine's ports answer: the gateway's /readiness (/health or /v1/models of an engine without it), and the control port's /health where there is
// one. Each round looks first whether the engine is still alive. A gateway that is ready while nobody listens on the
// control port is not waited for until the timeout: the engine goes on without its control server when that cannot bind
// its port, so that is its own cause. note, when set, is told of each round. The error is a *Failure, or the context's.
func Await(ctx context.Context, e Engine, spec Spec, note func(string)) error {
	w := waiter{engine: e, spec: spec, client: probeClient()}
	defer w.client.CloseIdleConnections()
	limit, cancel := context.WithTimeout(ctx, spec.ReadyTimeout)
	defer cancel()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		ready, err := w.round(limit)
		if ready || err != nil {
			return err
		}
		if note != nil {
			note(w.last)
		}
		select {
		case <-e.Done():
		case <-tick.C:
		case <-limit.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return failed(e, ReadinessTimeout, "the engine was not ready after %s: %s", spec.ReadyTimeout, w.last)
		}
	}
}

// waiter keeps what earlier rounds saw.
type waiter struct {
	engine      Engine
	spec        Spec
	client      *http.Client
	last        string
	gatewayAt   time.Time // when the gateway was first ready
	controlSeen bool      // the control port took a connection once
}

func (w *waiter) round(ctx context.Context) (bool, error) {
	select {
	case <-w.engine.Done():
		return false, failed(w.engine, ExitedInStartup, "the engine ended before it was ready: %s", w.engine.Exit())
	default:
	}
	at := w.engine.Endpoint()
	gateway := w.gateway(ctx, at.Gateway)
	if gateway != nil {
		w.last = fmt.Sprintf("gateway: %v", gateway)
		return false, nil
	}
	if w.gatewayAt.IsZero() {
		w.gatewayAt = time.Now()
	}
	if at.Control == "" {
		return true, nil
	}
	control := w.probe(ctx, at.Control+"/health")
	if control == nil {
		return true, nil
	}
	w.last = fmt.Sprintf("gateway is ready; control port: %v", control)
	if !errors.Is(control, syscall.ECONNREFUSED) {
		w.controlSeen = true
	}
	return false, w.unbound(at)
}

// errNoSuchPath is an answer of an engine that does not know the path.
var errNoSuchPath = errors.New("no such path")

// gateway asks for /readiness, and for what other engines have in its place where they do not know it.
func (w *waiter) gateway(ctx context.Context, base string) error {
	var err error
	for _, path := range []string{"/readiness", "/health", "/v1/models"} {
		if err = w.probe(ctx, base+path); !errors.Is(err, errNoSuchPath) {
			return err
		}
	}
	return err
}

// unbound is the failure of a control port that stays closed behind a ready gateway.
func (w *waiter) unbound(at Endpoint) error {
	grace := controlGrace(w.spec.ReadyTimeout)
	if w.controlSeen || time.Since(w.gatewayAt) < grace {
		return nil
	}
	f := failed(w.engine, ControlUnbound, "the gateway is ready at %s, and nobody has listened on the control port at %s for %s", at.Gateway, at.Control, grace)
	if f.Hint == "" {
		f.Hint = "the engine goes on without its control server when it cannot bind the port: leave control_port at auto, or free it"
	}
	return f
}

// controlGrace is how long a ready gateway waits for a control port that refuses connections.
func controlGrace(ready time.Duration) time.Duration {
	return min(max(ready/10, time.Second), 30*time.Second)
}

// probe asks for url and is content with 200.
func (w *waiter) probe(ctx context.Context, url string) error {
	limit, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(limit, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", url, errNoSuchPath)
	}
	return fmt.Errorf("%s answers %s", url, resp.Status)
}

// probeClient goes straight to the engine: neither a proxy from the environment nor where it redirects to must answer for it.
func probeClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: probeLimit}).DialContext,
		ResponseHeaderTimeout: probeLimit,
	}}
}
