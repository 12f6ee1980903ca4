package loadgen

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes one waiter at a time of the monotonic clock. Go's own timers are rounded up to a millisecond when the
// process is idle; a timerfd is exact to some microseconds and waits in the same poller.
type alarm struct {
	f *os.File
	// fd is kept because File.Fd would take the file out of the poller.
	fd int
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{os.NewFile(uintptr(fd), "timer"), fd}, nil
}

func (a *alarm) close() { a.f.Close() }

// wait returns at the given time, or earlier with ctx's error.
func (a *alarm) wait(ctx context.Context, at int64) error {
	if at <= Now() || ctx.Err() != nil {
		return ctx.Err()
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	stop := context.AfterFunc(ctx, func() { a.f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var expirations [8]byte
	if _, err := a.f.Read(expirations[:]); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}
