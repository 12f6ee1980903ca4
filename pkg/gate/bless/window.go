package bless

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// fromWindow derives bounds from the nights of the history.
func (r *refresher) fromWindow(ctx context.Context, problems strict.Problems) int {
	var err error
	if r.matrix, err = matrix.Load(r.Root(), r.Path(r.In.String("matrix"))); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	problems = append(problems, r.readScope()...)
	problems = append(problems, r.windowInputs()...)
	if len(problems) > 0 {
		return r.Finish(step.Usage, nil, problems...)
	}
	r.unscoped()
	h, err := history.Open(r.Root(), r.In.String("history"))
	if err != nil {
		return r.Finish(step.Usage, nil, usage("--history", "name a folder, or branch:NAME", err.Error()))
	}
	rep, err := window.Read(h.Runs(ctx), r.options())
	if err != nil {
		return r.Finish(step.Usage, nil, historyProblem(err))
	}
	armed := map[string]bool{}
	for _, c := range rep.Cells {
		e := r.matrix.Entry(c.Key.Entry)
		if e == nil || !r.hasCell(e, c.Key.Cell) {
			continue
		}
		r.seen[c.Key] = true
		if r.scope.entry(c.Key.Entry) {
			r.cell(c, armed)
		}
	}
	r.expected(rep)
	r.namedMetrics(armed)
	r.windows = r.windowText(rep)
	if len(r.incomplete) > 0 {
		if r.In.Bool("dry-run") {
			r.Text(r.windows)
		}
		return r.Finish(step.NoVerdict, nil, r.incomplete...)
	}
	r.orphans()
	return r.conclude(ctx)
}

// windowInputs checks what only a window takes.
func (r *refresher) windowInputs() (problems strict.Problems) {
	if r.In.String("history") == "" {
		problems = append(problems, usage("--history", "name a folder, or branch:NAME", "a window needs a history"))
	}
	if n := r.In.Int("nights"); n < window.LeastNights {
		problems = append(problems, usage("--nights", fmt.Sprintf("%d is the default", window.DefaultNights), fmt.Sprintf("must be %d at least", window.LeastNights)))
	}
	for _, m := range []struct {
		name  string
		value float64
	}{{"step-time-margin", r.margins.ceiling}, {"throughput-margin", r.margins.floor}, {"margin", r.margins.screened}} {
		if m.value == 0 {
			problems = append(problems, usage("--"+m.name, "the next night as bad as the worst would breach a bound without headroom", "must be above 0 for a window"))
		}
	}
	return problems
}

func (r *refresher) options() window.Options {
	return window.Options{
		Nights: r.In.Int("nights"), Lane: r.In.String("history-lane"), Rule: window.Rule(r.In.String("rule")),
		Margins: window.Margins{Ceiling: r.margins.ceiling, Floor: r.margins.floor, Screened: r.margins.screened},
		Promote: func(key baseline.Key, name string) bool { return r.named(name) || r.armed(key, name) },
	}
}

func (r *refresher) named(metric string) bool {
	for _, n := range r.scope.metrics {
		if n == metric {
			return true
		}
	}
	return false
}

// armed reports whether a baseline holds the metric of a cell already.
func (r *refresher) armed(key baseline.Key, name string) bool {
	spec := r.text.File().Specs[key]
	switch {
	case spec == nil:
		return false
	case name == metric.StepTime:
		return spec.StepTime != nil
	}
	for _, b := range spec.Bounds {
		if b.Metric == name {
			return b.Policy != metric.Equal
		}
	}
	return false
}

