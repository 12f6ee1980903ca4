package enginesim

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// alarm wakes one goroutine at a CLOCK_MONOTONIC time. The runtime's own
// timers end in an epoll_wait that counts milliseconds; a timer descriptor in
// the same poller keeps the kernel's high-resolution timer, and costs no
// thread of its own.
type alarm struct {
	file *os.File
	fd   int
	buf  [8]byte
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a timer: %w", err)
	}
	return &alarm{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd}, nil
}

// set arms the alarm for time at, in place of any earlier setting. A time that
// has passed fires at once.
func (a *alarm) set(at int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(at, 1))}
	// Only a closed descriptor can fail here, and then wait fails too.
	_ = unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

// wait blocks until the alarm fires; false means it has been closed.
func (a *alarm) wait() bool {
	_, err := a.file.Read(a.buf[:])
	return err == nil
}

func (a *alarm) close() { a.file.Close() }
