package engine

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// tree knows which processes belong to one run: those that carry its marker in their environment, those of the session
// that its first process leads, whatever these started, and orphans of these that came to us.
type tree struct {
	token  string
	adopts bool             // orphans come to us: we are the one that started the engine
	leader workroot.Process // zero until the engine has started
}

// members lists the run's living processes of our user. Process numbers are used again, so none is taken on its number
// alone: the marker is 80 random bits that only descendants inherit, and the session counts only while its leader is
// provably the engine or the number is provably not in use by another.
func (t tree) members() []workroot.Stat {
	all := processes()
	if all == nil {
		return t.group()
	}
	found := map[int]bool{}
	var out []workroot.Stat
	for _, s := range all {
		if t.owns(s, all) {
			found[s.PID] = true
			out = append(out, s)
		}
	}
	// The children of members are members, also when they cleared their environment and left the session.
	for grown := len(found) > 0; grown; {
		grown = false
		for _, s := range all {
			if !found[s.PID] && found[s.Parent] && s.PID != os.Getpid() {
				found[s.PID], grown = true, true
				out = append(out, s)
			}
		}
	}
	return out
}

func (t tree) owns(s workroot.Stat, all map[int]workroot.Stat) bool {
	if s.PID == os.Getpid() {
		return false
	}
	if t.leader.PID != 0 && s.PID == t.leader.PID {
		return s.Start == t.leader.Start
	}
	if s.Start < t.leader.Start {
		return false // older than the engine: no need to read its environment
	}
	environ := environOf(s.PID)
	if marked(environ, t.token) {
		return true
	}
	return t.inSession(s, all) && !foreign(environ) || t.adopts && orphan(s, environ)
}

// adoptOrphans has the orphans of what is started from now on come to us instead of init. A daemon that cleared its
// environment, left the session and outlived its parents is known by nothing else. Where the kernel refuses, it is not
// found, as on other systems.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func ownSession() int {
	self, err := workroot.ReadStat(os.Getpid())
	if err != nil {
		return 0
	}
	return self.Session
}

// orphan tells whether s is a child of ours that we did not start. An engine's descendants never come back into our
// session, in which our other children stay; an engine itself carries a marker, and until it does is still our own program.
func orphan(s workroot.Stat, environ []byte) bool {
	if s.Parent != os.Getpid() || s.Session == ownSession() || bytes.HasPrefix(environ, []byte(Marker+"=")) || bytes.Contains(environ, []byte("\x00"+Marker+"=")) {
		return false
	}
	own, _ := os.Readlink("/proc/self/exe")
	exe, err := os.Readlink("/proc/" + strconv.Itoa(s.PID) + "/exe")
	return err == nil && exe != own
}

// inSession tells whether s belongs to the session that the engine leads. While a session has members the kernel does
// not give its number to a new process, so a leader of another start time means that our session is over.
func (t tree) inSession(s workroot.Stat, all map[int]workroot.Stat) bool {
	if t.leader.PID == 0 || s.Session != t.leader.PID || s.Start < t.leader.Start {
		return false
	}
	leader, there := all[t.leader.PID]
	return !there || leader.Start == t.leader.Start
}

// processes reads the state of all living processes of our user; nil when /proc cannot be read.
func processes() map[int]workroot.Stat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]workroot.Stat, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := os.Stat("/proc/" + e.Name())
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || (int(owner.Uid) != os.Getuid() && os.Getuid() != 0) {
			continue
		}
		if s, err := workroot.ReadStat(pid); err == nil && !s.Dead() {
			all[pid] = s
		}
	}
	return all
}

func environOf(pid int) []byte {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return raw
}

func marked(environ []byte, token string) bool {
	entry := []byte(Marker + "=" + token)
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(v, entry) {
			return true
		}
	}
	return false
}

// foreign tells whether environ is an ordinary environment. Every process of a run inherits the marker, so one with an
// environment and without the marker is none of ours; a process that overwrote its environment to change its title
// has none to speak of.
func foreign(environ []byte) bool {
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.HasPrefix(v, []byte("PATH=")) || bytes.HasPrefix(v, []byte("HOME=")) {
			return true
		}
	}
	return false
}

// signal sends sig to each group that has members, and to members by themselves: one that left every group we know is
// still reached, and so is one that was started meanwhile in a known group.
func (t tree) signal(members []workroot.Stat, sig syscall.Signal) {
	groups := map[int]bool{}
	for _, s := range members {
		if s.Group == t.leader.PID && t.leader.PID != 0 && !groups[s.Group] {
			groups[s.Group] = true
			_ = syscall.Kill(-s.Group, sig) // what has gone meanwhile needs no signal
		}
	}
	for _, s := range members {
		if !groups[s.Group] {
			_ = syscall.Kill(s.PID, sig)
		}
	}
}
