package night

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// script runs a shell script as a child with little patience.
func script(t *testing.T, ctx context.Context, limit time.Duration, text string) (ending, string, string) {
	t.Helper()
	dir := t.TempDir()
	out := &lockedBuffer{}
	e := child{
		argv: []string{"/bin/sh", "-c", text}, dir: dir, env: append(os.Environ(), "OUT="+dir), out: out, limit: limit, token: rand.Text(),
		grace: patience{limit: 500 * time.Millisecond, cancel: 500 * time.Millisecond, stray: 500 * time.Millisecond},
	}.run(ctx)
	return e, out.String(), dir
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// gone fails where a process whose number a script noted still lives.
func gone(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatalf("the script noted no %s: %v", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("%s (process %d) outlived the entry", name, pid)
	}
}

const ignoresTerm = `trap "" TERM; while :; do sleep 0.2; done`

func TestChildEndsByItself(t *testing.T) {
	e, out, _ := script(t, t.Context(), time.Minute, "echo one; echo two >&2; exit 3")
	if e.exit != 3 || e.timedOut || e.cancelled || e.strays != 0 || out != "one\ntwo\n" {
		t.Errorf("got %+v and %q, want exit 3 and both lines", e, out)
	}
	e, _, _ = script(t, t.Context(), time.Minute, "kill -9 $$")
	if e.exit != -1 || e.String() != "signal 9" {
		t.Errorf("got %s (%d), want signal 9", e, e.exit)
	}
}

func TestChildTimesOutTogetherWithItsTree(t *testing.T) {
	for name, text := range map[string]string{
		"a well-behaved child":              "sleep 60 & echo $! > $OUT/pid; wait",
		"a child that ignores TERM":         "(" + ignoresTerm + ") & echo $! > $OUT/pid; sleep 60",
		"leader that exits, deaf child":     "(" + ignoresTerm + ") & echo $! > $OUT/pid; trap 'exit 0' TERM; while :; do sleep 0.1; done",
		"a leader that ignores TERM":        "echo $$ > $OUT/pid; " + ignoresTerm,
		"a child that left the session":     "setsid sh -c 'echo $$ > $OUT/pid; " + ignoresTerm + "' & sleep 60",
		"an orphan in a session of its own": "sh -c 'setsid sh -c \"echo \\$\\$ > $OUT/pid; sleep 60\" &' & sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _, dir := script(t, t.Context(), time.Second, text)
			if !e.timedOut || e.outlived != 0 {
				t.Errorf("got %+v, want timed out and nothing left", e)
			}
			gone(t, dir, "pid")
		})
	}
}

func TestChildIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	e, _, dir := script(t, ctx, time.Minute, "echo $$ > $OUT/pid; "+ignoresTerm)
	if !e.cancelled || e.timedOut {
		t.Errorf("got %+v, want cancelled", e)
	}
	gone(t, dir, "pid")
}

func TestStraysAreEnded(t *testing.T) {
	e, _, dir := script(t, t.Context(), time.Minute, "setsid sleep 60 & echo $! > $OUT/pid; sleep 60 & echo $! > $OUT/other; exit 0")
	if e.exit != 0 || e.strays < 2 || e.outlived != 0 {
		t.Errorf("got %+v, want exit 0, two strays, none left", e)
	}
	gone(t, dir, "pid")
	gone(t, dir, "other")
}

// A daemon that clears its environment, leaves the session and outlives its parents is known by nothing
// that it carries.
func TestDaemonsAreEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("orphans are adopted on Linux only")
	}
	daemon := `env -i OUT=$OUT setsid sh -c 'sh -c "echo \$\$ > $OUT/pid; exec sleep 60" & exit 0'; while [ ! -s $OUT/pid ]; do sleep 0.05; done; `
	for name, text := range map[string]string{"at the end": daemon + "exit 0", "at the limit": daemon + "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			other := exec.Command("sleep", "60")
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = other.Process.Kill()
				_ = other.Wait()
			}()
			e, _, dir := script(t, t.Context(), 3*time.Second, text)
			if !alive(other.Process.Pid) {
				t.Errorf("a child that is not the entry's was ended with it")
			}
			if e.outlived != 0 || e.strays == 0 && !e.timedOut {
				t.Errorf("got %+v, want the daemon found and ended", e)
			}
			gone(t, dir, "pid")
		})
	}
}

func TestChildThatCannotStart(t *testing.T) {
	e := child{argv: []string{filepath.Join(t.TempDir(), "absent")}, out: &bytes.Buffer{}, limit: time.Minute, grace: usual}.run(t.Context())
	if e.err == nil {
		t.Errorf("got %+v, want an error", e)
	}
}
