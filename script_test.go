package gatehouse

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var updateScripts = flag.Bool("update-scripts", false, "rewrite the expected output in testdata/script")

// builtIn is where binaries has built, "" while it has not.
var builtIn string

// binaries is the folder of every door, built once, as releases are.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gatehouse-doors-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", dir+"/", "./cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the doors: %v\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(builtIn)
	os.Exit(status)
}

// TestScripts runs the doors as a user does: real binaries, in a folder of their
// own, with files, arguments and an environment. One file a behaviour.
func TestScripts(t *testing.T) {
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *updateScripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("TOP", top)
			// A work root of the script's own: the default is shared by the whole host.
			work := filepath.Join(env.WorkDir, "serve-root")
			env.Setenv("TS_SERVE_WORK_DIR", work)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs a program and holds it to an exit status: exits 2 serve-cell --nope.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("%q is no exit status", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: got exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}
