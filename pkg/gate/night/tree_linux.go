package night

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is a process that cannot be taken for a later one of the same number.
type process struct {
	pid     int
	start   uint64 // clock ticks since boot
	session int
}

// tree knows the processes of one run: those of the leader's session, those that carry its marker in
// their environment, the children of either, and orphans that came to us. An orphan that has cleared its
// environment and left the session cannot be known again once init has it, so this process takes init's
// place for all that it starts.
type tree struct {
	leader process
	marker []byte
	known  map[int]uint64 // pid to start, of every member seen so far
}

func newTree(leader int, token string) *tree {
	t := &tree{leader: process{pid: leader, session: leader}, marker: []byte(Marker + "=" + token), known: map[int]uint64{}}
	if s, ok := readStat(leader); ok {
		t.leader.start = s.start
	}
	return t
}

// adoptOrphans has the orphans of what is started from now on come to us. Where the kernel refuses, they
// are not found, as on other systems.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// ownSession starts the command in a session of its own, and has it asked to end should this process be
// killed: nobody would be left to hold it to its time limit.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// members are the living processes of the run, zombies left out: they are their parent's to reap.
func (t *tree) members() []process {
	all := map[int]stat{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			s, ok := readStat(pid)
			switch {
			case !ok || s.start < t.leader.start:
			case s.state != 'Z' && s.state != 'X':
				all[pid] = s
			case s.parent == os.Getpid() && pid != t.leader.pid && t.known[pid] == s.start:
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // an orphan is ours to reap
			}
		}
	}
	var members []process
	found := map[int]bool{}
	add := func(pid int, s stat) {
		found[pid] = true
		t.known[pid] = s.start
		members = append(members, process{pid, s.start, s.session})
	}
	for pid, s := range all {
		if start, ok := t.known[pid]; ok && start == s.start || s.session == t.leader.pid || t.marked(pid) || orphan(pid, s) {
			add(pid, s)
		}
	}
	// A child that cleared its environment and left the session is still a child.
	for grown := true; grown; {
		grown = false
		for pid, s := range all {
			if !found[pid] && found[s.parent] {
				add(pid, s)
				grown = true
			}
		}
	}
	return members
}

// orphan reports whether a process came to us when its parent ended: a child of ours that we did not
// start. What comes from an entry is never in our session, in which our other children stay; an entry's
// command itself carries a marker, and until it does is still our own program.
func orphan(pid int, s stat) bool {
	if us, ok := readStat(os.Getpid()); s.parent != os.Getpid() || ok && s.session == us.session {
		return false
	}
	proc := "/proc/" + strconv.Itoa(pid)
	own, _ := os.Readlink("/proc/self/exe")
	if exe, err := os.Readlink(proc + "/exe"); err != nil || exe == own {
		return false
	}
	environ, _ := os.ReadFile(proc + "/environ")
	return !bytes.HasPrefix(environ, []byte(Marker+"=")) && !bytes.Contains(environ, []byte("\x00"+Marker+"="))
}

func (t *tree) marked(pid int) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(environ, t.marker) {
		return false
	}
	return slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return bytes.Equal(v, t.marker) })
}

// firstToAsk are the members of the leader's session, or all when none is left of it.
func (t *tree) firstToAsk(members []process) []process {
	var own []process
	for _, p := range members {
		if p.session == t.leader.pid {
			own = append(own, p)
		}
	}
	if len(own) > 0 {
		return own
	}
	return members
}

func (t *tree) signal(p process, sig syscall.Signal) {
	if s, ok := readStat(p.pid); ok && s.start == p.start {
		_ = syscall.Kill(p.pid, sig) // what has gone meanwhile needs no signal
	}
}

type stat struct {
	state   byte
	parent  int
	session int
	start   uint64
}

// readStat reads /proc/PID/stat. The name in it may hold blanks and brackets, so fields count from the
// last bracket.
func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{state: fields[0][0]}
	s.parent, _ = strconv.Atoi(fields[1])
	s.session, _ = strconv.Atoi(fields[3])
	s.start, _ = strconv.ParseUint(fields[19], 10, 64)
	return s, true
}
