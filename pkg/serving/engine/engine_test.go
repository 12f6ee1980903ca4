package engine

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// role makes this test program play an engine, or one of its children, when it is set.
const role = "ENGINE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "engine":
		os.Exit(play(os.Args[1:]))
	case "parent of a stray": // a child in a session of its own, without our environment but for the marker
		start("sleeper", Marker+"="+os.Getenv(Marker))
	case "parent of a wiped child": // a child in our session that has no environment to know it by
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{role + "=sleeper"}
		_ = cmd.Start()
	}
	if os.Getenv(role) == "sleeper" {
		time.Sleep(time.Minute)
	}
}

func start(role_ string, env ...string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(env, role+"="+role_)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = cmd.Start()
}

// play serves the two ports of the command line. The file named by ENGINE_TEST_ONCE, when it is missing, makes it fail
// once like an engine whose port was taken.
func play(args []string) int {
	if once := os.Getenv("ENGINE_TEST_ONCE"); once != "" {
		if _, err := os.Stat(once); err != nil {
			_ = os.WriteFile(once, nil, 0o600)
			os.Stderr.WriteString("OSError: [Errno 98] address already in use\n")
			return 1
		}
	}
	for flag, path := range map[string]string{"--port": "/readiness", "--control-port": "/health"} {
		port := args[slices.Index(args, flag)+1]
		mux := http.NewServeMux()
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return 1
		}
		go http.Serve(l, mux)
	}
	os.Stdout.WriteString(strings.Join(args, " ") + "\n")
	select {}
}

// specFor is an engine of this test program in the given role.
func specFor(t *testing.T, as string) Spec {
	t.Helper()
	root, err := workroot.Open(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Token: NewToken(os.Getpid()), Cell: "test", Command: []string{os.Args[0]}, Model: "m", Root: root,
		Environ: append(os.Environ(), role+"="+as), ReadyTimeout: 20 * time.Second, GatewayTimeout: time.Minute, Grace: 10 * time.Second,
		Deadline: time.Now().Add(time.Hour), LogPath: filepath.Join(root.Out(), "log"),
	}
}

func TestLifeCycle(t *testing.T) {
	spec := specFor(t, "engine")
	driver, err := For("process")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Launch(t.Context(), driver, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := spec.Root.Records()
	if err != nil || len(records) != 1 || records[0].Engine.PID != e.Facts().PID || records[0].Engine.Start == 0 {
		t.Errorf("got records %+v, %v, want the engine's", records, err)
	}
	if got := e.Facts(); got.SHA256 == "" || got.Binary != os.Args[0] || got.Port == got.ControlPort {
		t.Errorf("got facts %+v", got)
	}
	if !strings.Contains(e.Tail(), "serve m --host 127.0.0.1 --port "+e.Facts().Port) {
		t.Errorf("got log %q, want the command line", e.Tail())
	}
	for range 2 { // stopping twice is fine
		if err := e.Stop(t.Context(), spec.Grace); err != nil {
			t.Fatal(err)
		}
	}
	if left := (tree{token: spec.Token}).members(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if records, _ := spec.Root.Records(); len(records) > 0 {
		t.Errorf("records are left: %v", records)
	}
}

// Children that left the group and the session, and children without an environment, end with their engine, whether it is
// stopped or found by the next start.
func TestChildrenEndWithTheEngine(t *testing.T) {
	for _, as := range []string{"parent of a stray", "parent of a wiped child"} {
		for _, how := range []string{"stop", "sweep"} {
			t.Run(as+", "+how, func(t *testing.T) {
				spec := specFor(t, as)
				e, err := processDriver{}.Start(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				<-e.Done()
				p := e.(*process)
				if left := p.tree.members(); len(left) != 1 {
					t.Fatalf("got members %v after the engine's own end, want its child", left)
				}
				if how == "stop" {
					err = e.Stop(t.Context(), spec.Grace)
				} else {
					err = sweepAsNextStart(t, spec)
				}
				if err != nil {
					t.Error(err)
				}
				if left := p.tree.members(); len(left) > 0 {
					t.Errorf("processes are left: %v", left)
				}
			})
		}
	}
}

// A daemon that carries nothing of ours, left the session and outlived its parents is found because it came to us.
func TestDaemonsEndWithTheEngine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("orphans are adopted on Linux only")
	}
	spec := specFor(t, "engine")
	note := filepath.Join(t.TempDir(), "pid")
	spec.Command = []string{"/bin/sh", "-c", "env -i setsid sh -c 'sh -c \"echo \\$\\$ > " + note + "; exec sleep 60\" & exit 0'; while [ ! -s " + note + " ]; do sleep 0.05; done"}
	e, err := processDriver{}.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	<-e.Done()
	if err := e.Stop(t.Context(), spec.Grace); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if workroot.Identify(pid).Alive() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("the daemon (process %d) outlived its engine", pid)
	}
}

