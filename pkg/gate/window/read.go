package window

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// Read reads a history once, admits what may bear witness, and judges every metric of every cell. An
// error of the history is returned as it is.
func Read(runs iter.Seq2[*history.Attempt, error], o Options) (*Report, error) {
	o = o.withDefaults()
	if o.Nights < LeastNights {
		return nil, fmt.Errorf("a window of %d nights is too short: below %d a bound is the difference of two healthy nights", o.Nights, LeastNights)
	}
	r := &reading{Report: Report{Options: o}, cells: map[baseline.Key]*gathering{}}
	for run, err := range runs {
		if err != nil {
			return nil, err
		}
		r.run(run)
	}
	return r.report(), nil
}

// reading gathers a report.
type reading struct {
	Report
	cells map[baseline.Key]*gathering
}

// run takes in one run file.
func (r *reading) run(run *history.Attempt) {
	r.Runs++
	if run.Build.Lane != r.Options.Lane {
		return
	}
	id := Excluded{Run: run.RunID, Attempt: run.RunAttempt, Date: run.Start.Format(time.DateOnly)}
	if !Scheduled(run) {
		id.Reason = "started by " + run.Event + ", not by the schedule"
		if run.UpstreamEvent != "" {
			id.Reason = fmt.Sprintf("started by %s after %s, not by the schedule", run.Event, run.UpstreamEvent)
		}
		r.Excluded = append(r.Excluded, id)
		return
	}
	for i := range run.Entries {
		row := &run.Entries[i]
		if row.Cell == nil {
			continue
		}
		key := baseline.Key{Entry: row.Entry, Cell: *row.Cell}
		g := r.cells[key]
		if g == nil {
			g = &gathering{Cell: &Cell{Key: key}, values: map[string][]float64{}, decided: map[int64]int{}}
			r.cells[key] = g
		}
		g.row(run, row, id)
	}
}

// Scheduled reports whether the schedule started a run, itself or through the workflow it followed.
// Whoever dispatches a run chose its moment, and so perhaps its outcome.
func Scheduled(run *history.Attempt) bool {
	return run.Event == "schedule" || run.Event == "workflow_run" && run.UpstreamEvent == "schedule"
}

// gathering is a cell while its nights come in.
type gathering struct {
	*Cell
	values map[string][]float64 // one for each night, NaN where there is none
	// decided holds the attempt of each run that decided its night, last when the last night began.
	decided map[int64]int
	last    time.Time
	before  int64 // the run of the last night
}

// sameNight: runs that start closer than this are one night. A delayed schedule may start two nights on
// one date, so dates would not do.
const sameNight = 12 * time.Hour

// row takes in one cell of one run. The first attempt that comes to a verdict decides the night: an
// attempt that is run again until it looks good must not. What was skipped, or came to no verdict,
// decides nothing.
func (g *gathering) row(run *history.Attempt, row *night.Row, id Excluded) {
	exclude := func(format string, args ...any) {
		id.Reason = fmt.Sprintf(format, args...)
		g.Excluded = append(g.Excluded, id)
	}
	if row.Verdict == baseline.Skip || row.Verdict == baseline.NoVerdict {
		exclude("%s: %s", row.Verdict, first(row.Reasons))
		return
	}
	if attempt, repeated := g.decided[run.RunID]; repeated {
		exclude("attempt %d of the run decided the night", attempt)
		return
	}
	if !g.last.IsZero() && run.Start.Sub(g.last) < sameNight {
		exclude("the same night as run %d", g.before)
		return
	}
	g.decided[run.RunID], g.last, g.before = run.RunAttempt, run.Start, run.RunID
	if reason := unclean(row); reason != "" {
		exclude("failed: %s", reason)
		return
	}
	if moved := moved(g.Fingerprint, row.Fingerprint); len(g.Nights) > 0 && moved != "" {
		g.restart(Restart{Run: run.RunID, Date: id.Date, Moved: moved, Lost: len(g.Nights)})
	}
	g.Fingerprint = row.Fingerprint
	note := ""
	if row.Verdict == baseline.Fail {
		note = "breached the bound of then: " + first(row.Reasons)
	}
	g.admit(Night{Run: id.Run, Attempt: id.Attempt, SHA256: run.SHA256, Date: id.Date, Note: note}, row)
}

func first(reasons []string) string {
	if len(reasons) == 0 {
		return "no reason was recorded"
	}
	return reasons[0]
}

