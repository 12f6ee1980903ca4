package cell

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tolerance)
	}
}

// smokeStep makes the scalars of a step of the smoke cell (32 requests of 128 tokens) from its duration and latencies.
func smokeStep(ms, ttft, tpot, p99itl float64) map[string]float64 {
	return map[string]float64{"duration": ms / 1000, "median_ttft_ms": ttft, "median_tpot_ms": tpot, "p99_itl_ms": p99itl,
		"output_throughput": 32 * 128 / (ms / 1000), "completed": 32, "failed": 0}
}

// The thirteenth smoke run and a clean one, as published: step times, and the cell's metrics as means over its steps.
func TestMeansOverSteps(t *testing.T) {
	tests := []struct {
		name                               string
		steps                              []map[string]float64
		meanStep, ttft, tpot, p99, tok, by float64
	}{
		{"6193.4, 1140.2, 1142.6", []map[string]float64{smokeStep(6193.4, 1305.5, 1.93, 34.96), smokeStep(1140.2, 45.2, 1.93, 34.96), smokeStep(1142.6, 45.2, 1.93, 34.96)},
			2825.40, 465.30, 1.93, 34.96, 2612.83, 0.5},
		{"1135.03, 1136.39, 1136.51", []map[string]float64{smokeStep(1135.03, 45, 1.91, 34.64), smokeStep(1136.39, 45, 1.91, 34.64), smokeStep(1136.51, 45, 1.91, 34.64)},
			1135.98, 45, 1.91, 34.64, 3605.7, 0.1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mean, partial := means(test.steps)
			if partial != nil {
				t.Errorf("got partial metrics %v, want none", partial)
			}
			near(t, "mean step time", mean["duration"]*1000, test.meanStep, 0.05)
			near(t, "median_ttft_ms", mean["median_ttft_ms"], test.ttft, 0.005)
			near(t, "median_tpot_ms", mean["median_tpot_ms"], test.tpot, 1e-9)
			near(t, "p99_itl_ms", mean["p99_itl_ms"], test.p99, 1e-9)
			near(t, "output_throughput", mean["output_throughput"], test.tok, test.by)
		})
	}
}

// Four bounds anchored on the worst of twelve clean runs, with the reference's margins, against the thirteenth run.
func TestGatesOnTheExcursion(t *testing.T) {
	mean := map[string]float64{"median_ttft_ms": 465.30, "output_throughput": 2612.83, "median_tpot_ms": 1.93, "p99_itl_ms": 34.96}
	tests := []struct {
		gate   recipe.Gate
		breach bool
	}{
		{recipe.Gate{Name: "max_median_ttft_ms", Metric: "median_ttft_ms", Max: true, Bound: 46.87 * 1.25}, true},
		{recipe.Gate{Name: "min_output_throughput", Metric: "output_throughput", Bound: 3502.53 * 0.85}, true},
		{recipe.Gate{Name: "max_median_tpot_ms", Metric: "median_tpot_ms", Max: true, Bound: 1.95 * 1.25}, false},
		{recipe.Gate{Name: "max_p99_itl_ms", Metric: "p99_itl_ms", Max: true, Bound: 35.84 * 1.25}, false},
		{recipe.Gate{Name: "max_median_tpot_ms", Metric: "median_tpot_ms", Max: true, Bound: 1.93}, false}, // equal is no breach
	}
	for _, test := range tests {
		got := gates(&recipe.Serve{Gates: []recipe.Gate{test.gate}}, mean, 3)
		if (len(got) == 1 && got[0].Reason == ReasonGateBreached) != test.breach {
			t.Errorf("%s %v: got %v, want breach %v", test.gate.Name, test.gate.Bound, got, test.breach)
		}
	}
	missing := gates(&recipe.Serve{Gates: []recipe.Gate{{Name: "max_p99_ttft_ms", Metric: "p99_ttft_ms", Max: true, Bound: 1}}}, mean, 3)
	if len(missing) != 1 || missing[0].Reason != ReasonGateMissing {
		t.Errorf("a metric that was not measured: got %v, want %s", missing, ReasonGateMissing)
	}
	if got := gates(&recipe.Serve{Gates: []recipe.Gate{tests[0].gate}}, nil, 0); got != nil {
		t.Errorf("without a step: got %v, want nothing judged", got)
	}
}

