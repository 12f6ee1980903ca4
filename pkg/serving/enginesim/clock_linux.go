package enginesim

import (
	"time"

	"golang.org/x/sys/unix"
)

// The runtime's monotonic reading is CLOCK_MONOTONIC without its value. It is
// read in user space, for a fiftieth of what the system call costs on a
// virtual machine, so the value is asked for once, and the runtime's reading
// tells the time since.
var anchor, anchorNS = readAnchor()

func readAnchor() (time.Time, int64) {
	var at time.Time
	var width, ns int64
	for i := range 16 {
		before := readClock(unix.CLOCK_MONOTONIC)
		now := time.Now()
		after := readClock(unix.CLOCK_MONOTONIC)
		if w := after - before; i == 0 || w < width {
			at, width, ns = now, w, before+w/2
		}
	}
	return at, ns
}

// monotonic is CLOCK_MONOTONIC in nanoseconds: the one clock of schedule and
// log, the same in every process of the machine.
func monotonic() int64 { return anchorNS + int64(time.Since(anchor)) }

// wallOffset is CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds, from the
// tightest of a few bracketed readings.
func wallOffset() int64 {
	var best, offset int64
	for i := range 16 {
		before := readClock(unix.CLOCK_MONOTONIC)
		wall := readClock(unix.CLOCK_REALTIME)
		after := readClock(unix.CLOCK_MONOTONIC)
		if width := after - before; i == 0 || width < best {
			best, offset = width, wall-(before+width/2)
		}
	}
	return offset
}

func readClock(id int32) int64 {
	var ts unix.Timespec
	// The two clocks above always exist, so there is no error to handle.
	_ = unix.ClockGettime(id, &ts)
	return ts.Nano()
}
