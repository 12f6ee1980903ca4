package enginesim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// engine is engine-sim as a process, in a process group of its own.
type engine struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr lockedBuffer
	url    string
}

// spawn starts engine-sim serve m with free ports and the arguments given.
func spawn(t *testing.T, args ...string) *engine {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t}
	e.cmd = exec.Command(self, append([]string{"serve", "m", "--port", "0", "--control-port", "0"}, args...)...)
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	e.cmd.WaitDelay = time.Second // an orphan keeps stderr open
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL)
		e.cmd.Wait()
	})
	return e
}

func (e *engine) said() string {
	e.stderr.mu.Lock()
	defer e.stderr.mu.Unlock()
	return e.stderr.b.String()
}

var readyLine = regexp.MustCompile(`gateway ready, serving m on (\S+)`)

// await waits for the ready line.
func (e *engine) await() {
	e.t.Helper()
	eventually(e.t, "the engine is ready", func() bool {
		m := readyLine.FindStringSubmatch(e.said())
		if m != nil {
			e.url = "http://" + m[1]
		}
		return m != nil
	})
}

// exit waits for the end and gives the exit status.
func (e *engine) exit() int {
	e.t.Helper()
	watchdog := time.AfterFunc(20*time.Second, func() { e.cmd.Process.Kill() })
	defer watchdog.Stop()
	e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}

func (e *engine) stream() (string, error) {
	resp, err := http.Post(e.url+completionsPath, jsonType, strings.NewReader(streamBody))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestServeAndDrain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sent.jsonl")
	e := spawn(t, "--send-log", path, "--drain-timeout", "10", "--gateway-startup-timeout=30", "--ttft", "300ms")
	e.await()
	done := make(chan error, 1)
	go func() {
		body, err := e.stream()
		if err == nil && !strings.HasSuffix(body, "data: [DONE]\n\n") {
			err = fmt.Errorf("the stream was cut: %q", body)
		}
		done <- err
	}()
	eventually(t, "the request is in flight", func() bool { return e.info()["num_reqs"] == 1.0 })
	e.cmd.Process.Signal(syscall.SIGTERM)
	if got := e.exit(); got != step.OK {
		t.Errorf("got exit status %d, want 0\n%s", got, e.said())
	}
	if err := <-done; err != nil {
		t.Errorf("a request in flight at SIGTERM: %v", err)
	}
	var doc struct {
		OK       bool
		Requests int
	}
	if err := json.Unmarshal(e.stdout.Bytes(), &doc); err != nil || !doc.OK || doc.Requests != 1 {
		t.Errorf("got %s, %v, want the one document with one request", e.stdout.Bytes(), err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := ReadSendLog(f)
	if err != nil || len(log.Records) != 1 || log.Summary == nil || log.Summary.PeakInFlight != 1 || log.Header.PID != e.cmd.Process.Pid {
		t.Errorf("got log %+v, %v, want one record and a summary", log, err)
	}
}

// info is what /get_server_info says, nil when no port of the engine answers it.
func (e *engine) info() map[string]any {
	for _, port := range listeningPorts(e.cmd.Process.Pid) {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/get_server_info", port))
		if err != nil {
			continue
		}
		defer resp.Body.Close()
		var v map[string]any
		if resp.StatusCode == 200 && json.NewDecoder(resp.Body).Decode(&v) == nil {
			return v
		}
	}
	return nil
}

// listeningPorts are the TCP ports on which a process listens, by /proc.
func listeningPorts(pid int) []int {
	inodes := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes[strings.Trim(to, "socket:[]")] = true
		}
	}
	table, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	var ports []int
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != "0A" || !inodes[f[9]] {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil {
			ports = append(ports, int(n))
		}
	}
	return ports
}

