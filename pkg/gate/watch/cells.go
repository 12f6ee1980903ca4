package watch

import (
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// vanished finds cells of an entry's recipe that the last nights did not measure although they measured
// others of the entry. An entry of which nothing is measured is stale, and told as that.
func (r *record) vanished(e *matrix.Entry, rec *recipe.Recipe, nights int) (found strict.Problems) {
	last := r.last(nights)
	if len(last) < nights || !slices.ContainsFunc(last, func(n *scheduled) bool { return n.has(e.Name) }) {
		return nil
	}
	for _, c := range rec.Cells {
		key := baseline.Key{Entry: e.Name, Cell: c.Name}
		if slices.ContainsFunc(last, func(n *scheduled) bool { return n.cells[key] != nil && n.cells[key].measured }) {
			continue
		}
		found = append(found, finding(RuleVanished, key.String(), "look at its rows in the last nights", "the last %d nights measured other cells of the entry and not this one (%s)", nights, since(r.measured[key])))
	}
	return found
}

func (n *scheduled) has(entry string) bool {
	for key, s := range n.cells {
		if key.Entry == entry && s.measured {
			return true
		}
	}
	return false
}

// gates finds bounds of the baselines file that none of the last nights held anything to: the file looks
// guarded and is not. An expected failure holds none.
func (r *record) gates(f *baseline.File, nights int) (found strict.Problems) {
	last := r.last(nights)
	if len(last) < nights {
		return nil
	}
	for _, key := range f.Keys() {
		spec := f.Specs[key]
		if !spec.Passed {
			continue
		}
		var names []string
		if spec.StepTime != nil {
			names = append(names, baseline.StepTimeGate)
		}
		for _, b := range spec.Bounds {
			if b.Required {
				names = append(names, b.Metric)
			}
		}
		for _, gate := range names {
			if slices.ContainsFunc(last, func(n *scheduled) bool { return n.cells[key] != nil && slices.Contains(n.cells[key].gated, gate) }) {
				continue
			}
			found = append(found, finding(RuleGate, key.String()+" "+gate, "the cell may be skipped, or the bound may be of another stack: derive it again, or revert it with a reason",
				"no bound on it was held in the last %d nights (%s)", nights, since(r.gated[key][gate])))
		}
	}
	return found
}

// excursions finds gates that only the confirming run saved, too often.
func (r *record) excursions() (found strict.Problems) {
	counts := map[baseline.Key]map[string]int{}
	for _, n := range r.last(excursionNights) {
		for key, s := range n.cells {
			for _, gate := range s.excursions {
				if counts[key] == nil {
					counts[key] = map[string]int{}
				}
				counts[key][gate]++
			}
		}
	}
	for key, gates := range counts {
		for gate, n := range gates {
			if n > excursionLimit {
				found = append(found, finding(RuleExcursion, key.String()+" "+gate, "look for what is slow in those nights; a bound that is reached so often is no bound",
					"was breached and not confirmed in %d of the last %d nights, the limit is %d", n, len(r.last(excursionNights)), excursionLimit))
			}
		}
	}
	return found
}

// since says when something was last seen.
func since(at time.Time) string {
	if at.IsZero() {
		return "never before either"
	}
	return "last on " + at.UTC().Format(time.DateOnly)
}
