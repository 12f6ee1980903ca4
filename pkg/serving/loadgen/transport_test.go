package loadgen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func allOK(t *testing.T, res *Result) {
	t.Helper()
	for i := range res.Requests {
		if q := &res.Requests[i]; !q.OK() {
			t.Fatalf("request %d: %s: %s", i, q.Failure, q.Detail)
		}
	}
}

func TestTLSUsesTheUserClock(t *testing.T) {
	e := &fakeEngine{}
	e.Server = httptest.NewUnstartedServer(e)
	e.Config.ErrorLog = log.New(io.Discard, "", 0)
	e.StartTLS()
	t.Cleanup(e.Close)
	p := smallPlan(e)
	roots := x509.NewCertPool()
	roots.AddCert(e.Certificate())
	p.TLS = &tls.Config{RootCAs: roots}
	res := mustRun(t, p)
	allOK(t, res)
	if clock, _ := res.Export(false).Get("clock"); res.Clock != UserClock || clock != "user" {
		t.Errorf("clock: got %s, exported %v", res.Clock, clock)
	}
	if res.Plan.TLS != nil {
		t.Error("the result keeps the TLS configuration")
	}
	p.TLS = nil
	if q := mustRun(t, p).Requests[0]; q.Failure != ConnectFailed || !strings.Contains(q.Detail, "certificate") {
		t.Errorf("an unknown authority: got %q: %s", q.Failure, q.Detail)
	}
}

func TestHostNamesAndIPv6(t *testing.T) {
	e := &fakeEngine{}
	for _, host := range []string{"localhost", "[::1]"} {
		l, err := net.Listen("tcp", strings.Replace(host, "localhost", "127.0.0.1", 1)+":0")
		if err != nil {
			t.Skipf("no loopback %s here: %v", host, err)
		}
		s := &http.Server{Handler: e}
		go s.Serve(l)
		defer s.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		p := smallPlan(&fakeEngine{Server: &httptest.Server{URL: "http://" + host + ":" + port}})
		allOK(t, mustRun(t, p))
	}
}

func TestConnectionsAreReused(t *testing.T) {
	conns := atomic.Int64{}
	e := &fakeEngine{}
	e.Server = httptest.NewUnstartedServer(e)
	e.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	e.Start()
	t.Cleanup(e.Close)
	res := mustRun(t, smallPlan(e))
	allOK(t, res)
	if c := res.Audit.Connect; conns.Load() != 4 || c.Dialled != 4 || c.Redialled != 0 {
		t.Errorf("the engine saw %d connections, audit %+v, want 4", conns.Load(), c)
	}
	for i := range res.Requests {
		if q := &res.Requests[i]; q.Connected == 0 || q.Connected > q.Dispatch {
			t.Errorf("request %d: connected %d after dispatch %d", i, q.Connected, q.Dispatch)
		}
	}
}

// A server that closes after each answer, announced or not, costs a new connection and no request.
func TestServerClosesBetweenRequests(t *testing.T) {
	for name, how := range map[string]struct {
		answer string
		stay   bool
	}{
		"announced": {answer: closedHead + sse(fourTokens()...)},
		"silently":  {answer: whole(fourTokens()...)},
	} {
		p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool {
			io.WriteString(c, how.answer)
			return how.stay
		}))
		p.NumPrompts, p.MaxConcurrency = 6, 2
		res := mustRun(t, p)
		allOK(t, res)
		redialled, want := 0, 0
		for i := range res.Requests {
			q := &res.Requests[i]
			if !q.FirstWave {
				want++
			}
			if q.Redialled {
				redialled++
			}
			if q.Sent < q.Connected {
				t.Errorf("%s: the dial is inside the latency", name)
			}
		}
		if redialled != want || res.Audit.Connect.Redialled != want {
			t.Errorf("%s: %d redialled, audit %+v, want %d", name, redialled, res.Audit.Connect, want)
		}
	}
}