// unclean says what went wrong in a cell itself. A broken bound is nothing of that kind: if it were, a
// bound that has become too tight could never be renewed from the nights that show it.
func unclean(row *night.Row) string {
	zero := func(n *int) bool { return n == nil || *n == 0 }
	switch {
	case row.Error != nil:
		return cmp.Or(*row.Error, "an error without a text")
	case zero(row.PassedCount) || !zero(row.FailedCount) || !zero(row.ErrorCount):
		return first(append(slices.Clone(row.Reasons), "not every trial passed"))
	}
	for name, d := range row.Deltas.Metrics {
		missing := d.Observed == nil && row.Verdict != baseline.Fail // and was not required
		if d.Policy == metric.Equal && !missing && !baseline.Same(d.Observed, d.Value) {
			return "the checksum " + name + " is another, or missing"
		}
	}
	return ""
}

// moved compares two fingerprints field by field, whatever their order, and names the first that moved.
func moved(then, now report.Fingerprint) string {
	if text := then.Moved(now); text != "" {
		return text
	}
	for _, field := range slices.Sorted(maps.Keys(now)) {
		if then[field] == "" {
			return fmt.Sprintf("%s was unknown, is %s", field, now[field])
		}
	}
	return ""
}

func (g *gathering) restart(at Restart) {
	g.Restart = &at
	g.Nights, g.Excluded, g.steps = nil, nil, steps{}
	clear(g.values)
}

func (g *gathering) admit(n Night, row *night.Row) {
	g.record(metric.StepTime, stepTime(row))
	for name, v := range row.Metrics.Summary {
		g.record(name, value(v))
	}
	g.Nights = append(g.Nights, n)
	trials := 1
	if row.Trials != nil {
		trials = *row.Trials
	}
	g.steps.add(row.StepTimesMS, trials, row.Tags, row.Pooled)
}

// record puts a value behind those of the nights so far.
func (g *gathering) record(name string, v float64) {
	series := g.values[name]
	for len(series) < len(g.Nights) {
		series = append(series, math.NaN())
	}
	g.values[name] = append(series, v)
}

// stepTime is NaN where nothing was measured, which the reference writes as 0.0.
func stepTime(row *night.Row) float64 {
	m := row.Metrics
	if m.MeanStepTimeMS == nil || *m.MeanStepTimeMS == 0 || m.StepTimeSource != nil && *m.StepTimeSource == report.SourceMissing {
		return math.NaN()
	}
	return *m.MeanStepTimeMS
}

// value is NaN for what is no number, such as a checksum in hex.
func value(v any) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}

// report closes the books.
func (r *reading) report() *Report {
	out := &r.Report
	for _, g := range r.cells {
		out.Cells = append(out.Cells, g.close(r.Options))
	}
	slices.SortFunc(out.Cells, func(a, b *Cell) int {
		return cmp.Or(cmp.Compare(a.Key.Entry, b.Key.Entry), cmp.Compare(a.Key.Cell, b.Key.Cell))
	})
	for from := 0; from < len(out.Cells); {
		to := from
		for to < len(out.Cells) && out.Cells[to].Key.Entry == out.Cells[from].Key.Entry {
			to++
		}
		found := stepFindings(out.Cells[from:to])
		for _, c := range out.Cells[from:to] {
			c.judge(out.Options, found)
		}
		from = to
	}
	return out
}

// close keeps the last nights of a cell.
func (g *gathering) close(o Options) *Cell {
	c := g.Cell
	all := len(c.Nights)
	from := max(all-o.Nights, 0)
	c.Nights = c.Nights[from:]
	c.steps.last(o.Nights)
	if all < o.Nights {
		c.Short = fmt.Sprintf("%d of %d nights", all, o.Nights)
		if c.Restart != nil {
			c.Short += fmt.Sprintf(" since the stack moved on %s: %s", c.Restart.Date, c.Restart.Moved)
		}
	}
	for name, series := range g.values {
		for len(series) < all {
			series = append(series, math.NaN())
		}
		policy, _ := metric.PolicyOf(name)
		if name == metric.StepTime {
			policy = metric.Max
		}
		series = series[from:]
		if !slices.ContainsFunc(series, func(v float64) bool { return !math.IsNaN(v) }) && policy == "" {
			continue // nothing to show: a text, or a metric of nights before the window
		}
		c.Metrics = append(c.Metrics, &Metric{Name: name, Policy: policy, Values: series})
	}
	slices.SortFunc(c.Metrics, func(a, b *Metric) int { return cmp.Compare(a.Name, b.Name) })
	return c
}
