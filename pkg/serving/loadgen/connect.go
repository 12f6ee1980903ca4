package loadgen

import (
	"context"
	"sync"
	"time"
)

// A burst of connections overflows the accept queue of a server whose backlog is short, and each SYN lost there costs
// a second: at most dialBurst are begun per dialPause.
const (
	dialBurst = 32
	dialPause = 10 * time.Millisecond
)

// preDialled is how many connections of an open loop without a cap are dialled beforehand; more are dialled when
// they are needed, which the requests concerned show.
const preDialled = 64

// connect dials beforehand. What fails here is tried again by the request that needs it.
func (r *runner) connect(ctx context.Context) {
	n := len(r.slots)
	if r.plan.open() && r.plan.MaxConcurrency == 0 {
		n = min(n, preDialled)
	}
	var dials sync.WaitGroup
	for i, s := range r.slots[:n] {
		if i > 0 && i%dialBurst == 0 && !sleepUntil(ctx, Now()+int64(dialPause)) {
			break
		}
		s.ready(r.plan.Endpoint == ChatCompletions)
		dials.Go(func() { _ = s.connect(ctx) })
	}
	dials.Wait()
}
