package enginesim

import (
	"container/heap"
	"math"
	"sync"
	"time"
)

// job is a thing the pacer does at set times. Its fields belong to the pacer.
type job struct {
	// fire does what is due and returns when the next thing is, or never.
	fire func() (next int64)

	due     int64
	place   int // index in the heap, -1 outside it
	firing  bool
	hurried bool
}

// never is the due time of a job with nothing left to do.
const never = math.MaxInt64

const (
	// lead is how much too early the alarm is set, to be spent looking at the
	// clock: about what an idle core takes to wake up. More would take the
	// core from the goroutines that read requests.
	lead = int64(25 * time.Microsecond)
	// maxBusy is how long the pacer goes on before it parks, due or not: with
	// one core, only then does the runtime look at the sockets.
	maxBusy = int64(200 * time.Microsecond)
	// spinning is the alarm's setting while the pacer is awake: none is needed.
	spinning = math.MinInt64
)

// pacer runs jobs on an absolute schedule in one goroutine: a heap of due
// times and one alarm, so that a thousand streams cost no more wake-ups than
// they have distinct times.
type pacer struct {
	alarm *alarm
	done  chan struct{}

	mu    sync.Mutex
	queue jobHeap
	armed int64
}

func newPacer() (*pacer, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	p := &pacer{alarm: a, armed: never, done: make(chan struct{})}
	go p.run()
	return p, nil
}

func newJob(fire func() int64) *job { return &job{fire: fire, place: -1} }

// add schedules j, unless it has been hurried already.
func (p *pacer) add(j *job, due int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.place < 0 {
		p.insert(j, due)
	}
}

// hurry makes j fire as soon as may be, whether it was scheduled, is firing
// this instant, or waited for nothing.
func (p *pacer) hurry(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case j.firing:
		j.hurried = true
	case j.place >= 0:
		j.due = 0
		heap.Fix(&p.queue, j.place)
		p.arm()
	default:
		p.insert(j, 0)
	}
}

// close ends the pacer's goroutine. Jobs still queued never fire.
func (p *pacer) close() {
	p.alarm.close()
	<-p.done
}

func (p *pacer) insert(j *job, due int64) {
	j.due = due
	heap.Push(&p.queue, j)
	p.arm()
}

// arm sets the alarm when the head of the queue comes before its setting.
func (p *pacer) arm() {
	if len(p.queue) > 0 && p.queue[0].due < p.armed {
		p.armed = p.queue[0].due
		p.alarm.set(p.armed - lead)
	}
}

func (p *pacer) run() {
	defer close(p.done)
	for p.alarm.wait() {
		parked := monotonic()
		p.mu.Lock()
		p.armed = spinning
		for p.holdOn(parked) {
			p.fireHead()
		}
		p.armed = never
		p.arm()
		p.mu.Unlock()
	}
}

// holdOn waits for the head of the queue to become due if that is soon, and
// reports whether it has.
func (p *pacer) holdOn(parked int64) bool {
	for len(p.queue) > 0 {
		now := monotonic()
		due := p.queue[0].due
		if now-parked > maxBusy {
			return false
		}
		if due <= now {
			return true
		}
		if due-now > lead {
			return false
		}
		p.mu.Unlock()
		p.mu.Lock()
	}
	return false
}

// fireHead runs the first job with the lock released, and files it again.
func (p *pacer) fireHead() {
	j := heap.Pop(&p.queue).(*job)
	j.firing = true
	p.mu.Unlock()
	next := j.fire()
	p.mu.Lock()
	j.firing = false
	if j.hurried {
		j.hurried = false
		next = 0
	}
	if next != never {
		j.due = next
		heap.Push(&p.queue, j)
	}
}

// jobHeap orders jobs by due time.
type jobHeap []*job

func (h jobHeap) Len() int           { return len(h) }
func (h jobHeap) Less(i, k int) bool { return h[i].due < h[k].due }
func (h jobHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].place, h[k].place = i, k
}

// Push is for container/heap.
func (h *jobHeap) Push(x any) {
	j := x.(*job)
	j.place = len(*h)
	*h = append(*h, j)
}

// Pop is for container/heap.
func (h *jobHeap) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	j.place = -1
	return j
}
