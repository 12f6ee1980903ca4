package cell

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// startEngine runs an engine that is not serve-cell's and gives its URL.
func startEngine(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "engine-sim"), append([]string{"serve", "sim", "--port", "0", "--control-port", "0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	at := regexp.MustCompile(`on (127\.0\.0\.1:\d+)`)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := at.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // keep the pipe empty
				}
			}()
			return "http://" + m[1]
		}
	}
	t.Fatal("the engine said no address")
	return ""
}

func engineGone(url string) bool {
	resp, err := http.Get(url + "/readiness")
	if err != nil {
		return true
	}
	resp.Body.Close()
	return false
}

// marked lists the processes that carry the mark of any run whose work root lies below dir: their working directory is
// the engine's log folder there, or their environment names a cache in it.
func marked(t *testing.T, dir string) []string {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("this system has no /proc to look for processes in")
	}
	var out []string
	for _, path := range environs {
		raw, err := os.ReadFile(path)
		if err == nil && bytes.Contains(raw, []byte(engine.Marker+"=")) && bytes.Contains(raw, []byte(dir+"/")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if len(line) > 0 { // a dead one that waits to be collected has none
				out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return out
}

// checkNothingLeft holds the bench to no process and no record.
func (b *bench) checkNothingLeft() {
	b.t.Helper()
	if left := marked(b.t, b.dir); len(left) > 0 {
		b.t.Errorf("processes are left: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(b.work, "u*/runs/*")); len(left) > 0 {
		b.t.Errorf("run records are left: %q", left)
	}
}

// until waits for a condition that another process brings about.
func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 30 s for: %s", what)
		}
	}
}

// moment is a point of a cell's life, told by what the engine's log and send log hold.
type moment struct {
	name    string
	args    []string
	reached func(b *bench) bool
}

// logHas tells whether the engine's log contains text.
func logHas(text string) func(*bench) bool {
	return func(b *bench) bool {
		paths, _ := filepath.Glob(filepath.Join(b.work, "u*/out/*.log"))
		for _, p := range paths {
			if raw, err := os.ReadFile(p); err == nil && strings.Contains(string(raw), text) {
				return true
			}
		}
		return false
	}
}

func recorded(b *bench) bool {
	paths, _ := filepath.Glob(filepath.Join(b.work, "u*/runs/*.json"))
	return len(paths) > 0
}

// moments cover start-up, readiness and load; the engine ignores SIGTERM and has a child that outlives it.
var moments = []moment{
	{"as soon as the record is written", []string{"--startup", "20s"}, recorded},
	{"during start-up", []string{"--startup", "20s"}, logHas("loading model")},
	{"when the gateway is ready", nil, logHas("gateway ready")},
	{"under load", []string{"--send-log", "@DIR@/sent"}, func(b *bench) bool {
		raw, err := os.ReadFile(filepath.Join(b.dir, "sent"))
		return err == nil && bytes.Count(raw, []byte("\n")) > 20
	}},
}

// stubborn is a bench whose engine ignores SIGTERM, has a child that does too, and is busy for a long time.
func stubborn(t *testing.T, m moment) *bench {
	args := append(sim("ignore-term", "orphan=60s"), m.args...)
	b := newBench(t, settings{"serve_args": args, "num_prompts": 4000}, "first", "second")
	return b
}

// kill -9 leaves an engine behind, and the next start, whether it reaps or runs, ends it with all its children.
func TestKillLeavesNoEngineBehindTheNextStart(t *testing.T) {
	for i, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := stubborn(t, m)
			cmd := b.command(context.Background())
			stdout, stderr := b.start(cmd)
			until(t, m.name, func() bool { return m.reached(b) })
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if r := b.finish(cmd, stdout, stderr); r.status != -int(syscall.SIGKILL) {
				t.Fatalf("got exit status %d, want death by SIGKILL", r.status)
			}
			if i%2 == 0 {
				if r := b.serve("--mode", "reap"); r.status != 0 {
					t.Errorf("reap: got exit status %d, want 0; stderr:\n%s", r.status, r.stderr)
				}
			} else {
				next := newBench(t, settings{"serve_args": sim()})
				next.work = b.work
				next.serve().checkPassed(t)
			}
			b.checkNothingLeft()
		})
	}
}

// SIGTERM and SIGINT end everything within seven seconds, and the results are written.
func TestSignalTearsDownInTime(t *testing.T) {
	for i, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := stubborn(t, m)
			cmd := b.command(context.Background())
			stdout, stderr := b.start(cmd)
			until(t, m.name, func() bool { return m.reached(b) })
			sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
			sent := time.Now()
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			r := b.finish(cmd, stdout, stderr)
			if took := time.Since(sent); took >= 7*time.Second {
				t.Errorf("the end took %s, want less than 7 s", took)
			}
			if r.status != 4 {
				t.Errorf("got exit status %d, want 4; stderr:\n%s", r.status, r.stderr)
			}
			b.checkNothingLeft()
			for _, name := range []string{"first", "second"} {
				if c := r.cell(t, name); c.Passed() || len(c.NoVerdict) == 0 {
					t.Errorf("cell %s: got passed %v, no_verdict %q, want no verdict", name, c.Passed(), c.NoVerdict)
				}
			}
		})
	}
}

// A reap leaves alone what has a living owner, and what is not ours.
func TestReapTouchesNothingElse(t *testing.T) {
	t.Parallel()
	url := startEngine(t)
	b := stubborn(t, moments[2])
	cmd := b.command(context.Background())
	stdout, stderr := b.start(cmd)
	until(t, "the engine to be ready", func() bool { return logHas("gateway ready")(b) })
	r := b.serve("--mode", "reap")
	if r.status != 0 || !strings.Contains(r.stderr, "left alone") {
		t.Errorf("got exit status %d, want 0 and the run left alone; stderr:\n%s", r.status, r.stderr)
	}
	if len(marked(t, b.dir)) == 0 {
		t.Error("the engine of a living owner was ended")
	}
	if engineGone(url) {
		t.Error("a foreign engine was ended")
	}
	other := b.serve()
	if other.status != 3 || !strings.Contains(other.stderr, "another run holds the work root") || !strings.Contains(other.stderr, "serve-cell") {
		t.Errorf("a second run: got exit status %d, want 3 with the holder named; stderr:\n%s", other.status, other.stderr)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.finish(cmd, stdout, stderr)
	b.checkNothingLeft()
}

// A record that names a process number which belongs to another process by now ends nothing.
func TestRecycledNumberIsNotOurs(t *testing.T) {
	t.Parallel()
	bystander := exec.Command("sleep", "60")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	})
	b := newBench(t, settings{"serve_args": sim()})
	root, err := workroot.Open(b.work)
	if err != nil {
		t.Fatal(err)
	}
	engineProcess := workroot.Identify(bystander.Process.Pid)
	engineProcess.Start--
	if err := root.Put(workroot.Record{Token: engine.NewToken(1), Driver: "process", Cell: "old", Engine: engineProcess,
		Owner: workroot.Process{PID: 1 << 22, Start: 1}, Boot: workroot.Boot(), Namespace: workroot.Namespace(), Deadline: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if r := b.serve("--mode", "reap"); r.status != 0 {
		t.Errorf("got exit status %d, want 0; stderr:\n%s", r.status, r.stderr)
	}
	if !workroot.Identify(bystander.Process.Pid).Alive() {
		t.Error("the bystander was ended")
	}
	b.checkNothingLeft()
}
