// Package step is the contract between a Gatehouse binary and whoever runs it:
// a person at a terminal, a script, or a step of a GitHub Actions job.
//
// A door (one binary) is a [Door]: a table of inputs and outputs and a function
// that does the work. The package reads the inputs from flags and INPUT_*
// variables, prints the manual, keeps stdout to a single JSON document, sends
// people's text to stderr, and speaks the job's own protocol (outputs, summary,
// annotations, masks) where there is a job. No other package of the module
// touches the process's arguments, environment, streams or exit status, and no
// other package knows that GitHub Actions exists.
package step

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit statuses, the same for every door.
const (
	OK          = 0 // done, or the answer is yes
	Negative    = 1 // a negative result: a regression, a finding, an invalid file
	Usage       = 2 // bad usage or unreadable input
	CouldNotRun = 3 // something needed was not there: no daemon, no engine, no GPU
	NoVerdict   = 4 // it ran, and nothing can be concluded from it
)

// Proc is everything a door may know about the process it runs in. Tests build
// one by hand; [Main] builds the real one.
type Proc struct {
	// Args are the arguments after the program's name.
	Args []string

	// Getenv answers for one environment variable, "" when it is unset.
	Getenv func(string) string

	// Environ is the environment for child processes, as NAME=VALUE. The step's own
	// INPUT_* variables are not in it: a child that is itself a door would take them
	// for its inputs. Nor are the job's command files, which are this step's to write.
	Environ []string

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	// Dir is the working directory, absolute.
	Dir string

	// Now is the wall clock.
	Now func() time.Time
}

// Main runs a door in the real process and returns its exit status. SIGINT,
// SIGTERM and SIGHUP (unless it was ignored at start, as under nohup) cancel the
// context; a second signal does not cut a tear-down short. A closed stdout or
// stderr is an error to the writer, never the death of the process, since that
// would leave children behind.
func Main(run func(context.Context, Proc) int) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	// Caught and dropped rather than ignored: what is ignored stays so in every child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gatehouse: finding the working directory: %v\n", err)
		return CouldNotRun
	}
	return run(ctx, Proc{
		Args:    os.Args[1:],
		Getenv:  os.Getenv,
		Environ: childEnviron(os.Environ()),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Dir:     dir,
		Now:     time.Now,
	})
}

// commandFiles name the files by which a step speaks to its job.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"}

func childEnviron(environ []string) []string {
	return slices.DeleteFunc(environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "INPUT_") || slices.Contains(commandFiles, name)
	})
}
