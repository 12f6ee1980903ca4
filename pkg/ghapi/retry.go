package ghapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	defaultBudget = 3 * time.Minute
	// maxTries bounds the attempts at one request, whatever the budget; dead connections are given up
	// sooner, since a wrong host name does not get better.
	maxTries, maxConnections = 5, 3
	// firstBackoff is the wait after the first failure of the server or the network; it doubles.
	firstBackoff = time.Second
)

// retrier repeats requests that may be repeated, and never sooner than GitHub said.
type retrier struct {
	next   http.RoundTripper
	clock  Clock
	budget time.Duration
	stall  time.Duration
	note   func(string)

	mu sync.Mutex
	// until is when the primary limit ends: an answer that used up the last request of the hour says so,
	// and asking again before would only be refused. It holds for one host.
	until map[string]time.Time
}

func newRetrier(next http.RoundTripper, o Options) *retrier {
	r := &retrier{next: next, clock: o.Clock.orReal(), budget: o.Budget, stall: o.Stall, note: o.Note, until: map[string]time.Time{}}
	if r.budget <= 0 {
		r.budget = defaultBudget
	}
	if r.note == nil {
		r.note = func(string) {}
	}
	return r
}

// RoundTrip sends the request, and again after a limit, a failing server or a broken connection, if its
// method may be repeated and time is left. A limit that is not waited out is a [*LimitError]; every
// other answer is handed on as it came.
func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	start := r.clock.Now()
	if err := r.waitForQuota(req); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		attempt, err := repeatable(req, try)
		if err != nil {
			return nil, err
		}
		resp, err := r.next.RoundTrip(attempt)
		var v verdict
		if err != nil {
			v = verdict{kind: brokenConnection, cause: err}
		} else {
			v = judge(resp, r.clock.Now(), try)
			r.remember(req.URL.Host, resp, v)
		}
		if v.kind == final {
			resp.Body = newAttentive(resp.Body, r.stall)
			return resp, nil
		}
		if ctx.Err() != nil {
			discard(resp)
			return nil, context.Cause(ctx)
		}
		wait := v.wait
		if !v.kind.limit() {
			wait = max(wait, firstBackoff<<(try-1))
		}
		wait += time.Duration(rand.Int64N(int64(wait/10) + int64(100*time.Millisecond)))
		if !mayRepeat(req) || try == maxTries || v.kind == brokenConnection && try == maxConnections || !r.affords(ctx, start, wait) {
			if v.kind.limit() {
				discard(resp)
				return nil, &LimitError{Kind: v.kind.String(), Until: r.clock.Now().Add(v.wait)}
			}
			return resp, err
		}
		discard(resp)
		r.note(fmt.Sprintf("%s: waiting %s before asking again", v, wait.Round(time.Second)))
		if err := r.clock.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// affords reports whether a wait fits into the request's budget and the context's deadline.
func (r *retrier) affords(ctx context.Context, start time.Time, wait time.Duration) bool {
	now := r.clock.Now()
	if deadline, ok := ctx.Deadline(); ok && now.Add(wait).After(deadline) {
		return false
	}
	return now.Sub(start)+wait <= r.budget
}

// waitForQuota holds a request back until the limit that an earlier answer spoke of has passed.
func (r *retrier) waitForQuota(req *http.Request) error {
	r.mu.Lock()
	until := r.until[req.URL.Host]
	r.mu.Unlock()
	now := r.clock.Now()
	wait := until.Sub(now)
	if wait <= 0 {
		return nil
	}
	if !r.affords(req.Context(), now, wait) {
		return &LimitError{Kind: primaryLimit.String(), Until: until}
	}
	r.note(fmt.Sprintf("%s: waiting %s before asking", primaryLimit, wait.Round(time.Second)))
	return r.clock.Sleep(req.Context(), wait)
}

// remember keeps what an answer says about the primary limit, and takes it out of the answer: go-github
// would count with it by a clock of its own.
func (r *retrier) remember(host string, resp *http.Response, v verdict) {
	if resp.Header.Get(headerRemaining) == "0" && v.kind == final {
		if wait, ok := untilReset(resp.Header, r.clock.Now()); ok {
			r.mu.Lock()
			r.until[host] = r.clock.Now().Add(wait)
			r.mu.Unlock()
		}
	}
	resp.Header.Del(headerReset)
}

// mayRepeat reports whether sending the request twice does what sending it once does, and it can be sent
// twice.
func mayRepeat(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
	}
	return false
}

// repeatable is the request for an attempt, with a fresh body after the first.
func repeatable(req *http.Request, try int) (*http.Request, error) {
	if try == 1 || req.GetBody == nil {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("sending the request again: %w", err)
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again, nil
}

// discard reads what is left of an answer, within reason, so that its connection can be used again.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

// LimitError says that GitHub asks to wait longer than there is time for, or that a request which must not
// be repeated met a limit.
type LimitError struct {
	// Kind is the limit: "rate limit" or "secondary rate limit".
	Kind string

	// Until is when GitHub will answer again.
	Until time.Time
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("GitHub's %s is reached; it answers again at %s", e.Kind, e.Until.UTC().Format(time.RFC3339))
}

// IsLimit reports whether err is a limit that was not waited out.
func IsLimit(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit)
}
