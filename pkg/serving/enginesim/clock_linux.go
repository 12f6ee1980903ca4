package enginesim

import "golang.org/x/sys/unix"

// monotonic is CLOCK_MONOTONIC in nanoseconds: the one clock of schedule and
// log, the same in every process of the machine.
func monotonic() int64 { return readClock(unix.CLOCK_MONOTONIC) }

// wallOffset is CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds, from the
// tightest of a few bracketed readings.
func wallOffset() int64 {
	var best, offset int64
	for i := range 8 {
		before := monotonic()
		wall := readClock(unix.CLOCK_REALTIME)
		after := monotonic()
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
