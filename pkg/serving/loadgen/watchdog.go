package loadgen

import (
	"context"
	"time"
)

// closingLimit is how long a body may stay open after the stream said it was over.
const closingLimit = time.Second

// nudgeAfter is the silence after which a stream looks at its socket again.
const nudgeAfter = time.Second

// sleepUntil waits for a time of the monotonic clock by Go's timers; false when ctx ended first.
func sleepUntil(ctx context.Context, at int64) bool {
	wait := time.Duration(at - Now())
	if wait <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// watch ends requests that are over a limit, takes the clock offset again, and reports progress, until stop closes.
// It keeps ending requests once ctx ended, because one may just be starting.
func (r *runner) watch(ctx context.Context, stop <-chan struct{}) {
	tick := min(max(min(r.plan.IdleTimeout, r.plan.RequestTimeout)/4, 5*time.Millisecond), 100*time.Millisecond)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	done := ctx.Done()
	reported := Now()
	for {
		select {
		case <-stop:
			return
		case <-done:
			done = nil
		case <-ticker.C:
		}
		now := Now()
		for _, s := range r.slots {
			r.inspect(s, now, ctx.Err() != nil)
		}
		r.wall.take()
		if now-reported > int64(250*time.Millisecond) {
			reported = now
			r.report()
		}
	}
}

// inspect holds one slot to the limits.
func (r *runner) inspect(s *slot, now int64, canceled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	silent := time.Duration(now - s.lastRead.Load())
	switch {
	case canceled:
		s.end(Canceled)
	case s.closing.Load() && silent > closingLimit:
		s.end(Truncated)
	case silent > r.plan.IdleTimeout:
		s.end(IdleTimeout)
	case time.Duration(now-s.sent) > r.plan.RequestTimeout:
		s.end(RequestTimeout)
	case silent > nudgeAfter:
		s.nudge()
	}
}

// report calls the plan's progress function.
func (r *runner) report() {
	if r.plan.Progress != nil && r.measuring {
		r.plan.Progress(Progress{
			Done: int(r.done.Load()), Failed: int(r.failed.Load()), InFlight: int(r.inFlight.Load()), Total: r.plan.NumPrompts,
		})
	}
}
