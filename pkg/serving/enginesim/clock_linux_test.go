package enginesim

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMonotonicIsTheSystemsClock holds the clock of the log to the system's
// own, now and after a while: they may not drift apart.
func TestMonotonicIsTheSystemsClock(t *testing.T) {
	const slack = int64(20 * time.Microsecond) // of the one reading it is anchored by
	for range 20 {
		before := readClock(unix.CLOCK_MONOTONIC)
		now := monotonic()
		after := readClock(unix.CLOCK_MONOTONIC)
		if now < before-slack || now > after+slack {
			t.Fatalf("got %d, the system says %d to %d", now, before, after)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
