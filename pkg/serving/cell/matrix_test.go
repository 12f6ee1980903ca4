package cell

import (
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// measured is a cell with one step time.
func measured(name string, step float64) report.Cell {
	c := report.Cell{Name: name}
	stepTimes(&c, []float64{step})
	return c
}

func TestConfounds(t *testing.T) {
	base := "baseline"
	m := &report.Matrix{BaselineCell: &base, Confound: report.Confound{Threshold: 1.15},
		Cells: []report.Cell{measured("baseline", 1000), measured("same", 1150), measured("slow", 1151), measured("fast", 800), {Name: "unmeasured"}}}
	confounds(m)
	want := map[string]any{"baseline": nil, "same": nil, "slow": "slower", "fast": "faster", "unmeasured": nil}
	for i := range m.Cells {
		if c := &m.Cells[i]; c.Confound != want[c.Name] || (c.StepTimeRatio == nil) != (c.Name == "unmeasured") {
			t.Errorf("%s: got confound %v, ratio %v, want %v", c.Name, c.Confound, c.StepTimeRatio, want[c.Name])
		}
	}
	near(t, "ratio", *m.Cells[2].StepTimeRatio, 1.151, 1e-9)
}

// A failed trial's metrics are left out of the summary while its step times stay, as in the reference.
func TestSummaryOfAFailedTrial(t *testing.T) {
	step := func(millis, tokens float64) *benchStep {
		return &benchStep{finished: true, result: &loadgen.Result{End: int64(millis * 1e6)}, scalars: map[string]float64{"output_throughput": tokens}}
	}
	passed, failed := trialWith(nil), trialWith([]Tag{{Name: TagColdCompile, Step: 0, Why: "slow"}}, ReasonShortfall)
	passed.steps, failed.steps = []*benchStep{step(1000, 100)}, []*benchStep{step(3000, 30)}
	failed.index = 1
	c := summary(passed.cell, []*trial{passed, failed})
	if *c.PassedCount != 1 || *c.FailedCount != 1 || *c.FailureRate != 0.5 || c.Passed() {
		t.Errorf("got %d passed, %d failed, rate %v, want 1, 1, 0.5", *c.PassedCount, *c.FailedCount, *c.FailureRate)
	}
	if got := c.MetricsSummary["output_throughput"]; got.Mean != 100.0 || *got.N != 1 {
		t.Errorf("got output_throughput %+v, want the passing trial's alone", got)
	}
	near(t, "mean step time", *c.MeanStepTimeMS, 2000, 1e-9)
	near(t, "clean mean step time", *c.CleanMeanStepTimeMS, 1000, 1e-9)
	if len(c.Tags) != 1 || c.Tags[0].Why != "trial 1: slow" || len(c.Steps[1].Tags) != 1 || c.Steps[1].Trial != 1 {
		t.Errorf("got tags %+v and steps %+v, want the tag with its trial", c.Tags, c.Steps)
	}
}

func TestBaselineCell(t *testing.T) {
	cells := []recipe.Cell{{Name: "a", Mitigations: []string{"x"}}, {Name: "b", Mitigations: []string{"none"}}}
	if got := baselineCell(&recipe.Recipe{Cells: cells}); got == nil || *got != "b" {
		t.Errorf("got %v, want the first cell without mitigations", got)
	}
	if got := baselineCell(&recipe.Recipe{Cells: cells, Confound: recipe.Confound{BaselineCell: "a"}}); got == nil || *got != "a" {
		t.Errorf("got %v, want the configured cell", got)
	}
	if got := baselineCell(&recipe.Recipe{Cells: cells[:1]}); got != nil {
		t.Errorf("got %v, want none", *got)
	}
}

func TestMarkdown(t *testing.T) {
	c := measured("baseline", 1135.98)
	one := 1
	c.PassedCount = &one
	c.MetricsSummary = map[string]report.Summary{"median_tpot_ms": {Mean: 1.91}}
	c.Tags = []report.Tag{{Name: TagColdCompile, Why: "a | b\nc"}}
	got := Markdown(&report.Matrix{Workload: "tokenspeed_serve", RunTimestamp: "now", Cells: []report.Cell{c}, Warnings: []string{"look"}})
	for _, want := range []string{"| baseline | passed | 1136.0 | – | 1.91 | – | – | cold_compile |", "- baseline: cold_compile: a \\| b c", "- warning: look"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}
