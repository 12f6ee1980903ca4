package loadgen

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

// probe is a reading of everything that a step is audited by.
type probe struct {
	at       int64
	cpu      time.Duration // user and system time of this process
	runDelay time.Duration // time its threads waited for a core; -1 when the kernel does not say
	gcs      int64
	gcPause  time.Duration
	host     map[string]int64
}

func takeProbe() probe {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return probe{
		at: Now(), cpu: processCPU(), runDelay: runDelay(), gcs: gc.NumGC, gcPause: gc.PauseTotal, host: hostCounters(),
	}
}

// probePause is the period of the timer probe.
const probePause = 10 * time.Millisecond

// probeTimer measures how late this process wakes up, for want of kernel stamps to measure reads by.
func probeTimer(ctx context.Context, stop <-chan struct{}, into *lags) {
	a, err := newAlarm()
	if err != nil {
		return
	}
	defer a.close()
	for {
		at := Now() + int64(probePause)
		if a.wait(ctx, at) != nil {
			return
		}
		select {
		case <-stop:
			return
		default:
			into.add(Now() - at)
		}
	}
}

// cores is the number of cores this process may use.
func cores() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