// cell arms what the window of a cell bears.
func (r *refresher) cell(c *window.Cell, armed map[string]bool) {
	spec := r.text.Spec(c.Key)
	if c.Short != "" {
		r.note(c.Key.String(), "no window: "+c.Short)
		return
	}
	if spec.Get("passed") == false {
		r.note(c.Key.String(), "is an expected failure, so no bound is derived; remove passed: false first")
		return
	}
	if spec == nil {
		spec = baseline.Map{{Key: "passed", Value: true}}
	}
	before := len(r.sees[c.Key])
	for _, m := range c.Metrics {
		switch {
		case m.Verdict == window.Gate:
			spec = r.arm(c, m, spec)
			armed[m.Name] = true
		case r.armed(c.Key, m.Name):
			r.note(c.Key.String(), fmt.Sprintf("the bound on %s is kept: its window bears no new one (%s)", m.Name, strings.Join(m.Reasons, "; ")))
		case r.named(m.Name):
			r.note(c.Key.String(), fmt.Sprintf("%s is not armed: %s", m.Name, strings.Join(m.Reasons, "; ")))
		}
	}
	if len(r.sees[c.Key]) > before {
		r.edits = append(r.edits, baseline.SpecEdit{Key: c.Key, Spec: spec})
	}
}

// arm puts the bound of a metric into a cell's spec.
func (r *refresher) arm(c *window.Cell, m *window.Metric, spec baseline.Map) baseline.Map {
	gate := m.Name
	if m.Name == metric.StepTime {
		gate = baseline.StepTimeGate
	}
	if r.sees[c.Key] == nil {
		r.sees[c.Key] = map[string]float64{}
	}
	r.sees[c.Key][gate] = m.Bound.Detects
	provenance := func(old baseline.Map, key string) baseline.Map {
		p := c.Provenance(m)
		p.FirstBlessed = firstBlessed(old, key, m.Bound.Value)
		return p.Map()
	}
	if gate == baseline.StepTimeGate {
		block, _ := spec.Get("step_time_ms").(baseline.Map)
		return spec.With("step_time_ms", block.With("max", m.Bound.Value).With("provenance", provenance(block, "max")))
	}
	metrics, _ := spec.Get("metrics").(baseline.Map)
	bound, there := metrics.Get(m.Name).(baseline.Map)
	if stated, ok := bound.Get("policy").(string); ok && stated != string(m.Policy) {
		delete(r.sees[c.Key], gate)
		r.note(c.Key.String(), fmt.Sprintf("%s is held as %s by hand; its bound is kept", m.Name, stated))
		return spec
	}
	if !there {
		bound = baseline.Map{{Key: "policy", Value: string(m.Policy)}}
	}
	bound = bound.With("value", m.Bound.Value).With("provenance", provenance(bound, "value"))
	return spec.With("metrics", metrics.With(m.Name, bound))
}

// expected looks at every cell of the entries in scope. One that was named must have its windows: a diff
// without its bounds would look like a bless.
func (r *refresher) expected(rep *window.Report) {
	for i := range r.matrix.Entries {
		e := &r.matrix.Entries[i]
		rec, err := recipe.Load(r.Path(e.Recipe))
		if err != nil || !r.scope.entry(e.Name) {
			continue
		}
		for _, rc := range rec.Cells {
			key := baseline.Key{Entry: e.Name, Cell: rc.Name}
			r.seen[key] = true
			why := "the history has no night of it"
			if c := rep.Cell(key); c != nil {
				why = c.Short
			}
			switch {
			case why == "":
			case len(r.scope.entries) > 0:
				r.incomplete = append(r.incomplete, strict.Problem{Field: key.String(), Message: "there is no window: " + why, Hint: "let it record more nights, or leave it out of --perf-gate-entry"})
			case rep.Cell(key) == nil:
				r.note(key.String(), "no window: "+why)
			}
		}
	}
}

// namedMetrics refuses a metric that was named and that no window could bear.
func (r *refresher) namedMetrics(armed map[string]bool) {
	for _, name := range r.scope.metrics {
		if !armed[name] {
			r.incomplete = append(r.incomplete, strict.Problem{Field: "--perf-gate-metric", Message: name + " was named, and no window of these cells can bear a bound on it", Hint: "--dry-run shows why"})
		}
	}
}

func historyProblem(err error) strict.Problem {
	var p strict.Problem
	if errors.As(err, &p) {
		return p
	}
	return usage("--history", "nothing was concluded from it", err.Error())
}
