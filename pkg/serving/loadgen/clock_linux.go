package loadgen

import "golang.org/x/sys/unix"

// systemMonotonic reads CLOCK_MONOTONIC, the clock a server on this host logs.
func systemMonotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
