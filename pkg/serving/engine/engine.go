// Package engine starts, watches and ends one serving engine, behind one life cycle for all of its drivers:
//
//	start → ready → (the caller's canary token, warm-up and measured steps) → stop → drained
//
// The process driver runs a command of this host in a session of its own and ends the whole tree on every path; what a
// killed owner left behind is ended by Sweep at the next start. The attach driver uses an engine that somebody else
// runs, and never stops it. Await ends in "the ports answer", which proves little: an engine is ready once it has
// streamed one real token, and that is the caller's canary to find out.
package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// Marker is the environment variable that every process of a run carries; its value is the run's token.
const Marker = "GATEHOUSE_RUN"

// Spec says what to start.
type Spec struct {
	// Token marks the run; see NewToken.
	Token string

	// Cell and Trial say what the engine is started for.
	Cell  string
	Trial int

	// Command is the argument vector before `serve MODEL …` (process driver).
	Command []string

	// Model is the positional argument; ServedName is passed when it differs.
	Model, ServedName string

	// Args are the recipe's serve_args; they hold no owned flag.
	Args []string

	// Port and ControlPort are fixed ports, or 0 for any free one.
	Port, ControlPort int

	// Environ is the environment to start from, in the form "NAME=value".
	Environ []string

	// Env is set over Environ.
	Env map[string]string

	// ReadyTimeout bounds Await; GatewayTimeout is passed on to the engine.
	ReadyTimeout, GatewayTimeout time.Duration

	// Grace is how long a stopped engine may take before it is killed; DrainTimeout is what the engine is told to
	// drain within, 0 for a little less than the grace.
	Grace, DrainTimeout time.Duration

	// Deadline is when the run must be over; the next start ends what outlives it.
	Deadline time.Time

	// LogPath is the engine's log file; LogCap its largest size in bytes, 0 means 64 MiB.
	LogPath string
	LogCap  int64

	// Root keeps the run record.
	Root *workroot.Root

	// BaseURL and ControlURL name a running engine (attach driver); ControlURL may be empty.
	BaseURL, ControlURL string
}

// Driver is one way to get an engine.
type Driver interface {
	// Check tells what can be known to be wrong without starting anything; all of it, joined.
	Check(Spec) error

	// Start starts the engine, or finds it. The caller must Stop what it got. The error is a *Failure.
	Start(context.Context, Spec) (Engine, error)
}

// Engine is one started engine.
type Engine interface {
	// Endpoint gives the URLs it serves on.
	Endpoint() Endpoint

	// Done is closed when the engine ended by itself; never for an attached one.
	Done() <-chan struct{}

	// Exit says how it ended, once Done is closed.
	Exit() string

	// Tail gives the end of its log, at most TailLimit characters; empty when there is no log.
	Tail() string

	// Log gives the start and the end of its log for classification, at most 128 KiB.
	Log() string

	// Facts tells what was started.
	Facts() Facts

	// Stop ends the engine with everything it started: asked first, killed after grace, or after CancelGrace once ctx
	// has ended. It may be called again, from any state. The error names what is left.
	Stop(ctx context.Context, grace time.Duration) error
}

// Endpoint is where an engine answers.
type Endpoint struct {
	// Gateway is the base URL of /v1 and /readiness, such as http://127.0.0.1:8000.
	Gateway string

	// Control is the base URL of /health and /v1/loads; empty when there is none.
	Control string
}

// Facts tells what was started, for the result's fingerprint.
type Facts struct {
	// Driver is process or attach.
	Driver string `json:"driver"`

	// Binary is the command's resolved path and SHA256 the digest of the file; empty for attach.
	Binary string `json:"binary,omitempty"`
	SHA256 string `json:"sha256,omitempty"`

	// Args is the whole argument vector.
	Args []string `json:"args,omitempty"`

	// Port and ControlPort are the ports in use, as text.
	Port        string `json:"gateway_port"`
	ControlPort string `json:"control_port"`

	// Log is the path of the log file; empty for attach.
	Log string `json:"server_log,omitempty"`

	// PID is the first process; 0 for attach.
	PID int `json:"pid,omitempty"`
}

// Failure is a life-cycle failure with its class, so that a result can say more than "it failed".
type Failure struct {
	// Reason is the class: server_exited_during_startup, readiness_timeout, control_port_unbound,
	// workload_setup_failed, server_exited_during_run, teardown_incomplete.
	Reason string

	// Message is one line for people.
	Message string

	// Cause is the name of a known failure found in the log, and Hint what to do about it; both may be empty.
	Cause, Hint string

	// Tail is the end of the engine's log.
	Tail string
}

// Error gives reason and message.
func (f *Failure) Error() string { return f.Reason + ": " + f.Message }

// The classes of Failure.Reason.
const (
	SetupFailed      = "workload_setup_failed"
	ExitedInStartup  = "server_exited_during_startup"
	ExitedInRun      = "server_exited_during_run"
	ReadinessTimeout = "readiness_timeout"
	ControlUnbound   = "control_port_unbound"
	TeardownFailed   = "teardown_incomplete"
)

// drivers holds every driver of this build; the Docker driver takes its place here.
var drivers = map[string]Driver{"process": processDriver{}, "attach": attachDriver{}}

// For gives the driver of that name.
func For(name string) (Driver, error) {
	if d, ok := drivers[name]; ok {
		return d, nil
	}
	if name == "docker" {
		return nil, &Failure{
			Reason:  SetupFailed,
			Message: "driver docker is not available in this build yet",
			Hint:    "set workload_config driver: process (a command of this host) or driver: attach (an engine that runs already)",
		}
	}
	return nil, &Failure{Reason: SetupFailed, Message: fmt.Sprintf("driver %q is not known", name), Hint: "use process or attach"}
}

// failed makes the failure of an engine whose log may tell more.
func failed(e Engine, reason, format string, args ...any) *Failure {
	f := &Failure{Reason: reason, Message: fmt.Sprintf(format, args...), Tail: e.Tail()}
	f.Cause, f.Hint = Classify(e.Log())
	return f
}

// Died is the failure of an engine that ended by itself in mid-run.
func Died(e Engine) *Failure {
	return failed(e, ExitedInRun, "the engine ended in mid-run: %s", e.Exit())
}

// tail cuts text to its last limit characters.
func tail(text string, limit int) string {
	text = strings.ToValidUTF8(text, "�")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[len(runes)-limit:])
	}
	return text
}
