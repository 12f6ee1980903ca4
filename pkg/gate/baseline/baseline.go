// Package baseline is the file of blessed bounds and the judge that holds a measured cell against
// them.
//
// The file is the reference's baselines YAML, version 1:
//
//	version: 1
//	baselines:
//	  serve_smoke::baseline:
//	    passed: true
//	    metrics:
//	      median_tpot_ms: {policy: max, value: 2.3922}
//
// A cell without a key is recorded and nothing more. A key without bounds asks that the cell
// passes. Everything that would silently guard nothing is refused when the file is read: an unknown
// key, a bound without a value, a policy nobody knows, a null, a quoted number, a NaN.
package baseline

import (
	"cmp"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// File is a baselines file.
type File struct {
	// Path is where it was read from.
	Path string
	// Specs holds what is asked of each cell.
	Specs map[Key]*Spec
}

// Cells returns the cells that the file names for an entry, sorted.
func (f *File) Cells(entry string) []string {
	var cells []string
	for k := range f.Specs {
		if k.Entry == entry {
			cells = append(cells, k.Cell)
		}
	}
	slices.Sort(cells)
	return cells
}

// Keys returns every key, sorted.
func (f *File) Keys() []Key {
	keys := make([]Key, 0, len(f.Specs))
	for k := range f.Specs {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Cell, b.Cell))
	})
	return keys
}

// Spec is what is asked of one cell.
type Spec struct {
	// Passed is false for an expected failure: the cell is known to fail, and is reported as soon
	// as it does not.
	Passed bool
	// Reason says why a gate of this cell was given up or loosened the last time; "" where none was.
	Reason string
	// StepTime is the ceiling of mean_step_time_ms; nil where there is none.
	StepTime *StepTime
	// Bounds are the metric bounds in the order of the file.
	Bounds []Bound
}

// StepTime is the step_time_ms block.
type StepTime struct {
	// Max is the ceiling in milliseconds.
	Max float64
	// Provenance says where the bound comes from; nil where the file does not.
	Provenance *Provenance
}

// Bound is one metric's bound.
type Bound struct {
	// Metric is the metric's name.
	Metric string
	// Policy is the one stated, else the one the metric has by name.
	Policy metric.Policy
	// Value is a float64 for min and max; for equal it may also be a json.Number, a string or a bool.
	Value any
	// Required is false where an absent metric is no failure. What is there is held to the bound
	// either way.
	Required bool
	// Provenance says where the bound comes from; nil where the file does not.
	Provenance *Provenance
}

// Provenance is how a bound was derived, so that it can be derived again.
type Provenance struct {
	// Rule is "extremum" or "screened", each over a window of nights, or "run" for a single run.
	Rule string `json:"rule,omitempty"`
	// Margin is the headroom over the window's worst night, 0.25 for a quarter.
	Margin *float64 `json:"margin,omitempty"`
	// Fingerprint is the stack the nights ran on. The bound holds on that stack only; without a
	// fingerprint it holds on every stack.
	Fingerprint report.Fingerprint `json:"fingerprint,omitempty"`
	// Nights are the window.
	Nights []Night `json:"nights,omitempty"`
	// FirstBlessed is the level of the metric's first bless, against which drift adds up.
	FirstBlessed any `json:"first_blessed,omitempty"`
}

// Night is one night of a window.
type Night struct {
	Run     int64   `json:"run" strict:"required"`
	Attempt int     `json:"attempt,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
	Value   float64 `json:"value" strict:"required"`
}
