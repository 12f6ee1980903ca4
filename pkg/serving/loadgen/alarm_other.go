//go:build !linux

package loadgen

import (
	"context"
	"time"
)

// alarm wakes a waiter at a time of the monotonic clock, as exactly as Go's timers are.
type alarm struct{}

func newAlarm() (*alarm, error) { return &alarm{}, nil }

func (*alarm) close() {}

// wait returns at the given time, or earlier with ctx's error.
func (*alarm) wait(ctx context.Context, at int64) error {
	t := time.NewTimer(time.Duration(at - Now()))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
