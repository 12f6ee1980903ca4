package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// benchStep is one bench step: the load generator's result, its export, and what the audit found.
type benchStep struct {
	index    int
	warmup   bool
	result   *loadgen.Result
	export   loadgen.Export
	scalars  map[string]float64
	failures []*Failure

	// finished tells that the load ran to its end, well or not; only then is it a measured step.
	finished bool
}

func (s *benchStep) phase() string {
	if s.warmup {
		return "warmup"
	}
	return "measured"
}

// fail adds failures of this step, with its place.
func (s *benchStep) fail(failures ...*Failure) {
	for _, f := range failures {
		index := s.index
		f.Phase, f.Iteration = s.phase(), &index
		s.failures = append(s.failures, f)
	}
}

// plan is the load of step k. Prompts differ from step to step, and those of the warm-up from the measured ones: the
// engine's prefix cache would otherwise know every prompt of every measured step.
func (t *trial) plan(k int, warmup bool) loadgen.Plan {
	kind := "bench"
	if warmup {
		kind = "warmup"
	}
	p := loadgen.Plan{
		BaseURL: t.engine.Endpoint().Gateway, Model: t.serve.ServedModelName, Tokenizer: t.serve.Tokenizer,
		Label: t.cell.Name, RequestIDPrefix: fmt.Sprintf("gatehouse-%s-%s-s%d-", t.token, kind, k),
		NumPrompts: t.serve.NumPrompts, NumWarmups: t.serve.NumWarmups, InputLen: t.serve.InputLen, OutputLen: t.serve.OutputLen,
		IgnoreEOS: t.serve.IgnoreEOS, VocabSize: t.serve.VocabSize, Seed: t.serve.Seed, Step: k, Discarded: warmup,
		MaxConcurrency: t.serve.MaxConcurrency, RequestRate: t.serve.RequestRate,
		Percentiles: t.serve.MetricPercentiles, PercentileMetrics: t.serve.PercentileMetrics,
		IdleTimeout: idleTimeout(t.serve.BenchTimeout),
	}
	if t.serve.PromptGiven {
		p.Prompt = loadgen.PromptKind(t.serve.Prompt)
	}
	if t.canary != nil {
		p = p.With(t.canary)
	}
	return p
}

// idleTimeout is shorter than the step's own limit, so that a stream that hangs is told by its name.
func idleTimeout(bench time.Duration) time.Duration { return min(2*time.Minute, bench*3/4) }

// runStep sends the load of step k and audits what came back. The step ends early when the engine does.
func (t *trial) runStep(ctx context.Context, k int, warmup bool) *benchStep {
	s := &benchStep{index: k, warmup: warmup}
	total := t.cell.Steps
	if warmup {
		total = t.serve.WarmupSteps
	} else {
		t.mainWorkStarted = true
		t.stepsStarted++
	}
	t.note("%s step %d/%d", s.phase(), k+1, total)

	limit, cancel := context.WithTimeout(ctx, t.serve.BenchTimeout)
	defer cancel()
	alive, done := context.WithCancel(limit)
	defer done()
	go func() {
		select {
		case <-t.engine.Done():
			done()
		case <-alive.Done():
		}
	}()

	plan := t.plan(k, warmup)
	before := t.requestsDone
	plan.Progress = func(p loadgen.Progress) {
		t.requestsDone = before + int64(p.Done+p.Failed)
		t.run.progress.Set(t.requestsDone)
	}
	result, err := loadgen.Run(alive, plan)
	t.requestsDone = before + int64(t.serve.NumPrompts)
	t.run.progress.Set(t.requestsDone)
	s.result = result
	if result != nil {
		s.export = result.Export(t.serve.SaveDetailed)
		s.scalars = scalars(s.export)
	}
	if err != nil {
		f := t.broken(ctx, err)
		if result != nil {
			f.addRequests(result.Requests)
		}
		s.fail(f)
		return s
	}
	s.finished = true
	t.judge(s)
	if !warmup {
		t.steps = append(t.steps, s)
	}
	return s
}

// broken says why a step did not run to its end.
func (t *trial) broken(ctx context.Context, err error) *Failure {
	var plan *loadgen.PlanError
	switch {
	case ctx.Err() != nil:
		return t.interrupted(ctx, "", &Failure{})
	case t.died():
		return asFailure("", engine.Died(t.engine))
	case errors.As(err, &plan):
		return &Failure{Reason: ReasonBenchStep, Message: "the load cannot be sent as planned: " + err.Error()}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Failure{Reason: ReasonBenchStep, Message: fmt.Sprintf("the step took longer than bench_timeout_sec (%s)", t.serve.BenchTimeout),
			LogTail: t.engine.Tail()}
	}
	return &Failure{Reason: ReasonBenchStep, Message: err.Error(), LogTail: t.engine.Tail()}
}

// judge audits a step that ran to its end.
func (t *trial) judge(s *benchStep) {
	found := auditLoad(t.serve, s.result.Plan.Prompt, s.export)
	for _, f := range found {
		if f.Reason == ReasonShortfall {
			f.addRequests(s.result.Requests)
		}
	}
	if len(found) > 0 && t.died() {
		s.fail(asFailure("", engine.Died(t.engine)))
	}
	s.fail(found...)
	if s.warmup {
		return // what it measured is thrown away, and it has warmed up whatever load it was
	}
	if f := auditMetrics(t.serve, s.export); f != nil {
		s.fail(f)
	}
	if slices.Contains(s.result.Tags, loadgen.TagLoadNotDelivered) {
		s.fail(&Failure{Reason: ReasonLoad, Message: s.result.Reasons[loadgen.TagLoadNotDelivered]})
	}
}
