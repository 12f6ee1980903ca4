package engine

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// killLimit is how long killed processes may take to disappear; one in an uninterruptible wait on a device can take longer.
const killLimit = 2 * time.Second

// CancelGrace is what a run that was cancelled leaves an engine between asking and killing: a job gives its steps 7.5 s
// in all, and the results are still to be written.
const CancelGrace = 4 * time.Second

// end asks every process of the run to end, kills what is left after grace, and gives an error that names what outlived
// even that. A cancelled ctx shortens the grace, also in the middle of it.
func (t tree) end(ctx context.Context, grace time.Duration) error {
	look := 20 * time.Millisecond // and less often as time goes on: a look reads all of /proc
	asked := map[workroot.Process]bool{}
	deadline, canceled := time.Now().Add(grace), false
	for time.Now().Before(deadline) {
		if !canceled && ctx.Err() != nil {
			canceled = true
			if short := time.Now().Add(CancelGrace); short.Before(deadline) {
				deadline = short
			}
		}
		members := t.members()
		if len(members) == 0 {
			return nil
		}
		t.ask(members, asked)
		time.Sleep(look)
		look = min(look*5/4, 250*time.Millisecond)
	}
	for deadline := time.Now().Add(killLimit); ; time.Sleep(20 * time.Millisecond) {
		members := t.members()
		if len(members) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes outlived SIGKILL: %s", len(members), pids(members))
		}
		t.signal(members, syscall.SIGKILL)
	}
}

// group tells whether the engine's process group has anyone left, under its leader's number: all that can be known where
// there is no /proc.
func (t tree) group() []workroot.Stat {
	if t.leader.PID == 0 || syscall.Kill(-t.leader.PID, 0) != nil {
		return nil
	}
	return []workroot.Stat{{PID: t.leader.PID, Group: t.leader.PID, State: 'R'}}
}

// ask sends SIGTERM once to each process: a second one makes some engines skip their orderly end.
func (t tree) ask(members []workroot.Stat, asked map[workroot.Process]bool) {
	var fresh []workroot.Stat
	for _, s := range members {
		if id := (workroot.Process{PID: s.PID, Start: s.Start}); !asked[id] {
			asked[id] = true
			fresh = append(fresh, s)
		}
	}
	t.signal(fresh, syscall.SIGTERM)
}

func pids(members []workroot.Stat) string {
	var b strings.Builder
	for i, s := range members {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d (state %c)", s.PID, s.State)
	}
	return b.String()
}
