//go:build !linux

package engine

import (
	"syscall"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// tree knows only the process group here: there is no /proc to find strays in.
type tree struct {
	token  string
	leader workroot.Process
}

// members tells whether the group has anyone left, under its leader's number.
func (t tree) members() []workroot.Stat {
	if t.leader.PID == 0 || syscall.Kill(-t.leader.PID, 0) != nil {
		return nil
	}
	return []workroot.Stat{{PID: t.leader.PID, Group: t.leader.PID, State: 'R'}}
}

func (t tree) signal(members []workroot.Stat, sig syscall.Signal) {
	if len(members) > 0 {
		_ = syscall.Kill(-t.leader.PID, sig) // what has gone meanwhile needs no signal
	}
}
