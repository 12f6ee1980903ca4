//go:build !linux

package engine

import (
	"syscall"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// tree knows only the process group here: there is no /proc to find strays in.
type tree struct {
	token  string
	adopts bool
	leader workroot.Process
}

func adoptOrphans() {}

func (t tree) members() []workroot.Stat { return t.group() }

func (t tree) signal(members []workroot.Stat, sig syscall.Signal) {
	if len(members) > 0 {
		_ = syscall.Kill(-t.leader.PID, sig) // what has gone meanwhile needs no signal
	}
}