// sweepAsNextStart makes the record's owner a dead process and sweeps.
func sweepAsNextStart(t *testing.T, spec Spec) error {
	t.Helper()
	records, err := spec.Root.Records()
	if err != nil || len(records) != 1 {
		t.Fatalf("got records %v, %v, want one", records, err)
	}
	records[0].Owner = workroot.Process{PID: 1 << 22, Start: 1}
	if err := spec.Root.Put(records[0]); err != nil {
		t.Fatal(err)
	}
	swept, err := Sweep(t.Context(), spec.Root, time.Now(), time.Second)
	if len(swept) != 1 || swept[0].Ended != 1 || swept[0].Kept != "" {
		t.Errorf("got %+v, want one process ended", swept)
	}
	return err
}

func TestPortCollisionIsTriedAgain(t *testing.T) {
	spec := specFor(t, "engine")
	spec.Env = map[string]string{"ENGINE_TEST_ONCE": filepath.Join(t.TempDir(), "once")}
	e, err := Launch(t.Context(), processDriver{}, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context(), spec.Grace); err != nil {
		t.Error(err)
	}
	fixed := specFor(t, "engine")
	fixed.Env = map[string]string{"ENGINE_TEST_ONCE": filepath.Join(t.TempDir(), "once")}
	held, err := holdPorts(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	fixed.Port, fixed.ControlPort = held.gateway, held.control
	if err := held.free(); err != nil {
		t.Fatal(err)
	}
	e, err = Launch(t.Context(), processDriver{}, fixed, nil)
	var f *Failure
	if !errors.As(err, &f) || f.Reason != ExitedInStartup || f.Cause != "port_in_use" || !strings.Contains(f.Tail, "Errno 98") {
		t.Errorf("fixed ports: got %v, want %s for port_in_use", err, ExitedInStartup)
	}
	if err := e.Stop(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	spec := specFor(t, "sleeper")
	e, err := processDriver{}.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop(context.Background(), 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if err := Await(ctx, e, spec, nil); !errors.Is(err, why) {
		t.Errorf("got %v, want the context's cause", err)
	}
	spec.ReadyTimeout = 10 * time.Millisecond
	var f *Failure
	if err := Await(t.Context(), e, spec, nil); !errors.As(err, &f) || f.Reason != ReadinessTimeout {
		t.Errorf("got %v, want %s", err, ReadinessTimeout)
	}
}

// A run that is cancelled while an engine is being stopped does not wait for the rest of its grace.
func TestCancelShortensTheGrace(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the cancel grace")
	}
	spec := specFor(t, "sleeper")
	spec.Command = []string{"sh", "-c", `trap "" TERM; echo deaf; while :; do sleep 1; done`}
	e, err := processDriver{}.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(e.Log(), "deaf") && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := e.Stop(ctx, time.Hour); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("the stop took %s, want the cancel grace of %s and little more", took, CancelGrace)
	}
	if got := e.Exit(); !strings.Contains(got, "SIGKILL") {
		t.Errorf("got exit %q, want SIGKILL", got)
	}
}

func TestDriversByName(t *testing.T) {
	for name, want := range map[string]string{"docker": "driver docker is not available in this build yet", "podman": `driver "podman" is not known`} {
		_, err := For(name)
		var f *Failure
		if !errors.As(err, &f) || f.Message != want || f.Hint == "" {
			t.Errorf("%s: got %v, want %q and a hint", name, err, want)
		}
	}
}

func TestCheckFindsEverything(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	err = processDriver{}.Check(Spec{Command: []string{"no-such-engine"}, Port: taken})
	for _, want := range []string{"no-such-engine is neither beside this program nor on PATH", "port " + strconv.Itoa(taken)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	err = attachDriver{}.Check(Spec{BaseURL: "localhost:8000", ControlURL: "ftp://x"})
	for _, want := range []string{"base_url", "control_url"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A record whose engine has no start time proves nothing about the process that has its number now.
func TestSweepNeedsProof(t *testing.T) {
	bystander := exec.Command("sleep", "60")
	bystander.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	}()
	spec := specFor(t, "engine")
	if err := spec.Root.Put(workroot.Record{Token: spec.Token, Engine: workroot.Process{PID: bystander.Process.Pid}, Owner: workroot.Process{PID: 1 << 22, Start: 1},
		Boot: workroot.Boot(), Namespace: workroot.Namespace(), Deadline: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	swept, err := Sweep(t.Context(), spec.Root, time.Now(), time.Second)
	if err != nil || len(swept) != 1 || swept[0].Ended != 0 || swept[0].Kept == "" {
		t.Errorf("got %+v, %v, want the run left alone with a word", swept, err)
	}
	if !workroot.Identify(bystander.Process.Pid).Alive() {
		t.Error("the bystander was ended")
	}
}