// processFaultTests shows the faults of the whole process.
var processFaultTests = map[string]func(t *testing.T){
	"backlog": func(t *testing.T) {
		s := launch(t, quick(), "backlog=1", "accept-pause=1500ms@2..")
		s.ask(completionsPath, streamBody)
		// One connection waits to be accepted and two fill the queue of one
		// (the kernel takes one more than it is told); the next must try again.
		began := time.Now()
		for range 4 {
			c, err := net.DialTimeout("tcp", s.Addr(), 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if took := time.Since(began); took < 500*time.Millisecond {
			t.Errorf("4 connections took %s, want a SYN sent again after a second", took)
		}
	},
	"die-at-start": func(t *testing.T) {
		e := spawn(t, "--startup", "20ms", "--fault", "die-at-start=7")
		if got := e.exit(); got != 7 || !strings.Contains(e.said(), "died while loading") {
			t.Errorf("got exit status %d, want 7 and a line that says why\n%s", got, e.said())
		}
	},
	"die-after": func(t *testing.T) {
		e := spawn(t, "--fault", "die-after=2", "--itl", "1s")
		e.await()
		first := make(chan error, 1)
		go func() { _, err := e.stream(); first <- err }()
		e.stream()
		if err := <-first; err == nil {
			t.Errorf("the first stream ended well, want it cut by the death")
		}
		if got := e.exit(); got != exitMidRun {
			t.Errorf("got exit status %d, want %d", got, exitMidRun)
		}
	},
	"never-ready": func(t *testing.T) {
		s := launch(t, quick(), "never-ready")
		if a := parseAnswer(t, s.raw("GET /readiness HTTP/1.1\r\nConnection: close\r\n\r\n")); a.status != 503 {
			t.Errorf("readiness: got %d, want 503", a.status)
		}
		if got := statusOf(t, s.ControlURL()+"/health"); got != 503 {
			t.Errorf("health: got %d, want 503", got)
		}
		if a := s.ask(completionsPath, streamBody); a.status != 503 {
			t.Errorf("completions: got %d, want 503", a.status)
		}
	},
	"no-control": func(t *testing.T) {
		e := spawn(t, "--fault", "no-control")
		e.await()
		if body, err := e.stream(); err != nil || !strings.Contains(body, "[DONE]") {
			t.Errorf("got %q, %v, want a stream all the same", body, err)
		}
		if got := len(listeningPorts(e.cmd.Process.Pid)); got != 1 || !strings.Contains(e.said(), "warning: control server could not bind") {
			t.Errorf("got %d listening ports, want the gateway's alone and a warning\n%s", got, e.said())
		}
	},
	"ignore-term": func(t *testing.T) {
		e := spawn(t, "--fault", "ignore-term")
		e.await()
		e.cmd.Process.Signal(syscall.SIGTERM)
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			if body, err := e.stream(); err != nil || !strings.Contains(body, "[DONE]") {
				t.Fatalf("after SIGTERM: got %q, %v, want it to go on", body, err)
			}
		}
		e.cmd.Process.Kill()
		if got := e.exit(); got != -1 {
			t.Errorf("got exit status %d, want death by SIGKILL", got)
		}
	},
	"orphan": func(t *testing.T) {
		e := spawn(t, "--fault", "orphan=30s")
		e.await()
		var m []string
		eventually(t, "a worker is started", func() bool {
			m = regexp.MustCompile(`started worker (\d+)`).FindStringSubmatch(e.said())
			return m != nil
		})
		child, _ := strconv.Atoi(m[1])
		eventually(t, "the orphan is up", func() bool { return strings.Contains(e.said(), "loading model orphan") })
		syscall.Kill(-e.cmd.Process.Pid, syscall.SIGTERM)
		if got := e.exit(); got != 0 {
			t.Errorf("got exit status %d, want 0: the parent drains", got)
		}
		if err := syscall.Kill(child, 0); err != nil {
			t.Fatalf("the orphan is gone: %v", err)
		}
		if err := syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Errorf("killing the group: %v, want the orphan in it", err)
		}
		eventually(t, "the orphan is gone", func() bool { return !alive(child) })
	},
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestProcessFaults(t *testing.T) {
	for _, k := range faultList {
		if k.scope != ofProcess {
			continue
		}
		test := processFaultTests[k.name]
		if test == nil {
			t.Errorf("fault %s has no test", k.name)
			continue
		}
		t.Run(k.name, test)
	}
}

func TestGatewayBudget(t *testing.T) {
	e := spawn(t, "--startup", "1h", "--gateway-startup-timeout", "50ms")
	if got := e.exit(); got != step.Negative || !strings.Contains(e.said(), "gRPC not reachable (tried") {
		t.Errorf("got exit status %d, want 1 and the gateway's complaint\n%s", got, e.said())
	}
}

func TestControlPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := launchConfig(t, Config{Model: "m", Profile: quick(), ControlPort: taken.Addr().(*net.TCPAddr).Port})
	if s.ControlURL() != "" {
		t.Errorf("got control URL %s, want none", s.ControlURL())
	}
	if a := s.ask(completionsPath, streamBody); a.status != 200 {
		t.Errorf("got %d, want it to go on", a.status)
	}
}

