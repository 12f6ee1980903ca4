//go:build !linux

package loadgen

import (
	"syscall"
	"time"
)

// processCPU is the CPU time of this process so far.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runDelay and hostCounters have no portable source.
func runDelay() time.Duration { return -1 }

func hostCounters() map[string]int64 { return nil }
