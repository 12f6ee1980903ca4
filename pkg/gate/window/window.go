// Package window turns a history into bounds that can prove themselves. It admits the nights that may
// bear witness for a cell, looks at the shape of each metric over them, and says which bound they
// give, what that bound can see, and why a metric is not to be armed.
package window

import (
	"context"
	"iter"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// The number of nights a bound is derived from, and the least an operator may ask for.
const (
	DefaultNights = 10
	LeastNights   = 5
)

// Options say which window is wanted.
type Options struct {
	// Nights is the length of the window; 0 is DefaultNights.
	Nights int
	// Lane is the lane whose runs count; "" is "gate".
	Lane string
	// Rule derives the bound; "" is Extremum.
	Rule Rule
	// Margins are the rules' headroom; zero fields take their default.
	Margins Margins
	// Promote tells of a metric that the operator named, or that is armed already: it may be armed
	// although it is exposed or determined by another. nil promotes none.
	Promote func(key baseline.Key, metric string) bool
}

// Report is what a history says about every cell in it.
type Report struct {
	// Rule, Margins and Nights are the options with their defaults.
	Rule    Rule
	Margins Margins
	Nights  int
	Lane    string
	// Runs counts the run files read.
	Runs int
	// Cells are sorted by key.
	Cells []*Cell
}

// Cell returns the cell of a key, nil where the history has none.
func (r *Report) Cell(key baseline.Key) *Cell { return nil }

// Cell is the window of one cell.
type Cell struct {
	Key baseline.Key
	// Nights were admitted, oldest first; at most the number asked for.
	Nights []Night
	// Fingerprint is the stack that all of them ran on.
	Fingerprint report.Fingerprint
	// Excluded are the runs since the last restart that were not admitted.
	Excluded []Excluded
	// Restart is the last change of the stack, nil where there was none.
	Restart *Restart
	// Short says why there is no window, "" where there is one: "4 of 10 nights …".
	Short string
	// Metrics are everything that the cell recorded, sorted by name; the step time is
	// "mean_step_time_ms".
	Metrics []Metric
	// Findings are about the cell as a whole: two modes in the steps, excursions of step 0.
	Findings []string
}

// Metric returns the metric of a name, nil where the cell recorded none.
func (c *Cell) Metric(name string) *Metric { return nil }

// Night is one admitted night of a cell.
type Night struct {
	Run     int64
	Attempt int
	SHA256  string
	// Date is the UTC day, "2026-09-08".
	Date string
}

// Excluded is a run that does not count for a cell.
type Excluded struct {
	Run     int64
	Attempt int
	Date    string
	Reason  string
}

// Restart is a change of the stack: nights before Run say nothing about the stack of today.
type Restart struct {
	Run  int64
	Date string
	// Moved names the field with both values.
	Moved string
}

// Verdict is what is to be done with a metric.
type Verdict string

// The verdicts of a metric.
const (
	Gate       Verdict = "gate"        // arm it
	RecordOnly Verdict = "record-only" // not now, and the reasons say what it waits for
	Never      Verdict = "never"       // no window will change that
)

// Metric is one metric of a cell over its window.
type Metric struct {
	Name string
	// Policy is "" where the metric has none.
	Policy metric.Policy
	// Values are the nights', oldest first, one for each night of the cell; NaN where a night did not
	// record the metric.
	Values []float64
	// Min, Median and Max are over the window.
	Min, Median, Max float64
	// Up is Max over Median less 1, Down is Median over Min less 1.
	Up, Down float64

	// Verdict is what to do under the rule asked for, and Reasons why.
	Verdict Verdict
	Reasons []string
	// Armable tells that the window can bear a bound, whatever the verdict is.
	Armable bool

	// Bound is the bound under the rule asked for; Extremum and Screened are those of both rules.
	Bound, Extremum, Screened Bound
}

// Read reads a history once and judges every cell in it. An error of the history is returned as it is.
func Read(runs iter.Seq2[*history.Attempt, error], o Options) (*Report, error) { return nil, nil }

// Provenance is what a baselines file keeps beside the bound of a metric.
func (c *Cell) Provenance(m *Metric, o Options) *baseline.Provenance { return nil }

var _ context.Context