// run runs the door in this process.
func run(t *testing.T, env map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if args[0] != "--self-test" {
		cancel() // a server that does start drains at once
	}
	var out, errs bytes.Buffer
	status = Run(ctx, step.Proc{Args: args, Getenv: func(k string) string { return env[k] }, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errs, Dir: t.TempDir(), Now: time.Now})
	return status, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	ok := []string{"serve", "m", "--port", "0", "--control-port", "0"}
	tests := []struct {
		name   string
		env    map[string]string
		args   []string
		status int
		want   string
	}{
		{"good", nil, ok, 0, `"ok":true`},
		{"flags before positionals", nil, []string{"--port=0", "--control-port=0", "serve", "m"}, 0, `"ok":true`},
		{"fault by variable", map[string]string{"INPUT_FAULT": "stall@p=0.5\nno-done"}, ok, 0, `"ok":true`},
		{"self-test", nil, []string{"--self-test"}, 0, `{"ok":true,"self_test":"engine-sim"}`},
		{"version", nil, []string{"--version"}, 0, "engine-sim "},
		{"no model", nil, []string{"serve"}, 2, "--model"},
		{"no command", nil, []string{"bench", "m"}, 2, "serve"},
		{"unknown flag", nil, append(ok, "--kvstore-size", "128"), 2, "unknown flag"},
		{"same ports", nil, []string{"serve", "m", "--port", "9", "--control-port", "9"}, 2, "--control-port"},
		{"bad port", nil, []string{"serve", "m", "--port", "70000"}, 2, "is no port"},
		{"unknown profile", nil, append(ok, "--profile", "smok"), 2, "use default, smoke"},
		{"no unit", nil, append(ok, "--ttft", "45"), 2, "--ttft"},
		{"out of range", nil, append(ok, "--tokens-per-event", "0"), 2, "1 to 1024"},
		{"bad fault", nil, append(ok, "--fault", "stal"), 2, `there is no fault \"stal\"`},
		{"bad fault by variable", map[string]string{"INPUT_FAULT": "no-done=3"}, ok, 2, "takes no value"},
		{"send log in no folder", nil, append(ok, "--send-log", "no/such/file"), 3, "--send-log"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := run(t, tt.env, tt.args...)
			if status != tt.status || !strings.Contains(stdout, tt.want) {
				t.Errorf("got status %d, stdout %s, stderr %s, want %d with %q", status, stdout, stderr, tt.status, tt.want)
			}
		})
	}
}

func TestManualNamesEverything(t *testing.T) {
	_, manual, _ := run(t, nil, "serve", "--help")
	p := DefaultProfile()
	for _, s := range p.settings() {
		if !strings.Contains(manual, "--"+s.name) {
			t.Errorf("the manual does not name --%s", s.name)
		}
	}
	for _, name := range FaultNames() {
		if !strings.Contains(manual, "\n  "+name) {
			t.Errorf("the manual does not name the fault %s", name)
		}
	}
}