func TestMeansLeavePartialMetricsOut(t *testing.T) {
	mean, partial := means([]map[string]float64{{"a": 1, "b": 2}, {"a": 3}})
	if mean["a"] != 2 || len(mean) != 1 || !slices.Equal(partial, []string{"b"}) {
		t.Errorf("got means %v and partial %v, want a alone, and b partial", mean, partial)
	}
}

func TestTrialMetrics(t *testing.T) {
	serve := &recipe.Serve{Model: "m", Dataset: "random", NumPrompts: 32, InputLen: 512, OutputLen: 128, WarmupSteps: 2, Driver: recipe.DriverProcess}
	m := trialMetrics(serve, 3, []map[string]float64{smokeStep(1000, 45, 1.9, 34), smokeStep(2000, 45, 1.9, 34)})
	for key, want := range map[string]any{
		"completed_total": 64.0, "failed_total": 0.0, "tokens_per_sec": 3072.0, "output_throughput": 3072.0, "bench_steps": 3, "warmup_steps": 2,
		"max_concurrency": nil, "request_rate": "inf", "image": nil, "num_prompts": 32, "input_len": 512,
	} {
		if m[key] != want {
			t.Errorf("%s: got %v, want %v", key, m[key], want)
		}
	}
	sum := summarize([]map[string]any{m})
	if _, ok := sum["model"]; ok {
		t.Error("a text is in the summary")
	}
	if got := sum["tokens_per_sec"]; got.Mean != 3072.0 || *got.N != 1 {
		t.Errorf("tokens_per_sec: got %+v, want the mean 3072 of 1", got)
	}
}

func TestStepTimes(t *testing.T) {
	var c report.Cell
	stepTimes(&c, []float64{6193.4, 1140.2, 1142.6})
	near(t, "mean", *c.MeanStepTimeMS, 2825.40, 0.005)
	near(t, "p50", *c.P50StepTimeMS, 1142.6, 1e-9)
	near(t, "p90", *c.P90StepTimeMS, 1142.6+0.8*(6193.4-1142.6), 1e-9)
	if *c.StepTimeSource != report.SourcePerStep {
		t.Errorf("got source %s, want per_step", *c.StepTimeSource)
	}
	stepTimes(&c, nil)
	if *c.MeanStepTimeMS != 0 || *c.StepTimeSource != report.SourceMissing {
		t.Errorf("without steps: got mean %v from %s, want 0 and missing", *c.MeanStepTimeMS, *c.StepTimeSource)
	}
}

// good is an export that passes the audit of the given recipe.
func good() (*recipe.Serve, map[string]any) {
	serve := &recipe.Serve{NumPrompts: 4, InputLen: 16, OutputLen: 8, MaxConcurrency: 2, IgnoreEOS: true}
	return serve, map[string]any{
		"num_prompts": 4, "max_concurrency": 2, "request_rate": "inf", "completed": 4, "failed": 0,
		"total_input_tokens": 64, "total_output_tokens": 32, "duration": 1.0, "output_throughput": 32.0, "request_throughput": 4.0,
		"total_token_throughput": 96.0, "mean_ttft_ms": 5.0, "median_ttft_ms": 5.0, "mean_tpot_ms": 1.0, "median_tpot_ms": 1.0,
	}
}

func export(values map[string]any) loadgen.Export {
	var out loadgen.Export
	for key, v := range values {
		out = append(out, loadgen.Field{Key: key, Value: v})
	}
	return out
}

