package workroot

import (
	"os"
	"strings"
)

// Process names one process for good: its number alone is used again by the kernel, number and start time together
// within one boot are not.
type Process struct {
	// PID is the process number as seen in our own PID namespace.
	PID int `json:"pid"`

	// Start is the start time in clock ticks since boot (field 22 of /proc/PID/stat); 0 where the system does not tell.
	Start uint64 `json:"start_ticks"`
}

// Self is the running process.
func Self() Process { return Identify(os.Getpid()) }

// Identify looks up the process that has the number pid now; Start is 0 when there is none.
func Identify(pid int) Process {
	stat, err := ReadStat(pid)
	if err != nil {
		return Process{PID: pid}
	}
	return Process{PID: pid, Start: stat.Start}
}

// Alive tells whether this very process still runs; a later process with the same number does not count, and neither
// does a dead one that its parent has not collected.
func (p Process) Alive() bool {
	if p.PID <= 0 {
		return false
	}
	stat, err := ReadStat(p.PID)
	return err == nil && stat.Start == p.Start && !stat.Dead()
}

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	PID, Parent, Group, Session int

	// State is the kernel's letter: R, S, D, T, Z and so on.
	State byte

	// Start is the start time in clock ticks since boot.
	Start uint64
}

// Dead tells whether only the entry in the process table is left.
func (s Stat) Dead() bool { return s.State == 'Z' || s.State == 'X' }

// Boot names the running boot of this host; records of an earlier boot name processes that are gone. Empty where the
// system does not tell.
func Boot() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// Namespace names our PID namespace; process numbers of another one mean nothing here. Empty where the system does not tell.
func Namespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return link
}
