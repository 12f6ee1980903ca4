//go:build !linux

package night

import "syscall"

// process is the leader's process group.
type process struct{ pid int }

// tree is the leader's process group. Without /proc, what left the group is not found.
type tree struct{ leader process }

func newTree(leader int, _ string) *tree { return &tree{process{leader}} }

func adoptOrphans() {}

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (t *tree) members() []process {
	if syscall.Kill(-t.leader.pid, 0) == nil {
		return []process{t.leader}
	}
	return nil
}

func (t *tree) firstToAsk(members []process) []process { return members }

func (t *tree) signal(p process, sig syscall.Signal) {
	_ = syscall.Kill(-p.pid, sig) // what has gone meanwhile needs no signal
}
