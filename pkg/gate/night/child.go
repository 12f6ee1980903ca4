package night

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Marker is the environment variable that every process of an entry inherits; its value is random for
// each run of an entry, so that also what left the process group is found.
const Marker = "GATEHOUSE_ENTRY"

// patience is how long processes are given between being asked to end and being ended.
type patience struct {
	limit  time.Duration // after the entry's time limit
	cancel time.Duration // when the job is cancelled
	stray  time.Duration // what a command that has ended by itself left behind
}

// usual is the reference's grace after a time limit, and what fits in the 7.5 s that a cancelled job
// leaves its steps.
var usual = patience{limit: 30 * time.Second, cancel: 5 * time.Second, stray: 2 * time.Second}

const (
	killWait = time.Second // for killed processes to disappear
	look     = 50 * time.Millisecond
)

// child is one run of an entry's command and of all that it starts.
type child struct {
	argv []string
	dir  string
	env  []string
	out  io.Writer
	// document takes standard output where that is no text for people; nil: it goes to out as well.
	document *os.File
	limit    time.Duration
	token    string
	grace    patience
}

// ending says how a command ended.
type ending struct {
	// err is why it could not be started.
	err error
	// exit is the exit status, -1 when a signal ended it.
	exit   int
	signal syscall.Signal
	// timedOut and cancelled say that it was made to end.
	timedOut, cancelled bool
	// strays counts processes that were still there when the command had ended by itself.
	strays int
	// outlived counts processes that even SIGKILL did not end in time.
	outlived int
	took     time.Duration
}

// String is the exit as the reference tells it.
func (e ending) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("signal %d", int(e.signal))
	}
	return fmt.Sprintf("exit %d", e.exit)
}

// run starts the command in a session of its own and returns when it and everything it started are
// gone: by themselves, after the time limit, or because ctx was cancelled.
func (c child) run(ctx context.Context) ending {
	start := time.Now()
	read, write, err := os.Pipe()
	if err != nil {
		return ending{err: err}
	}
	cmd := &exec.Cmd{Path: c.argv[0], Args: c.argv, Dir: c.dir, Env: append(slices.Clone(c.env), Marker+"="+c.token), Stdout: cmp.Or(c.document, write), Stderr: write}
	cmd.SysProcAttr = ownSession()
	adoptOrphans()
	if err := cmd.Start(); err != nil {
		read.Close()
		write.Close()
		return ending{err: err}
	}
	write.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(c.out, read)
	}()

	e := c.wait(ctx, cmd)
	e.took = time.Since(start)
	select {
	case <-copied:
	case <-time.After(killWait): // something outlived everything and holds the pipe
	}
	read.Close()
	<-copied
	return e
}

// wait watches over the running command.
func (c child) wait(ctx context.Context, cmd *exec.Cmd) ending {
	var e ending
	t := newTree(cmd.Process.Pid, c.token)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	limit := time.NewTimer(c.limit)
	defer limit.Stop()
	select {
	case err := <-done:
		e.status(err, cmd)
		e.strays = len(t.members())
		e.outlived = t.end(ctx, c.grace.stray, c.grace.cancel)
		return e
	case <-limit.C:
		e.timedOut = true
		e.outlived = t.end(ctx, c.grace.limit, c.grace.cancel)
	case <-ctx.Done():
		e.cancelled = true
		e.outlived = t.end(ctx, c.grace.cancel, c.grace.cancel)
	}
	select {
	case err := <-done:
		e.status(err, cmd)
	case <-time.After(killWait):
		e.exit = -1
	}
	return e
}

func (e *ending) status(err error, cmd *exec.Cmd) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.exit = -1
		return
	}
	e.exit = cmd.ProcessState.ExitCode()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		e.signal = s.Signal()
	}
}

// end asks every member to end, kills what is left after the grace, and returns how many outlived that.
// The leader's session is asked first: a command that tears down by itself does it in better order. A
// cancelled ctx shortens the grace.
func (t *tree) end(ctx context.Context, grace, cancelGrace time.Duration) int {
	asked := map[process]bool{}
	deadline := time.Now().Add(grace)
	cancelled := ctx.Done()
	for time.Now().Before(deadline) {
		members := t.members()
		if len(members) == 0 {
			return 0
		}
		for _, p := range t.firstToAsk(members) {
			if !asked[p] {
				asked[p] = true
				t.signal(p, syscall.SIGTERM)
			}
		}
		select {
		case <-cancelled:
			cancelled = nil
			if short := time.Now().Add(cancelGrace); short.Before(deadline) {
				deadline = short
			}
		case <-time.After(look):
		}
	}
	for deadline := time.Now().Add(killWait); ; time.Sleep(look) {
		members := t.members()
		if len(members) == 0 || time.Now().After(deadline) {
			return len(members)
		}
		for _, p := range members {
			t.signal(p, syscall.SIGKILL)
		}
	}
}
