package cell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// Status is how a trial ended, by the reference's names.
type Status string

// The statuses of a trial.
const (
	OK                   Status = "ok"
	WorkloadFailed       Status = "workload_failed"
	SetupFailed          Status = "workload_setup_failed"
	InfrastructureFailed Status = "infrastructure_failed"
)

// errTrialTimeout is the cause of a trial's context that ran out of its time.
var errTrialTimeout = errors.New("the trial took longer than timeout_sec")

// trial is one engine, from its start to its end, with everything measured on it.
type trial struct {
	run    *run
	cell   *recipe.Cell
	serve  *recipe.Serve
	index  int
	token  string
	root   *workroot.Root
	engine engine.Engine
	facts  engine.Facts
	canary *loadgen.Findings

	started         time.Time
	startupSec      float64 // from the start of the trial until the ports answered
	engineSec       float64 // from the start of the trial to the end of the engine
	elapsedSec      float64 // the whole trial
	mainWorkStarted bool
	stepsStarted    int
	steps           []*benchStep // measured steps that ran to their end
	failures        []*Failure
	warnings        []string
	tags            []Tag
	requestsDone    int64             // for the progress line
	files           []string          // exports, below the run's folder
	digests         map[string]string // sha256 of every file written, by its path below the run's folder
}

// measure runs the trial to its end and takes the engine down on every path.
func (t *trial) measure(ctx context.Context) {
	t.started = time.Now()
	limit, cancel := context.WithTimeoutCause(ctx, t.serve.Timeout, errTrialTimeout)
	defer cancel()
	defer func() {
		t.takeDown(ctx)
		t.tidy()
		t.elapsedSec = time.Since(t.started).Seconds()
		t.conclude()
	}()
	if err := t.bringUp(limit); err != nil {
		t.fail(t.interrupted(limit, "startup", asFailure("startup", err)))
		return
	}
	if f := t.sendCanary(limit); f != nil {
		t.fail(t.interrupted(limit, "canary", f))
		return
	}
	for k := range t.serve.WarmupSteps {
		s := t.runStep(limit, k, true)
		if len(s.failures) > 0 { // a warm-up that fails is no warm-up: what would follow is not what was planned
			t.fail(s.failures...)
			return
		}
	}
	for k := range t.cell.Steps {
		s := t.runStep(limit, k, false)
		t.fail(s.failures...)
		if !s.finished || limit.Err() != nil || t.died() {
			return
		}
	}
}

// bringUp starts the engine and waits until its ports answer.
func (t *trial) bringUp(ctx context.Context) error {
	driver, err := engine.For(t.serve.Driver)
	if err != nil {
		return err
	}
	t.note("starting the engine")
	t.engine, err = engine.Launch(ctx, driver, t.spec(), func(last string) { t.note("waiting for the engine: %s", last) })
	if t.engine != nil {
		t.facts = t.engine.Facts()
	}
	if err != nil {
		return err
	}
	t.startupSec = time.Since(t.started).Seconds()
	return nil
}

// spec says what to start.
func (t *trial) spec() engine.Spec {
	return engine.Spec{
		Token: t.token, Cell: t.cell.Name, Trial: t.index, Root: t.root,
		Command: t.serve.Command, Model: t.serve.Model, ServedName: t.serve.ServedModelName, Args: t.serve.ServeArgs,
		Port: t.serve.Port, ControlPort: t.serve.ControlPort, BaseURL: t.serve.BaseURL, ControlURL: t.serve.ControlURL,
		Environ: t.run.Environ, Env: engineEnv(t.cell, t.root, t.run.Environ),
		ReadyTimeout: t.serve.ReadyTimeout, GatewayTimeout: t.serve.GatewayStartupTimeout,
		Grace: t.serve.TeardownGrace, DrainTimeout: t.serve.DrainTimeout,
		Deadline: t.run.Now().Add(t.serve.Timeout + t.serve.TeardownGrace + time.Minute),
		LogPath:  filepath.Join(t.root.Out(), "bench-server."+t.token+".log"),
	}
}

// sendCanary asks for one real streamed token: a health check that answers ok proves nothing of the kind. What the
// canary finds out about the engine shapes the plan of every step.
func (t *trial) sendCanary(ctx context.Context) *Failure {
	t.note("waiting for the first token")
	limit, cancel := context.WithTimeout(ctx, t.serve.BenchTimeout)
	defer cancel()
	plan := t.plan(0, true)
	plan.RequestIDPrefix = "gatehouse-" + t.token + "-canary-"
	found, err := loadgen.Canary(limit, plan)
	if err != nil {
		f := &Failure{Reason: ReasonCanary, Phase: "canary", Message: "the engine's ports answer, and it streams no token: " + err.Error(),
			LogTail: t.engine.Tail()}
		f.Cause, f.Hint = engine.Classify(t.engine.Log())
		if f.Hint == "" && t.serve.PromptGiven && t.serve.Prompt == recipe.PromptTokenIDs {
			f.Hint = "if the engine does not take token ids, set workload_config prompt: text"
		}
		return f
	}
	t.canary = found
	if found.TokenIDsRefused != "" {
		t.warn("the engine refuses prompts of token ids (%s): text is sent, and its length is only about right", found.TokenIDsRefused)
	}
	return nil
}

// takeDown ends the engine. Whatever is left over fails the trial: it would run beside the next one.
func (t *trial) takeDown(ctx context.Context) {
	if t.engine == nil {
		return
	}
	t.note("ending the engine")
	if err := t.engine.Stop(ctx, t.serve.TeardownGrace); err != nil {
		t.fail(asFailure("teardown", err))
		t.run.leftover = t.cell.Name
	}
	t.engineSec = time.Since(t.started).Seconds()
}

// tidy removes the engine's log where the recipe wants nothing kept; failures hold its end.
func (t *trial) tidy() {
	if !t.serve.KeepWorkDir && t.facts.Log != "" {
		_ = os.Remove(t.facts.Log)
		_ = os.Remove(t.facts.Log + ".head")
		t.facts.Log = ""
	}
}

// interrupted replaces a failure that only shows that the trial's time was over or that the run was cancelled.
func (t *trial) interrupted(ctx context.Context, phase string, f *Failure) *Failure {
	switch {
	case ctx.Err() == nil:
		return f
	case errors.Is(context.Cause(ctx), errTrialTimeout):
		out := &Failure{Reason: ReasonTimeout, Phase: phase, Iteration: f.Iteration, Message: fmt.Sprintf("%v (%s)", errTrialTimeout, t.serve.Timeout)}
		if t.engine != nil {
			out.LogTail = t.engine.Tail()
		}
		return out
	}
	return &Failure{Reason: ReasonCanceled, Phase: phase, Iteration: f.Iteration, Message: "the run was cancelled"}
}

// died tells whether the engine ended by itself.
func (t *trial) died() bool {
	select {
	case <-t.engine.Done():
		return true
	default:
		return false
	}
}

func (t *trial) fail(failures ...*Failure) { t.failures = append(t.failures, failures...) }

func (t *trial) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

func (t *trial) note(format string, args ...any) { t.run.progress.Note(format, args...) }
