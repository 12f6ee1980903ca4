package window

import (
	"math"
	"strconv"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// Rule is how a bound is derived from a window.
type Rule string

// The rules.
const (
	// Extremum is the reference's: the window's maximum x 1.25, or its minimum x 0.85.
	Extremum Rule = "extremum"
	// Screened leaves excursions out, then takes the extremum x 1.10, or ÷ 1.10 for a floor.
	Screened Rule = "screened"
)

// Margins are the headroom of the rules, as shares.
type Margins struct {
	// Ceiling is the extremum rule's for every max metric and the step time; 0 is 0.25.
	Ceiling float64
	// Floor is the extremum rule's for min metrics; 0 is 0.15.
	Floor float64
	// Screened is the screened rule's; 0 is 0.10.
	Screened float64
}

func (m Margins) withDefaults() Margins {
	orElse := func(v *float64, otherwise float64) {
		if *v == 0 {
			*v = otherwise
		}
	}
	orElse(&m.Ceiling, 0.25)
	orElse(&m.Floor, 0.15)
	orElse(&m.Screened, 0.10)
	return m
}

// Of is the margin of a rule for a policy.
func (m Margins) Of(r Rule, p metric.Policy) float64 {
	switch {
	case r == Screened:
		return m.Screened
	case p == metric.Min:
		return m.Floor
	}
	return m.Ceiling
}

// Bound is a bound with what it can see.
type Bound struct {
	Rule   Rule
	Margin float64
	// Anchor is the value that it stands on, Value the bound, rounded.
	Anchor, Value float64

	// Detects is the smallest lasting change for the worse that takes the median night over the bound,
	// Certain the one that takes every night of the window over it; both as a share of the metric
	// (0.26: a latency up by 26 %, or a throughput down by 26 %).
	Detects, Certain float64
	// Residual is the share of the window's nights that breach the bound of all the others, by the
	// exact count.
	Residual float64
	// FalseAlarms and OneShot count false alarms in 100 healthy nights, with and without the
	// confirming run, by a log-normal law fitted to the window and the excursions seen in it.
	FalseAlarms, OneShot float64
	// Sees20 and Sees30 are the chance that a change for the worse by 20 or 30 % is confirmed within
	// three nights, by the same law.
	Sees20, Sees30 float64
}

// Derive gives the bound of a rule over values, which must be finite and above zero. The same values in
// any order give the same bound.
func (r Rule) Derive(policy metric.Policy, values []float64, m Margins) Bound {
	if len(values) == 0 {
		return Bound{}
	}
	margin := m.withDefaults().Of(r, policy)
	b := Bound{Rule: r, Margin: margin, Anchor: r.anchor(policy, values)}
	b.Value = Round(policy, b.Anchor, r.loosen(policy, b.Anchor, margin))
	b.judge(policy, values, r)
	return b
}

// anchor is the worst night, or under the screened rule the worst that is no excursion.
func (r Rule) anchor(policy metric.Policy, values []float64) float64 {
	if r == Screened {
		values, _ = Screen(policy, values)
	}
	s := stats.Sorted(values)
	if policy == metric.Min {
		return s[0]
	}
	return s[len(s)-1]
}

// loosen puts the margin on an anchor.
func (r Rule) loosen(policy metric.Policy, anchor, margin float64) float64 {
	switch {
	case policy != metric.Min:
		return anchor * (1 + margin)
	case r == Screened:
		return anchor / (1 + margin)
	}
	return anchor * (1 - margin)
}

// screenLimit is the least distance from the median at which a night may be an excursion, as a ratio.
const screenLimit = 1.10

// Screen parts the values that lie on the healthy side, or not far from the median on the other, from
// excursions: those further than five deviations (MAD scaled to sigma, in ratios) and than 10 %.
func Screen(policy metric.Policy, values []float64) (kept, excursions []float64) {
	logs := logarithms(values)
	median := stats.Median(logs)
	limit := max(5*stats.MADSigma*stats.MAD(logs), math.Log(screenLimit))
	for i, v := range values {
		off := logs[i] - median
		if policy == metric.Min {
			off = -off
		}
		if off > limit {
			excursions = append(excursions, v)
		} else {
			kept = append(kept, v)
		}
	}
	return kept, excursions
}

func logarithms(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return logs
}

// Round rounds a bound to four decimals, as the reference does. Where that would lose more than 1 % of
// the headroom between anchor and bound (of a metric of some microseconds all of it), it rounds outward
// instead, with as few more digits as keep the loss below that.
func Round(policy metric.Policy, anchor, bound float64) float64 {
	const decimals, most = 4, 17
	loss := 0.01 * math.Abs(bound-anchor)
	if r := fix(bound, decimals); math.Abs(r-bound) <= loss {
		return r
	}
	for d := decimals + 1; d <= most; d++ {
		r := fix(bound, d)
		if policy == metric.Min && r > bound {
			r = fix(r-math.Pow10(-d), d)
		} else if policy != metric.Min && r < bound {
			r = fix(r+math.Pow10(-d), d)
		}
		if math.Abs(r-bound) <= loss {
			return r
		}
	}
	return bound
}

// fix rounds to decimals, half to even, by the exact value, as Python's round does.
func fix(v float64, decimals int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	return r
}

// Residual is the share of (night, window of n other nights) pairs in which the night breaches the bound
// that the window's extremum gives under the extremum rule with the margin, counted exactly over all of
// them; NaN where n is not below the number of values.
func Residual(policy metric.Policy, values []float64, n int, margin float64) float64 {
	return stats.BreachRate(values, n, policy != metric.Min, func(x float64) float64 { return Extremum.loosen(policy, x, margin) })
}
