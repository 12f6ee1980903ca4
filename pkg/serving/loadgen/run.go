package loadgen

import (
	"context"
	"crypto/tls"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// startLead is the time between setting up a phase and its first request, so that every slot stands ready.
const startLead = 5 * time.Millisecond

// Run performs one step. Its error is a *PlanError for a plan that cannot be run, or ctx's error together with the
// partial Result when ctx ended; a failing engine is no error, it is failed requests.
func Run(ctx context.Context, p Plan) (*Result, error) {
	r, err := newRunner(p)
	if err != nil {
		return nil, err
	}
	warmSeries, series := warmup, measured
	if p.Discarded {
		warmSeries, series = discardedWarmup, discarded
	}
	warmups, err := r.write.orders(warmSeries, r.plan.NumWarmups)
	if err != nil {
		return nil, err
	}
	orders, err := r.write.orders(series, r.plan.NumPrompts)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.connect(ctx)
	res := &Result{Plan: r.public(), Started: time.Now()}
	if len(warmups) > 0 {
		warm := newPhase(warmups)
		r.perform(ctx, warm, &closedLoop{slots: r.slots, start: Now(), n: int64(len(warmups))})
		res.Warmups = warm.requests
	}
	if err := r.measure(ctx, newPhase(orders), res); err != nil {
		return nil, err
	}
	return res, ctx.Err()
}

// runner holds what a step needs.
type runner struct {
	plan  Plan
	write *writer
	wall  wallOffset
	slots []*slot
	// measuring is false during warm-ups, which report no progress.
	measuring bool
	// probe is the timer probe of the user clock.
	probe lags

	done, failed, inFlight atomic.Int64
}

// newRunner checks the plan and makes its slots.
func newRunner(p Plan) (*runner, error) {
	r := &runner{plan: p.withDefaults()}
	if err := r.plan.check(); err != nil {
		return nil, err
	}
	t, err := parseTarget(r.plan.BaseURL, r.plan.Endpoint)
	if err != nil {
		return nil, err
	}
	if r.write, err = newWriter(&r.plan, t); err != nil {
		return nil, err
	}
	r.wall.take()
	d := &dialer{target: t, timeout: r.plan.ConnectTimeout, wall: &r.wall, tls: r.plan.TLS.Clone()}
	if d.tls == nil {
		d.tls = &tls.Config{}
	}
	if d.tls.ServerName == "" {
		d.tls.ServerName = t.name
	}
	d.tls.NextProtos = []string{"http/1.1"}
	r.slots = make([]*slot, r.plan.slots())
	for i := range r.slots {
		r.slots[i] = &slot{id: i, dial: d, wake: make(chan struct{}, 1)}
	}
	return r, nil
}

// public is the plan without secrets and callbacks.
func (r *runner) public() Plan {
	p := r.plan
	p.APIKey, p.TLS, p.Progress = "", nil, nil
	return p
}

// measure runs the measured phase between two readings of everything that is audited.
func (r *runner) measure(ctx context.Context, ph *phase, res *Result) error {
	runtime.GC()
	r.begin()
	before := takeProbe()
	res.Started, res.Start = time.Now().Add(startLead), Now()+int64(startLead)
	d, err := r.dispatcher(res.Start)
	if err != nil {
		return err
	}
	r.perform(ctx, ph, d)
	res.Requests = ph.requests
	res.End = res.Start
	for i := range res.Requests {
		res.End = max(res.End, res.Requests[i].End)
	}
	r.report()
	r.audit(res, before, takeProbe())
	return nil
}

// begin forgets what was counted before the measured phase.
func (r *runner) begin() {
	r.measuring = true
	r.done.Store(0)
	r.failed.Store(0)
	r.wall.steps.Store(0)
	r.probe = lags{}
	for _, s := range r.slots {
		if s.lag != nil {
			*s.lag = lags{}
		}
		s.stats.redialled = 0
		if s.conn != nil {
			s.conn.begin.retransmits = readTCPInfo(s.conn.tcp).retransmits
		}
		s.stats.retransmits = 0
	}
}

// dispatcher chooses the loop of the measured phase.
func (r *runner) dispatcher(start int64) (dispatcher, error) {
	p := &r.plan
	if !p.open() {
		return &closedLoop{slots: r.slots, start: start, stagger: int64(p.Stagger), n: int64(p.NumPrompts)}, nil
	}
	at := make([]int64, p.NumPrompts)
	for i, t := range arrivals(p) {
		at[i] = start + int64(t*1e9)
	}
	return newOpenLoop(at, r.slots)
}

// perform lets every slot work until the dispatcher has nothing left.
func (r *runner) perform(ctx context.Context, ph *phase, d dispatcher) {
	defer d.close()
	stop := make(chan struct{})
	var slots, watchers sync.WaitGroup
	watchers.Go(func() { r.watch(ctx, stop) })
	if r.clock() == UserClock {
		watchers.Go(func() { probeTimer(ctx, stop, &r.probe) })
	}
	d.begin(func(s *slot) { slots.Go(func() { r.work(ctx, s, ph, d) }) })
	slots.Wait()
	close(stop)
	watchers.Wait()
	for i := range ph.requests {
		if q := &ph.requests[i]; q.End == 0 {
			q.Failure, q.Detail = NotSent, "dispatching had stopped"
			if ctx.Err() != nil {
				q.Failure, q.Detail = Canceled, "not sent yet"
			}
		}
	}
}

// work is the life of one slot in a phase.
func (r *runner) work(ctx context.Context, s *slot, ph *phase, d dispatcher) {
	for turn := 0; ; turn++ {
		i, intended, ok := d.next(ctx, s, turn)
		if !ok || ctx.Err() != nil {
			return
		}
		s.ready(r.plan.Endpoint == ChatCompletions)
		q := &ph.requests[i]
		q.Slot, q.Intended, q.FirstWave = s.id, intended, turn == 0 && !r.plan.open()
		r.inFlight.Add(1)
		s.perform(ctx, &ph.orders[i], q, r.plan.Tolerate, func() { d.sent(s) })
		r.inFlight.Add(-1)
		r.done.Add(1)
		if !q.OK() {
			if failed := int(r.failed.Add(1)); r.plan.MaxFailures > 0 && failed >= r.plan.MaxFailures {
				d.halt()
			}
		}
	}
}

// close ends all connections.
func (r *runner) close() {
	for _, s := range r.slots {
		s.drop()
	}
}
