package ghapi

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// defaultStall is the longest silence of a server in the middle of an answer, or before one.
const defaultStall = time.Minute

// errStalled ends the reading of an answer that has stopped coming.
var errStalled = errors.New("the server has stopped sending")

// attentive is an answer's body that does not wait for ever.
type attentive struct {
	from    io.ReadCloser
	stall   time.Duration
	timer   *time.Timer
	stalled atomic.Bool
}

func newAttentive(from io.ReadCloser, stall time.Duration) *attentive {
	a := &attentive{from: from, stall: stall}
	a.timer = time.AfterFunc(stall, func() {
		a.stalled.Store(true)
		from.Close()
	})
	return a
}

func (a *attentive) Read(p []byte) (int, error) {
	n, err := a.from.Read(p)
	if err != nil && err != io.EOF && a.stalled.Load() {
		return n, errStalled
	}
	a.timer.Reset(a.stall)
	return n, err
}

func (a *attentive) Close() error {
	a.timer.Stop()
	return a.from.Close()
}
