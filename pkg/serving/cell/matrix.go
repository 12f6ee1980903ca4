package cell

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// newMatrix is the report of a run that has not measured anything yet.
func newMatrix(r *recipe.Recipe, timestamp, tool string) *report.Matrix {
	return &report.Matrix{
		Workload: r.Workload, Ticket: optional(r.Ticket), TrialsPerCell: r.Trials, StepsPerTrial: r.Steps, RunTimestamp: timestamp,
		BaselineCell: baselineCell(r),
		Confound:     report.Confound{Threshold: r.Confound.Threshold, BaselineCellConfigured: optional(r.Confound.BaselineCell)},
		Warnings:     slices.Clone(r.Warnings), RecipeSource: report.RecipeSource{Path: r.Path, SHA256: r.SHA256},
		Tool: tool,
	}
}

// baselineCell is the cell that others are held against: the configured one, or the first without mitigations.
func baselineCell(r *recipe.Recipe) *string {
	if r.Confound.BaselineCell != "" {
		return &r.Confound.BaselineCell
	}
	for i := range r.Cells {
		if slices.Equal(r.Cells[i].Mitigations, []string{"none"}) {
			return &r.Cells[i].Name
		}
	}
	return nil
}

// unrun is the report of a cell before, or instead of, its trials.
func unrun(c *recipe.Cell) report.Cell {
	out := report.Cell{
		Name: c.Name, Mitigations: c.Mitigations, Environment: c.Environment.Name, ExtraEnv: c.ExtraEnv, ResolvedEnvVars: c.Env,
		WorkloadConfig: c.WorkloadConfig, Client: c.Serve.Client,
		ResolvedEnvironment: map[string]any{"name": c.Environment.Name, "docker": optional(c.Environment.Docker), "venv": nil, "source_package": nil, "inline": c.Environment.Docker != ""},
	}
	counts(&out, nil)
	stepTimes(&out, nil)
	return out
}

// summary is the report of a cell over its trials.
func summary(c *recipe.Cell, trials []*trial) report.Cell {
	out := unrun(c)
	counts(&out, trials)
	var ms, clean, walls []float64
	var passing, cleanMetrics []map[string]any
	var results []*loadgen.Result
	for _, t := range trials {
		walls = append(walls, t.elapsedSec)
		out.TrialPaths = append(out.TrialPaths, t.path())
		out.NoVerdict = append(out.NoVerdict, t.noVerdict()...)
		if t.status() == OK {
			passing = append(passing, t.metrics())
			if m := t.cleanMetrics(); m != nil {
				cleanMetrics = append(cleanMetrics, m)
			}
		}
		for k, s := range t.steps {
			results = append(results, s.result)
			out.Steps = append(out.Steps, t.reportStep(k, s))
			ms = append(ms, s.durationMS())
			if !t.tagged(k) {
				clean = append(clean, s.durationMS())
			}
		}
		for _, tag := range t.tags {
			step := tag.Step
			out.Tags = append(out.Tags, report.Tag{Name: tag.Name, Step: &step, Why: fmt.Sprintf("trial %d: %s", t.index, tag.Why)})
		}
	}
	stepTimes(&out, ms)
	wall := stats.Mean(walls)
	out.MeanWallClockSec = &wall
	out.MetricsSummary = summarize(passing)
	if len(results) > 0 {
		out.Pooled = pooled(c.Serve.MetricPercentiles, results)
	}
	if len(out.Tags) > 0 && len(clean) > 0 {
		mean := stats.Mean(clean)
		out.CleanMeanStepTimeMS, out.CleanMetricsSummary = &mean, summarize(cleanMetrics)
	}
	out.Failures = failureCounts(trials)
	out.FailureHints = hints(trials)
	out.Digests = digests(trials)
	return out
}

// counts fills the counts of trials by verdict, status and outcome.
func counts(out *report.Cell, trials []*trial) {
	by := map[Status]int{OK: 0, WorkloadFailed: 0, SetupFailed: 0, InfrastructureFailed: 0}
	out.OutcomeCounts = map[string]int{outcomeDidNotRun: 0, outcomeCrashed: 0, outcomeCompleted: 0, "unknown": 0}
	for _, t := range trials {
		by[t.status()]++
		out.OutcomeCounts[t.outcome()]++
	}
	out.ExitStatusCounts = map[string]int{}
	for status, n := range by {
		out.ExitStatusCounts[string(status)] = n
	}
	n, passed, failed, errors := len(trials), by[OK], by[WorkloadFailed], by[SetupFailed]+by[InfrastructureFailed]
	failureRate, errorRate := ratio(failed, passed+failed), ratio(errors, n)
	const most = 0.10 // more errors than that, and the counts say little about the workload
	out.Trials, out.PassedCount, out.FailedCount, out.ErrorCount = &n, &passed, &failed, &errors
	out.FailureRate, out.ErrorRate, out.Unreliable = &failureRate, &errorRate, errorRate >= most
}

// failureCounts counts failures by class over the trials, with an example of each; failed requests count by themselves.
func failureCounts(trials []*trial) []report.Failure {
	by := map[string]*report.Failure{}
	add := func(class string, n int, detail string) {
		if by[class] == nil {
			by[class] = &report.Failure{Class: class, Detail: detail}
		}
		by[class].Count += n
	}
	for _, t := range trials {
		for _, f := range t.failures {
			add(f.Reason, 1, f.Error())
			for class, n := range f.Requests {
				add(string(class), n, requestsDetail)
			}
		}
	}
	var out []report.Failure
	for _, class := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[class])
	}
	return out
}

// hints lists what to do next, each once.
func hints(trials []*trial) []string {
	out := []string{}
	for _, t := range trials {
		for _, f := range t.failures {
			text := f.Hint
			if f.Cause != "" {
				text = f.Cause + ": " + f.Hint
			}
			if text != "" && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// confounds fills each cell's step-time ratio to the baseline cell, and says where it is beyond the threshold.
func confounds(m *report.Matrix) {
	if m.BaselineCell == nil {
		return
	}
	i := slices.IndexFunc(m.Cells, func(c report.Cell) bool { return c.Name == *m.BaselineCell })
	if i < 0 || m.Cells[i].StepTime() == nil {
		return
	}
	base := *m.Cells[i].StepTime()
	for k := range m.Cells {
		own := m.Cells[k].StepTime()
		if own == nil {
			continue
		}
		ratio := *own / base
		m.Cells[k].StepTimeRatio = &ratio
		if k != i && ratio > m.Confound.Threshold {
			m.Cells[k].Confound = "slower"
		} else if k != i && ratio < 1/m.Confound.Threshold {
			m.Cells[k].Confound = "faster"
		}
	}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// requestsDetail marks a count of failed requests rather than of trials.
const requestsDetail = "failed requests"
