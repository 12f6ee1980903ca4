// Package window turns a history into bounds that can prove themselves. It admits the nights that may
// bear witness for a cell, looks at the shape of each metric over them, and says which bound they give,
// what that bound can see, and why a metric is not to be armed.
//
// A window is the last nights of one cell that the schedule started, one for each night, all on one
// stack, in which the cell ran clean. A change of the stack does not average into a window: it begins
// the count again. Five nights are the floor, ten the default.
//
// A metric is armable where its shape over the window is that of one healthy population with room for
// a margin. A first bless arms those armable metrics only that an excursion before the first token
// cannot reach and that no other metric determines; the operator may name more.
package window

import (
	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// The number of nights a bound is derived from, and the least an operator may ask for.
const (
	DefaultNights = 10
	LeastNights   = 5
)

// DefaultLane is the lane of a night that names none.
const DefaultLane = "gate"

// Options say which window is wanted.
type Options struct {
	// Nights is the length of the window, at least LeastNights; 0 is DefaultNights.
	Nights int
	// Lane is the lane whose runs count; "" is DefaultLane.
	Lane string
	// Rule derives the bound; "" is Extremum.
	Rule Rule
	// Margins are the rules' headroom; fields that are zero take their default.
	Margins Margins
	// Promote tells of a metric that the operator named, or that is armed already: where its shape
	// allows, it is armed although it is exposed or determined by another. The step time is asked for
	// by [metric.StepTime]. nil promotes none.
	Promote func(key baseline.Key, metric string) bool
}

func (o Options) withDefaults() Options {
	if o.Nights == 0 {
		o.Nights = DefaultNights
	}
	if o.Lane == "" {
		o.Lane = DefaultLane
	}
	if o.Rule == "" {
		o.Rule = Extremum
	}
	if o.Promote == nil {
		o.Promote = func(baseline.Key, string) bool { return false }
	}
	o.Margins = o.Margins.withDefaults()
	return o
}

// Report is what a history says about every cell in it.
type Report struct {
	// Options are those it was made with, defaults filled in.
	Options Options
	// Runs counts the run files that were read, of every lane.
	Runs int
	// Excluded are whole runs that do not count, such as those that nobody scheduled.
	Excluded []Excluded
	// Cells are sorted by key.
	Cells []*Cell
}

// Cell returns the cell of a key, nil where the history has none.
func (r *Report) Cell(key baseline.Key) *Cell {
	for _, c := range r.Cells {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// Cell is the window of one cell.
type Cell struct {
	Key baseline.Key
	// Nights were admitted, oldest first; at most the number asked for.
	Nights []Night
	// Fingerprint is the stack that all of them ran on; empty where none was recorded.
	Fingerprint report.Fingerprint
	// Excluded are the runs since the last restart that were not admitted for this cell.
	Excluded []Excluded
	// Restart is the last change of the stack, nil where there was none.
	Restart *Restart
	// Short says why there is no window, "" where there is one: "6 of 10 nights".
	Short string
	// Findings are about the cell as a whole: excursions of the first step, two modes in the steps.
	Findings []string
	// Metrics are everything that the cell recorded, sorted by name; the step time is
	// [metric.StepTime].
	Metrics []*Metric

	steps steps
}

// Metric returns the metric of a name, nil where the cell did not record it.
func (c *Cell) Metric(name string) *Metric {
	for _, m := range c.Metrics {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Provenance is what a baselines file keeps beside the bound of a metric; nil where there is none.
func (c *Cell) Provenance(m *Metric) *baseline.Provenance {
	if m.Bound.Rule == "" {
		return nil
	}
	margin := m.Bound.Margin
	p := &baseline.Provenance{Rule: string(m.Bound.Rule), Margin: &margin, Fingerprint: c.Fingerprint}
	for i, n := range c.Nights {
		p.Nights = append(p.Nights, baseline.Night{Run: n.Run, Attempt: n.Attempt, SHA256: n.SHA256, Value: m.Values[i]})
	}
	return p
}

// Night is one admitted night of a cell.
type Night struct {
	Run     int64
	Attempt int
	// SHA256 is the digest of the run file.
	SHA256 string
	// Date is the UTC day on which the run started, "2026-09-08".
	Date string
	// Note is what a reviewer should know of the night: that it breached the bound of then.
	Note string
}

// Excluded is a run that does not count.
type Excluded struct {
	Run     int64
	Attempt int
	Date    string
	Reason  string
}

// Restart is a change of the stack: the nights before Run say nothing about the stack of today.
type Restart struct {
	Run  int64
	Date string
	// Moved names the first field that moved, with both values.
	Moved string
	// Lost counts the admitted nights before it.
	Lost int
}

// Verdict is what is to be done with a metric.
type Verdict string

// The verdicts of a metric.
const (
	Gate       Verdict = "gate"        // arm it
	RecordOnly Verdict = "record-only" // not now; the reasons say what it waits for
	Never      Verdict = "never"       // no window will change that
)

// Metric is one metric of a cell over its window.
type Metric struct {
	Name string
	// Policy is "" where the metric has none.
	Policy metric.Policy
	// Values are the nights', oldest first, one for each night of the cell; NaN where a night did not
	// record the metric as a number.
	Values []float64
	// Min, Median and Max are over the window; NaN where nothing was recorded.
	Min, Median, Max float64
	// Up is Max over Median less 1, Down is Median over Min less 1: the way to the extremes as ratios.
	Up, Down float64

	// Verdict is what to do under the rule that was asked for, and Reasons why, most telling first.
	Verdict Verdict
	Reasons []string
	// Armable tells that the window can bear a bound, whatever the verdict is: naming the metric
	// would arm it.
	Armable bool
	// DeterminedBy names the metrics that determine this one, "" where none do.
	DeterminedBy string
	// OnExcursions is the worst value of an excursion night over the median of the others (under it,
	// for a floor); 0 where there was no such night.
	OnExcursions float64

	// Bound is the bound under the rule asked for, Extremum and Screened those of both rules; zero
	// where the values bear none.
	Bound, Extremum, Screened Bound
	// Modes are both rows of the table of two modes; nil where there is one mode.
	Modes *Modes
}

// Modes is what a bound comes to when some nights of a window are excursions.
type Modes struct {
	// Without is the bound of a window that holds none, Reads how many times over it the excursion
	// is: a false alarm.
	Without Bound
	Reads   float64
	// With is the bound of a window that holds one, Blind the change for the worse, as a factor of the
	// healthy median, that passes under it.
	With  Bound
	Blind float64
}
