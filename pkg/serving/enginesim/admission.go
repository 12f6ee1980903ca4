package enginesim

import (
	"slices"
	"sync"
)

// admission is the queue before the engine: at most limit requests run, the
// others wait in order of arrival.
type admission struct {
	limit int // 0 is no limit

	mu      sync.Mutex
	running int
	waiting []*stream
}

// enter takes a place for st and reports whether there was one; otherwise st
// waits, and a later leave hands it out.
func (a *admission) enter(st *stream) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limit == 0 || a.running < a.limit {
		a.running++
		return true
	}
	a.waiting = append(a.waiting, st)
	return false
}

// leave frees a place and gives the stream that takes it, nil when none waits.
func (a *admission) leave() *stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 {
		a.running--
		return nil
	}
	st := a.waiting[0]
	a.waiting[0] = nil
	a.waiting = a.waiting[1:]
	return st
}

// drop takes st out of the queue, if it waits there.
func (a *admission) drop(st *stream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.waiting, st); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
}

// load gives how many run and how many wait.
func (a *admission) load() (running, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, len(a.waiting)
}
