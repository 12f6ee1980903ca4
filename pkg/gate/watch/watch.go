// Package watch notices the night that did not happen: no fresh measurement, a schedule that is off or
// fails before it measures, a runner that is gone, a gate that is never evaluated, a cell that vanished,
// a gate that is saved by its confirming run too often. Everything else of this wing speaks up when a
// night ran; this speaks up when none did.
package watch

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The rules of this package's findings.
const (
	RuleStale     = "stale"
	RuleFuture    = "future"
	RuleVanished  = "vanished"
	RuleGate      = "gate-not-evaluated"
	RuleExcursion = "excursion-rate"
	RuleSchedule  = "schedule"
	RuleMeasured  = "nothing-measured"
	RuleWaiting   = "waiting-for-runner"
	RuleRunner    = "runner"
)

// An excursion is passed and counted, and this is how many of how many nights are too many: the second
// look is for the rare night, not for a gate that sits on the edge.
const (
	excursionNights = 14
	excursionLimit  = 2
)

// skew is how far a night may lie in the future before a clock is wrong.
const skew = time.Hour

// seen is a cell in one scheduled night.
type seen struct {
	measured   bool
	gated      []string
	excursions []string // gates
}

// scheduled is one scheduled night: all attempts of one run.
type scheduled struct {
	run   int64
	start time.Time
	cells map[baseline.Key]*seen
}

// record is what a history says about its nights.
type record struct {
	nights   []*scheduled // the last ones, oldest first
	runs     map[int64]bool
	measured map[baseline.Key]time.Time            // the last time
	gated    map[baseline.Key]map[string]time.Time // by gate, the last time
}

// read goes through the history once and keeps the last nights of a lane.
func read(runs iter.Seq2[*history.Attempt, error], lane string, keep int) (*record, error) {
	r := &record{runs: map[int64]bool{}, measured: map[baseline.Key]time.Time{}, gated: map[baseline.Key]map[string]time.Time{}}
	for run, err := range runs {
		if err != nil {
			return nil, err
		}
		r.runs[run.RunID] = true
		if run.Build.Lane == lane && window.Scheduled(run) {
			r.attempt(run, max(keep, excursionNights))
		}
	}
	return r, nil
}

func (r *record) attempt(run *history.Attempt, keep int) {
	i := slices.IndexFunc(r.nights, func(n *scheduled) bool { return n.run == run.RunID })
	if i < 0 {
		i = len(r.nights)
		r.nights = append(r.nights, &scheduled{run: run.RunID, start: run.Start, cells: map[baseline.Key]*seen{}})
	}
	for j := range run.Entries {
		r.row(r.nights[i], run.Start, &run.Entries[j])
	}
	if len(r.nights) > keep {
		r.nights = r.nights[1:]
	}
}

func (r *record) row(n *scheduled, start time.Time, row *night.Row) {
	if row.Cell == nil {
		return
	}
	key := baseline.Key{Entry: row.Entry, Cell: *row.Cell}
	s := n.cells[key]
	if s == nil {
		s = &seen{}
		n.cells[key] = s
	}
	// A failed cell was measured as far as this is about: somebody is told of it already.
	if row.Verdict == baseline.Pass || row.Verdict == baseline.Record || row.Verdict == baseline.Fail {
		s.measured = true
		r.measured[key] = start
	}
	for _, gate := range row.Gated {
		s.gated = append(s.gated, gate)
		if r.gated[key] == nil {
			r.gated[key] = map[string]time.Time{}
		}
		r.gated[key][gate] = start
	}
	for _, b := range row.Excursions {
		s.excursions = append(s.excursions, b.Metric)
	}
}

// entry is the last time that anything of an entry was measured; zero where nothing ever was.
func (r *record) entry(name string) time.Time {
	var last time.Time
	for key, at := range r.measured {
		if key.Entry == name && at.After(last) {
			last = at
		}
	}
	return last
}

// last is the last n nights, fewer where there are fewer.
func (r *record) last(n int) []*scheduled { return r.nights[max(0, len(r.nights)-n):] }

// newest is the start of the last night in which anything was measured.
func (r *record) newest() time.Time {
	var last time.Time
	for _, at := range r.measured {
		if at.After(last) {
			last = at
		}
	}
	return last
}

func finding(rule, field, hint, format string, args ...any) strict.Problem {
	return strict.Problem{Field: field, Message: fmt.Sprintf(format, args...), Hint: hint, Rule: rule}
}