func TestAudit(t *testing.T) {
	tests := []struct {
		name   string
		change func(*recipe.Serve, map[string]any)
		want   []string
	}{
		{"as planned", func(*recipe.Serve, map[string]any) {}, nil},
		{"one failed", func(_ *recipe.Serve, e map[string]any) {
			e["completed"], e["failed"], e["total_output_tokens"], e["total_input_tokens"] = 3, 1, 24, 48
		}, []string{ReasonShortfall}},
		{"one missing", func(_ *recipe.Serve, e map[string]any) {
			e["completed"], e["total_output_tokens"], e["total_input_tokens"] = 3, 24, 48
		}, []string{ReasonShortfall}},
		{"counters that are no numbers", func(_ *recipe.Serve, e map[string]any) { e["failed"] = false }, []string{ReasonExport}},
		{"more prompts than planned", func(s *recipe.Serve, e map[string]any) { e["num_prompts"] = 5 }, []string{ReasonEcho}},
		{"another cap", func(_ *recipe.Serve, e map[string]any) { e["max_concurrency"] = 1 }, []string{ReasonEcho}},
		{"a rate where none was asked for", func(_ *recipe.Serve, e map[string]any) { e["request_rate"] = 3.0 }, []string{ReasonEcho}},
		{"no rate where one was asked for", func(s *recipe.Serve, e map[string]any) { s.RequestRate = 3 }, []string{ReasonEcho}},
		{"short output", func(_ *recipe.Serve, e map[string]any) { e["total_output_tokens"] = 31 }, []string{ReasonOutputLength}},
		{"long output", func(_ *recipe.Serve, e map[string]any) { e["total_output_tokens"] = 33 }, []string{ReasonOutputLength}},
		{"any output without ignore_eos", func(s *recipe.Serve, e map[string]any) { s.IgnoreEOS = false; e["total_output_tokens"] = 31 }, nil},
		{"longer prompts", func(_ *recipe.Serve, e map[string]any) { e["total_input_tokens"] = 80 }, []string{ReasonPromptLength}},
		{"no duration", func(_ *recipe.Serve, e map[string]any) { delete(e, "duration") }, []string{ReasonExport}},
		{"a throughput of 0", func(_ *recipe.Serve, e map[string]any) { e["output_throughput"] = 0.0 }, []string{ReasonExport}},
		{"a TTFT that is no number", func(_ *recipe.Serve, e map[string]any) { e["median_ttft_ms"] = math.NaN() }, []string{ReasonExport}},
		{"no TPOT", func(_ *recipe.Serve, e map[string]any) { delete(e, "mean_tpot_ms") }, []string{ReasonExport}},
		{"no TPOT where no second token is", func(s *recipe.Serve, e map[string]any) {
			s.OutputLen, e["total_output_tokens"] = 1, 4
			delete(e, "mean_tpot_ms")
			delete(e, "median_tpot_ms")
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			serve, values := good()
			test.change(serve, values)
			var got []string
			for _, f := range auditLoad(serve, loadgen.TokenIDs, export(values)) {
				got = append(got, f.Reason)
			}
			if f := auditMetrics(serve, export(values)); f != nil {
				got = append(got, f.Reason)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTextPromptsMayBeAQuarterOff(t *testing.T) {
	serve, values := good()
	for total, ok := range map[int]bool{64: true, 80: true, 81: false, 48: true, 47: false} {
		values["total_input_tokens"] = total
		if got := auditPrompts(serve, loadgen.Text, export(values)); (got == nil) != ok {
			t.Errorf("%d prompt tokens of 64: got %v, want accepted %v", total, got, ok)
		}
	}
}

// trialWith is a finished trial of one step with the given tags and failures.
func trialWith(tags []Tag, reasons ...string) *trial {
	t := &trial{cell: &recipe.Cell{Name: "only", Steps: 1, Serve: &recipe.Serve{}}, tags: tags, mainWorkStarted: true,
		steps: []*benchStep{{result: &loadgen.Result{}, finished: true}}}
	t.serve = t.cell.Serve
	t.run = &run{Options: Options{Recipe: &recipe.Recipe{Workload: recipe.Serving}}}
	for _, reason := range reasons {
		t.fail(&Failure{Reason: reason, Message: "because"})
	}
	return t
}

// What a trial's failures and tags lead to, and the exit status that follows.
func TestVerdicts(t *testing.T) {
	limited := []Tag{{Name: loadgen.TagClientLimited, Why: "97 % of its core"}}
	undelivered := []Tag{{Name: loadgen.TagLoadNotDelivered, Why: "100 of 256"}}
	tests := []struct {
		name    string
		trial   *trial
		status  Status
		verdict string
		exit    int
	}{
		{"clean", trialWith(nil), OK, "passed", 0},
		{"a tag alone", trialWith([]Tag{{Name: TagColdCompile}}), OK, "passed", 0},
		{"the client was the limit", trialWith(limited), OK, "no_verdict", 4},
		{"the load was not delivered", trialWith(undelivered, ReasonLoad), InfrastructureFailed, "no_verdict", 4},
		{"requests failed", trialWith(nil, ReasonShortfall), WorkloadFailed, "failed", 1},
		{"requests failed and the client was the limit", trialWith(limited, ReasonShortfall), WorkloadFailed, "failed", 1},
		{"a gate breached", trialWith(nil, ReasonGateBreached), WorkloadFailed, "failed", 1},
		{"a gate breached by a client that was the limit", trialWith(limited, ReasonGateBreached), InfrastructureFailed, "no_verdict", 4},
		{"cancelled", trialWith(nil, ReasonCanceled, ReasonIncomplete), InfrastructureFailed, "no_verdict", 4},
		{"cancelled after requests had failed", trialWith(nil, ReasonShortfall, ReasonCanceled), WorkloadFailed, "failed", 1},
		{"no engine", trialWith(nil, "workload_setup_failed"), SetupFailed, "error", 3},
		{"died", trialWith(nil, "server_exited_during_run", ReasonNoExport), WorkloadFailed, "failed", 1},
		{"processes left over", trialWith(nil, "teardown_incomplete"), WorkloadFailed, "failed", 1},
		{"a fault of ours", trialWith(nil, ReasonInternal), InfrastructureFailed, "no_verdict", 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.trial.status(); got != test.status {
				t.Errorf("got status %s, want %s", got, test.status)
			}
			c := summary(test.trial.cell, []*trial{test.trial})
			if got := Verdict(&c); got != test.verdict {
				t.Errorf("got verdict %s, want %s", got, test.verdict)
			}
			exit, _ := (&Outcome{Matrix: &report.Matrix{Cells: []report.Cell{c}}}).Status()
			if exit != test.exit {
				t.Errorf("got exit status %d, want %d", exit, test.exit)
			}
			if p, bad := cellProblem(&c); bad != (test.exit != 0) || (bad && !strings.Contains(p.Message, "because") && len(c.NoVerdict) == 0) {
				t.Errorf("got finding %v, want one that says why", p)
			}
		})
	}
}

func TestExitStatusOfSeveralCells(t *testing.T) {
	one, none := 1, 0
	passed := report.Cell{PassedCount: &one, FailedCount: &none, ErrorCount: &none}
	failed := report.Cell{PassedCount: &none, FailedCount: &one, ErrorCount: &none}
	broken := report.Cell{PassedCount: &none, FailedCount: &none, ErrorCount: &one}
	open := report.Cell{PassedCount: &one, NoVerdict: []string{"why"}}
	tests := []struct {
		name     string
		cells    []report.Cell
		canceled bool
		want     int
	}{
		{"all passed", []report.Cell{passed, passed}, false, 0},
		{"a failure outweighs all", []report.Cell{open, broken, failed, passed}, false, 1},
		{"what could not run outweighs what says nothing", []report.Cell{passed, open, broken}, false, 3},
		{"nothing can be concluded", []report.Cell{passed, open}, false, 4},
		{"cancelled", []report.Cell{passed}, true, 4},
		{"cancelled after a failure", []report.Cell{failed}, true, 1},
	}
	for _, test := range tests {
		o := &Outcome{Matrix: &report.Matrix{Cells: test.cells}, Canceled: test.canceled}
		if got, _ := o.Status(); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
