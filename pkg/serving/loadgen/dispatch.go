package loadgen

import (
	"context"
	"sync"
	"sync/atomic"
)

// dispatcher hands requests to slots.
type dispatcher interface {
	// begin starts the slots that are to work from the beginning.
	begin(start func(*slot))
	// next blocks until s should send its next request and returns its index and intended start; false when there
	// is none left, or ctx ended.
	next(ctx context.Context, s *slot, turn int) (index int, intended int64, ok bool)
	// sent is told that a slot's request is on its way, maybe more than once.
	sent(s *slot)
	// halt lets no further request out.
	halt()
	// close is called when every slot is done.
	close()
}

// closedLoop gives every slot its next request as soon as it is free.
type closedLoop struct {
	slots   []*slot
	start   int64
	stagger int64
	n       int64
	given   atomic.Int64
}

func (d *closedLoop) begin(start func(*slot)) {
	for _, s := range d.slots[:min(len(d.slots), int(d.n))] {
		start(s)
	}
}

func (d *closedLoop) next(ctx context.Context, s *slot, turn int) (int, int64, bool) {
	intended := Now()
	if turn == 0 {
		intended = d.start + int64(s.id)*d.stagger
		if !sleepUntil(ctx, intended) {
			return 0, 0, false
		}
	}
	i := d.given.Add(1) - 1
	return int(i), intended, i < d.n
}

func (d *closedLoop) sent(*slot) {}
func (d *closedLoop) halt()      { d.given.Store(d.n) }
func (d *closedLoop) close()     {}

// openLoop sends requests at their arrival times. One free slot at a time, the leader, waits for the next arrival;
// having written its request it passes the lead to the slot that became free last, whose connection is the warmest.
// When all are busy the next to become free leads, late, and the lateness is on record.
type openLoop struct {
	arrivals []int64
	alarm    *alarm
	start    func(*slot)

	mu     sync.Mutex
	given  int
	leader *slot
	idle   []*slot
	fresh  []*slot // not started yet: most of them never are
}

func newOpenLoop(arrivals []int64, slots []*slot) (*openLoop, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	return &openLoop{arrivals: arrivals, alarm: a, fresh: slots}, nil
}

// begin starts one slot; each starts the next when nobody is idle.
func (d *openLoop) begin(start func(*slot)) {
	d.start = start
	d.pass()
}

func (d *openLoop) next(ctx context.Context, s *slot, turn int) (int, int64, bool) {
	if !d.lead(ctx, s, turn) {
		return 0, 0, false
	}
	d.mu.Lock()
	i := d.given
	d.given++
	d.mu.Unlock()
	if i >= len(d.arrivals) || d.alarm.wait(ctx, d.arrivals[i]) != nil {
		d.halt()
		d.sent(s)
		return 0, 0, false
	}
	return i, d.arrivals[i], true
}

// lead waits until s is the leader. A slot is started as the leader.
func (d *openLoop) lead(ctx context.Context, s *slot, turn int) bool {
	if turn == 0 {
		return true
	}
	d.mu.Lock()
	if d.leader == nil {
		d.leader = s
		d.mu.Unlock()
		return true
	}
	d.idle = append(d.idle, s)
	d.mu.Unlock()
	select {
	case <-s.wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// sent passes the lead on.
func (d *openLoop) sent(s *slot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leader == s {
		d.leader = nil
		d.pass()
	}
}

// pass makes the slot that became free last the leader, or starts one if there is anything left to send. Slots are
// started in the order in which they were dialled.
func (d *openLoop) pass() {
	if k := len(d.idle) - 1; k >= 0 {
		d.leader, d.idle = d.idle[k], d.idle[:k]
		d.leader.wake <- struct{}{}
	} else if len(d.fresh) > 0 && d.given < len(d.arrivals) {
		d.leader, d.fresh = d.fresh[0], d.fresh[1:]
		d.start(d.leader)
	}
}

func (d *openLoop) halt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given = len(d.arrivals)
}

func (d *openLoop) close() { d.alarm.close() }