// A connection that had no pause is closed by a request for a reason, which stays a failure.
func TestACrashIsNotRetried(t *testing.T) {
	p := fourPlan(rawServer(t, func(c net.Conn, n int) bool {
		if n > 0 {
			return false // reads the second request and closes
		}
		io.WriteString(c, whole(fourTokens()...))
		return true
	}))
	p.NumPrompts, p.MaxConcurrency = 2, 1
	res := mustRun(t, p)
	if a, b := &res.Requests[0], &res.Requests[1]; !a.OK() || b.Failure != Truncated || b.Retried {
		t.Errorf("got %q and %q: %s, retried %v", a.Failure, b.Failure, b.Detail, b.Retried)
	}
}

// Where the state of an idle connection cannot be seen, a request that meets a closed one is sent again, once.
func TestRetriedOnce(t *testing.T) {
	e := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(e.Close)
	url := serveRaw(t, tlsListener(t, e.TLS.Certificates[0]), func(c net.Conn, n int) bool {
		io.WriteString(c, whole(fourTokens()...))
		return false
	})
	p := fourPlan(strings.Replace(url, "http:", "https:", 1))
	p.NumPrompts, p.MaxConcurrency = 2, 1
	p.TLS = &tls.Config{InsecureSkipVerify: true}
	res := mustRun(t, p)
	allOK(t, res)
	if a, b := &res.Requests[0], &res.Requests[1]; a.Retried || !b.Retried || !b.Redialled {
		t.Errorf("retried: %v, %v", a.Retried, b.Retried)
	}
}

func tlsListener(t *testing.T, cert tls.Certificate) net.Listener {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A client with a pool limit measures its own queue; the planned load never was there.
func TestConnectionLimitIsTold(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 30 * time.Millisecond})
	p := smallPlan(e)
	p.NumPrompts, p.MaxConcurrency, p.ConnLimit = 300, 150, 100
	res := mustRun(t, p)
	allOK(t, res)
	if got := e.peak.Load(); got > 100 {
		t.Errorf("the engine saw %d at once over 100 connections", got)
	}
	if !slices.Contains(res.Tags, TagLoadNotDelivered) || res.Reasons[TagLoadNotDelivered] == "" {
		t.Errorf("tags %v, reasons %v", res.Tags, res.Reasons)
	}
}

// No ceiling: all 300 streams are at the engine at once, which holds them until they are.
func TestNoHiddenCeiling(t *testing.T) {
	const n = 300
	gate, open := make(chan struct{}), sync.Once{}
	e := startEngine(t, &fakeEngine{})
	e.answer = func(http.ResponseWriter, *askedFor) bool {
		if e.inFlight.Load() == n {
			open.Do(func() { close(gate) })
		}
		select {
		case <-gate:
		case <-time.After(20 * time.Second):
		}
		return false
	}
	p := smallPlan(e)
	p.NumPrompts, p.MaxConcurrency = n, n
	res := mustRun(t, p)
	allOK(t, res)
	if e.peak.Load() != n || res.Audit.InFlight.Peak != n || slices.Contains(res.Tags, TagLoadNotDelivered) {
		t.Errorf("the engine saw %d, the sweep says %d, tags %v", e.peak.Load(), res.Audit.InFlight.Peak, res.Tags)
	}
}

func TestCancelClosesEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	gone := atomic.Int64{}
	e := startEngine(t, &fakeEngine{})
	ctx, cancel := context.WithCancel(t.Context())
	e.answer = func(w http.ResponseWriter, req *askedFor) bool {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		if e.inFlight.Load() == 4 {
			cancel()
		}
		buf := make([]byte, 1)
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Read(buf) // returns when the client closes
			c.Close()
			gone.Add(1)
		}
		return true
	}
	res, err := Run(ctx, smallPlan(e))
	if err != context.Canceled || res == nil {
		t.Fatalf("got %v, %v", res, err)
	}
	for i := range res.Requests {
		if q := &res.Requests[i]; q.Failure != Canceled {
			t.Errorf("request %d: got %q: %s", i, q.Failure, q.Detail)
		}
	}
	until(t, "every connection is closed", func() bool { return gone.Load() == 4 })
	e.Close()
	until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%s: not within 20 s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestCancelWhileWaitingForArrivals(t *testing.T) {
	e := startEngine(t, &fakeEngine{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	p := smallPlan(e)
	p.RequestRate = 0.01
	res, err := Run(ctx, p)
	if err != context.DeadlineExceeded || res.Requests[11].Failure != Canceled {
		t.Errorf("got %v, %+v", err, res)
	}
}

func TestOpenLoop(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 2 * time.Millisecond})
	p := smallPlan(e)
	p.NumPrompts, p.MaxConcurrency, p.RequestRate = 60, 0, 300
	res := mustRun(t, p)
	allOK(t, res)
	s := res.Audit.Stimulus
	if s.Loop != "open" || s.PlannedRate <= 0 || s.AchievedRate <= 0 || s.GapKSLimit <= 0 {
		t.Errorf("stimulus: %+v", s)
	}
	want := arrivals(&res.Plan)
	for i := range res.Requests {
		q := &res.Requests[i]
		if q.Intended != res.Start+int64(want[i]*1e9) {
			t.Fatalf("request %d: intended %d, want start + %v s", i, q.Intended-res.Start, want[i])
		}
		if q.Sent < q.Intended || q.FirstWave {
			t.Errorf("request %d: sent %d ns before its time, first wave %v", i, q.Intended-q.Sent, q.FirstWave)
		}
	}
	exp := res.Export(false)
	for _, key := range []string{"median_dispatch_delay_ms", "median_scheduled_ttft_ms", "p99_scheduled_e2el_ms"} {
		if _, ok := exp.Float(key); !ok {
			t.Errorf("%s is missing", key)
		}
	}
	scheduled, _ := exp.Float("median_scheduled_ttft_ms")
	if sent, _ := exp.Float("median_ttft_ms"); scheduled < sent {
		t.Errorf("from the intended start %v, from the send %v", scheduled, sent)
	}
}

// A cap that the engine cannot keep up with delays sends; the delay is in the intended clock and load_not_delivered
// says it (coordinated omission).
func TestOpenLoopBehindACap(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 30 * time.Millisecond})
	p := smallPlan(e)
	p.NumPrompts, p.MaxConcurrency, p.RequestRate = 30, 1, 1000
	res := mustRun(t, p)
	allOK(t, res)
	exp := res.Export(false)
	sent, _ := exp.Float("p90_ttft_ms")
	scheduled, _ := exp.Float("p90_scheduled_ttft_ms")
	if e.peak.Load() != 1 || scheduled < 10*sent {
		t.Errorf("peak %d, ttft %v from the send, %v from the intended start", e.peak.Load(), sent, scheduled)
	}
	if !slices.Contains(res.Tags, TagLoadNotDelivered) {
		t.Errorf("tags: %v", res.Tags)
	}
}

func TestStaggeredFirstWave(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 20 * time.Millisecond})
	p := smallPlan(e)
	p.Stagger = 5 * time.Millisecond
	res := mustRun(t, p)
	allOK(t, res)
	for i := range res.Requests {
		q := &res.Requests[i]
		if q.FirstWave && q.Intended != res.Start+int64(q.Slot)*int64(p.Stagger) {
			t.Errorf("slot %d intended %d ns after the start", q.Slot, q.Intended-res.Start)
		}
	}
	if n, _ := res.Export(false).Float("first_wave_requests"); n != 4 {
		t.Errorf("first_wave_requests: got %v, want 4", n)
	}
}

func TestProgress(t *testing.T) {
	e := startEngine(t, &fakeEngine{})
	var last Progress
	p := smallPlan(e)
	p.NumWarmups = 3
	p.Progress = func(now Progress) { last = now }
	mustRun(t, p)
	if want := (Progress{Done: 12, Total: 12}); last != want {
		t.Errorf("got %+v, want %+v", last, want)
	}
}
