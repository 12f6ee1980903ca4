package bless

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

const evidenceHint = "derive it again with refresh-baselines; a bound set by hand has no provenance"

// arithmetic derives a bound again from the values that stand beside it.
func (c *checker) arithmetic(cl claim) {
	values := make([]float64, len(cl.Nights))
	for i, n := range cl.Nights {
		values[i] = n.Value
		if n.Value <= 0 || !metric.Finite(n.Value) {
			c.find("evidence", cl.field(), evidenceHint, "the value %v of run %d bears no margin", n.Value, n.Run)
			return
		}
	}
	if len(values) == 0 || cl.Margin == nil {
		c.find("evidence", cl.field(), evidenceHint, "the provenance lacks its nights or its margin")
		return
	}
	m := *cl.Margin
	var want float64
	switch rule := window.Rule(cl.Rule); {
	case rule == RuleRun && len(values) == 1 && cl.policy == metric.Min:
		want = window.Round(cl.policy, values[0], values[0]*(1-m))
	case rule == RuleRun && len(values) == 1:
		want = window.Round(cl.policy, values[0], values[0]*(1+m))
	case (rule == window.Extremum || rule == window.Screened) && m > 0:
		if len(values) < window.LeastNights {
			c.find("evidence", cl.field(), evidenceHint, "%d nights are no window: %d at least", len(values), window.LeastNights)
			return
		}
		want = rule.Derive(cl.policy, values, window.Margins{Ceiling: m, Floor: m, Screened: m}).Value
	default:
		c.find("evidence", cl.field(), evidenceHint, "rule %q with margin %g over %d night(s) derives nothing", cl.Rule, m, len(values))
		return
	}
	if want != cl.value {
		c.find("evidence", cl.field(), evidenceHint, "the bound is %v, and its %d night(s) give %v (rule %s, margin %g)", cl.value, len(values), want, cl.Rule, m)
	}
}

// asOf names a window: its last night and its length.
type asOf struct {
	run     int64
	attempt int
	nights  int
}

// rederive reads the history as of the last night of each window and holds the claims to it. A problem
// is the history's.
func (c *checker) rederive(ctx context.Context, claims []claim) (int, *strict.Problem) {
	windows := map[asOf]*window.Report{}
	for _, cl := range claims {
		if cl.Rule == RuleRun || len(cl.Nights) < window.LeastNights {
			continue // a run of its own is in no history, and what is no window was told
		}
		last := cl.Nights[len(cl.Nights)-1]
		at := asOf{last.Run, max(last.Attempt, 1), len(cl.Nights)}
		if _, known := windows[at]; !known {
			rep, err := c.read(ctx, at)
			if err != nil {
				p := historyProblem(err)
				return step.Usage, &p
			}
			windows[at] = rep
		}
		c.claimed(cl, windows[at])
	}
	return step.OK, nil
}

// read is the report of the history up to a night; nil where the history does not have it.
func (c *checker) read(ctx context.Context, at asOf) (*window.Report, error) {
	found := false
	var until iter.Seq2[*history.Attempt, error] = func(yield func(*history.Attempt, error) bool) {
		for run, err := range c.history.Runs(ctx) {
			if found && err == nil {
				continue // read on: what is unreadable behind it stops this reader too
			}
			if !yield(run, err) {
				return
			}
			found = err == nil && run.RunID == at.run && max(run.RunAttempt, 1) == at.attempt
		}
	}
	rep, err := window.Read(until, window.Options{Nights: at.nights, Lane: c.In.String("history-lane")})
	if err != nil || !found {
		return nil, err
	}
	return rep, nil
}

// claimed holds one bound to the window that the history gives as of its last night.
func (c *checker) claimed(cl claim, rep *window.Report) {
	refuse := func(format string, args ...any) {
		c.find("evidence", cl.field(), evidenceHint, format, args...)
	}
	if rep == nil {
		last := cl.Nights[len(cl.Nights)-1]
		c.gone(cl, fmt.Sprintf("run %d-%d is not in the history", last.Run, max(last.Attempt, 1)))
		return
	}
	cell := rep.Cell(cl.key)
	if cell == nil || cell.Metric(cl.metric) == nil {
		refuse("the history has no %s of %s", cl.metric, cl.key)
		return
	}
	if len(cell.Nights) < len(cl.Nights) && cell.Restart == nil {
		c.gone(cl, fmt.Sprintf("the history admits %d of its %d nights", len(cell.Nights), len(cl.Nights)))
		return
	}
	values := cell.Metric(cl.metric).Values
	for i, n := range cl.Nights {
		switch {
		case i >= len(cell.Nights) || cell.Nights[i].Run != n.Run || max(cell.Nights[i].Attempt, 1) != max(n.Attempt, 1):
			refuse("its nights are not those of the window that ends there: the history does not admit run %d-%d at place %d of %d", n.Run, max(n.Attempt, 1), i+1, len(cl.Nights))
			return
		case cell.Nights[i].SHA256 != n.SHA256:
			refuse("run %d-%d has the digest %.16s… in the history, and %.16s… here", n.Run, max(n.Attempt, 1), cell.Nights[i].SHA256, n.SHA256)
			return
		case values[i] != n.Value:
			refuse("run %d-%d measured %v, and %v stands here", n.Run, max(n.Attempt, 1), values[i], n.Value)
			return
		}
	}
	if !maps.Equal(cell.Fingerprint, cl.Fingerprint) {
		refuse("the stack of its nights is another than the one recorded: %s", cl.Fingerprint.Moved(cell.Fingerprint)+cell.Fingerprint.Moved(cl.Fingerprint))
	}
}

// gone tells of nights that the history does not have any more. Retention takes them in time, so a bound
// that did not change is not to be blamed; a new one is.
func (c *checker) gone(cl claim, what string) {
	if was := provenanceOf(c.base.Specs[cl.key], cl.gate); was != nil && was.Map().Equal(cl.Provenance.Map()) {
		c.Warn(c.head.Problem(cl.field(), "%s, so the bound cannot be derived again", what))
		return
	}
	c.find("evidence", cl.field(), "name the history that was derived from, and its lane", "%s", what)
}
