package loadgen

import (
	"sync/atomic"
	"time"
)

// origin ties Go's monotonic clock to the system's: time.Since(origin.at) + origin.mono is CLOCK_MONOTONIC where
// there is one, at the price of one read of the vDSO clock.
var origin = newOrigin()

type clockOrigin struct {
	at   time.Time
	mono int64
}

// Now is the monotonic clock that every stamp of this package uses, in nanoseconds.
func Now() int64 { return origin.mono + int64(time.Since(origin.at)) }

// newOrigin reads both clocks a few times and keeps the tightest pair.
func newOrigin() clockOrigin {
	var best clockOrigin
	narrowest := time.Duration(1 << 62)
	for range 16 {
		before := time.Now()
		mono := systemMonotonic()
		width := time.Since(before)
		if width < narrowest {
			narrowest = width
			best = clockOrigin{at: before.Add(width / 2), mono: mono}
		}
	}
	return best
}

// wallOffset converts kernel stamps, which are wall clock, to the monotonic clock. It is taken again now and then,
// because the wall clock is slewed and stepped.
type wallOffset struct {
	offset atomic.Int64
	steps  atomic.Int64
}

// stepLimit separates a step of the wall clock from slewing and from the noise of taking the offset.
const stepLimit = int64(100 * time.Microsecond)

// take measures wall - monotonic and counts a step when it moved too far since the last time.
func (w *wallOffset) take() {
	var offset int64
	narrowest := int64(1 << 62)
	for range 8 {
		before := Now()
		wall := time.Now().UnixNano()
		after := Now()
		if after-before < narrowest {
			narrowest = after - before
			offset = wall - (before + (after-before)/2)
		}
	}
	old := w.offset.Swap(offset)
	if moved := offset - old; old != 0 && (moved > stepLimit || moved < -stepLimit) {
		w.steps.Add(1)
	}
}

// mono converts a wall-clock stamp.
func (w *wallOffset) mono(wall int64) int64 { return wall - w.offset.Load() }
