//go:build !linux

package enginesim

import "time"

// alarm wakes one goroutine at a monotonic time, as precisely as the
// runtime's timers do.
type alarm struct {
	timer  *time.Timer
	closed chan struct{}
}

func newAlarm() (*alarm, error) {
	return &alarm{timer: time.NewTimer(time.Hour), closed: make(chan struct{})}, nil
}

func (a *alarm) set(at int64) { a.timer.Reset(max(0, time.Duration(at-monotonic()))) }

func (a *alarm) wait() bool {
	select {
	case <-a.timer.C:
		return true
	case <-a.closed:
		return false
	}
}

func (a *alarm) close() { close(a.closed) }
