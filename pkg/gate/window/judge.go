package window

import (
	"fmt"
	"math"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// judge looks at every metric of the cell. found are the findings about the steps of its entry.
func (c *Cell) judge(o Options, found []string) {
	c.Findings = slices.Clone(found)
	if text := c.steps.modes(); text != "" {
		c.Findings = append(c.Findings, text)
	}
	if len(c.Nights) > 0 && len(c.Fingerprint) == 0 {
		// It cannot be a reason, since the reference's own nights may know nothing of the stack.
		defer func() { c.Findings = append(c.Findings, noStack) }()
	}
	for _, m := range c.Metrics {
		m.describe()
	}
	c.determined()
	excursions := c.steps.excursions()
	for _, m := range c.Metrics {
		c.metric(m, o, excursions)
	}
}

const noStack = "no stack was recorded: nothing shows that these nights ran on one"

// describe fills the plain figures.
func (m *Metric) describe() {
	s := stats.Sorted(m.present())
	m.Min, m.Median, m.Max = math.NaN(), math.NaN(), math.NaN()
	if len(s) > 0 {
		m.Min, m.Median, m.Max = s[0], stats.Percentile(s, 50), s[len(s)-1]
	}
	m.Up, m.Down = m.Max/m.Median-1, m.Median/m.Min-1
}

// present are the nights on which the metric was recorded as a number.
func (m *Metric) present() []float64 {
	return slices.DeleteFunc(slices.Clone(m.Values), math.IsNaN)
}

// metric comes to a verdict.
func (c *Cell) metric(m *Metric, o Options, excursions [][]string) {
	if reason := never(m.Name); reason != "" {
		m.Verdict, m.Reasons = Never, []string{reason}
		return
	}
	m.split(excursions)
	faults := c.faults(m)
	if len(faults) == 0 {
		m.Extremum, m.Screened = Extremum.Derive(m.Policy, m.Values, o.Margins), Screened.Derive(m.Policy, m.Values, o.Margins)
		m.Bound = m.Extremum
		if o.Rule == Screened {
			m.Bound = m.Screened
		}
		m.twoModes(o, excursions)
		faults = append(c.unfit(m, o), shape(m.Policy, m.Values, o.Rule)...)
	}
	if c.Short != "" {
		faults = append([]string{"window: " + c.Short}, faults...)
	}
	m.Armable = len(faults) == 0
	held := m.held()
	m.Verdict = RecordOnly
	if m.Armable && (len(held) == 0 || o.Promote(c.Key, m.Name)) {
		m.Verdict, held = Gate, nil
	}
	m.Reasons = append(faults, held...)
}

// faults lists what lets no bound be derived at all.
func (c *Cell) faults(m *Metric) []string {
	present := m.present()
	switch {
	case len(m.Values) == 0:
		return []string{"window: no night was admitted"}
	case len(present) < len(m.Values):
		return []string{fmt.Sprintf("recorded as a number on %d of %d nights", len(present), len(m.Values))}
	case slices.Min(present) <= 0:
		return []string{fmt.Sprintf("a night recorded %s: from zero there is no margin", number(slices.Min(present)))}
	}
	return nil
}

// unfit lists what the definition of the metric and the steps of the cell have against it.
func (c *Cell) unfit(m *Metric, o Options) []string {
	var faults []string
	if !metric.Immune(m.Name) {
		for _, f := range c.Findings {
			faults = append(faults, "excursions: "+f)
		}
	} else if m.OnExcursions > 1+o.Margins.Of(o.Rule, m.Policy) {
		faults = append(faults, fmt.Sprintf("excursions: it moved %.2f x on a night with an excursion, although it is measured between tokens", m.OnExcursions))
	}
	if text := c.tail(m.Name); text != "" {
		faults = append(faults, text)
	}
	return faults
}

// held lists why a first bless leaves an armable metric alone.
func (m *Metric) held() []string {
	var reasons []string
	if m.DeterminedBy != "" {
		reasons = append(reasons, m.redundant())
	}
	if !metric.Immune(m.Name) {
		reasons = append(reasons, "exposed: what delays a first token, such as a compilation, goes into it; armed when named (--perf-gate-metric)")
	}
	return reasons
}

// split compares the nights with an excursion to the others.
func (m *Metric) split(excursions [][]string) {
	struck, clean := m.parts(excursions)
	if len(struck) == 0 || len(clean) == 0 {
		return
	}
	usual := stats.Median(clean)
	if m.Policy == metric.Min {
		m.OnExcursions = usual / slices.Min(struck)
	} else {
		m.OnExcursions = slices.Max(struck) / usual
	}
}

func (m *Metric) parts(excursions [][]string) (struck, clean []float64) {
	for i, v := range m.Values {
		switch {
		case !(v > 0):
		case len(excursions[i]) > 0:
			struck = append(struck, v)
		default:
			clean = append(clean, v)
		}
	}
	return struck, clean
}

// twoModes works out what a bound comes to with and without the nights that are excursions, where they
// moved the metric by more than its margin.
func (m *Metric) twoModes(o Options, excursions [][]string) {
	struck, clean := m.parts(excursions)
	if margin := o.Margins.Of(o.Rule, m.Policy); m.OnExcursions <= 1+margin || len(struck) == 0 {
		clean, struck = Screen(m.Policy, m.Values)
	}
	if len(struck) == 0 || len(clean) == 0 {
		return
	}
	without := Extremum.Derive(m.Policy, clean, o.Margins)
	with := Extremum.Derive(m.Policy, m.Values, o.Margins)
	worst, usual := with.Anchor, stats.Median(clean)
	modes := &Modes{Without: without, With: with, Reads: worst / without.Value, Blind: with.Value / usual}
	if m.Policy == metric.Min {
		modes.Reads, modes.Blind = without.Value/worst, usual/with.Value
	}
	if modes.Reads > 1 {
		m.Modes = modes
	}
}
