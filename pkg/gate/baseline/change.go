package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Became says what became of a gate between two baselines files.
type Became string

// What becomes of a gate. Loosened, Changed, Lost and Reverted guard less than before, or something
// else, and want a reason.
const (
	Unchanged Became = "unchanged"
	Gained    Became = "gained"
	Tightened Became = "tightened"
	Loosened  Became = "loosened"
	Changed   Became = "changed"  // another checksum
	Lost      Became = "lost"     // the bound or the whole key is gone
	Reverted  Became = "reverted" // all bounds of a cell are gone and it is asked to pass: record-only again
)

// StepTimeGate names the bound on the step time among a cell's gates, PassedGate that the cell is asked
// to pass (or, where it is an expected failure, not to).
const (
	StepTimeGate = "step_time_ms.max"
	PassedGate   = "passed"
)

// Change is one gate in two baselines files.
type Change struct {
	Key Key
	// Gate is a metric's name, [StepTimeGate] or [PassedGate].
	Gate   string
	Became Became
	// Policy is that of the bound, "" for PassedGate.
	Policy metric.Policy
	// Old and New are the bounds; nil where there is none.
	Old, New any
	// Provenance is that of the new bound; nil where it has none.
	Provenance *Provenance
	// Why adds what the bounds do not show, such as that the metric is no longer required.
	Why string
}

// WantsReason reports whether the change gives up something that was guarded.
func (c Change) WantsReason() bool {
	return c.Became == Loosened || c.Became == Changed || c.Became == Lost || c.Became == Reverted
}

// Moved is how far the bound went for the worse as a share of the old one, negative where it was
// tightened; false where it is no number.
func (c Change) Moved() (float64, bool) { return worse(c.Policy, c.Old, c.New) }

// Drift is how far the new bound lies from the level first blessed, for the worse, as a share of it;
// false where that is not recorded.
func (c Change) Drift() (float64, bool) {
	if c.Provenance == nil {
		return 0, false
	}
	return worse(c.Policy, c.Provenance.FirstBlessed, c.New)
}

// looser is above 0 where a bound lets more through than the old one, below 0 where less; false where
// they are no floors or ceilings.
func looser(policy metric.Policy, old, now any) (int, bool) {
	a, ok := float(old)
	b, ok2 := float(now)
	way := cmp.Compare(b, a)
	if policy == metric.Min {
		way = -way
	}
	return way, ok && ok2 && (policy == metric.Min || policy == metric.Max)
}

// worse is how far a bound lies from another for the worse, as a share of that.
func worse(policy metric.Policy, from, to any) (float64, bool) {
	a, ok := float(from)
	b, ok2 := float(to)
	share := math.Abs(b-a) / math.Abs(a)
	way, isNumber := looser(policy, from, to)
	return share * float64(way), ok && ok2 && isNumber && metric.Finite(share)
}

// String tells the change in words.
func (c Change) String() string {
	text := fmt.Sprintf("%s %s", c.Gate, c.Became)
	switch share, ok := c.Moved(); {
	case c.Became == Gained:
		text += fmt.Sprintf(" (%s)", plain(c.New))
	case c.Became == Lost || c.Became == Reverted:
		text += fmt.Sprintf(" (was %s)", plain(c.Old))
	case c.Became == Unchanged:
	case ok:
		text += fmt.Sprintf(" from %s to %s (%+.1f %%)", plain(c.Old), plain(c.New), 100*share)
	default:
		text += fmt.Sprintf(" from %s to %s", plain(c.Old), plain(c.New))
	}
	if c.Why != "" {
		text += ": " + c.Why
	}
	return text
}

// Field is where the gate is in its file, or where it was.
func (c Change) Field() string {
	path := []any{"baselines", c.Key.String()}
	switch c.Gate {
	case PassedGate:
	case StepTimeGate:
		path = append(path, "step_time_ms", "max")
	default:
		path = append(path, "metrics", c.Gate)
	}
	return strict.Field(path...)
}

// Compare lists every gate of two files, sorted by key; within a cell passed comes first, then the step
// time, then the metrics by name.
func Compare(base, head *File) []Change {
	both := &File{Specs: map[Key]*Spec{}}
	for _, f := range []*File{base, head} {
		for k := range f.Specs {
			both.Specs[k] = nil
		}
	}
	var changes []Change
	for _, key := range both.Keys() {
		changes = append(changes, compareCell(key, base.Specs[key], head.Specs[key])...)
	}
	return changes
}

func compareCell(key Key, old, now *Spec) []Change {
	before, after := gates(old), gates(now)
	var changes []Change
	for gate, was := range before {
		changes = append(changes, compareGate(key, gate, &was, at(after, gate)))
	}
	for gate, is := range after {
		if _, there := before[gate]; !there {
			changes = append(changes, compareGate(key, gate, nil, &is))
		}
	}
	reverted := now != nil && now.Passed && numeric(before) && !numeric(after)
	for i := range changes {
		if reverted && changes[i].Became == Lost {
			changes[i].Became = Reverted
		}
	}
	rank := func(gate string) int { return slices.Index([]string{StepTimeGate, PassedGate}, gate) }
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(b.Gate), rank(a.Gate)), cmp.Compare(a.Gate, b.Gate))
	})
	return changes
}

// gates are the gates of a cell by name. An expected failure is asked for nothing else.
func gates(s *Spec) map[string]Bound {
	all := map[string]Bound{}
	if s == nil {
		return all
	}
	all[PassedGate] = Bound{Value: s.Passed, Required: true}
	if !s.Passed {
		return all
	}
	if s.StepTime != nil {
		all[StepTimeGate] = Bound{Policy: metric.Max, Value: s.StepTime.Max, Required: true, Provenance: s.StepTime.Provenance}
	}
	for _, b := range s.Bounds {
		all[b.Metric] = b
	}
	return all
}

func at(gates map[string]Bound, name string) *Bound {
	if b, ok := gates[name]; ok {
		return &b
	}
	return nil
}

// numeric reports whether there is a floor or a ceiling among the gates.
func numeric(gates map[string]Bound) bool {
	for _, b := range gates {
		if b.Policy == metric.Min || b.Policy == metric.Max {
			return true
		}
	}
	return false
}

func compareGate(key Key, gate string, old, now *Bound) Change {
	c := Change{Key: key, Gate: gate, Became: Unchanged}
	if old != nil {
		c.Old, c.Policy = old.Value, old.Policy
	}
	if now != nil {
		c.New, c.Policy, c.Provenance = now.Value, now.Policy, now.Provenance
	}
	looser, isNumber := looser(c.Policy, c.Old, c.New)
	switch {
	case old == nil:
		c.Became = Gained
	case now == nil:
		c.Became = Lost
	case gate == PassedGate && old.Value != now.Value:
		c.Became = Gained
		if now.Value == false {
			c.Became, c.Why = Loosened, "the cell is now expected to fail, and none of its bounds is held"
		}
	case old.Policy != now.Policy:
		c.Became, c.Why = Loosened, fmt.Sprintf("its policy was %s, is %s", old.Policy, now.Policy)
	case !isNumber && !equal(old.Value, now.Value):
		c.Became = Changed
	case old.Required && !now.Required:
		c.Became, c.Why = Loosened, "it is no longer required"
	case looser > 0:
		c.Became = Loosened
	case looser < 0 || !old.Required && now.Required:
		c.Became = Tightened
	}
	return c
}
