package window

import (
	"math"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// judge says what a bound can see and how often it would cry wolf, by the window it came from.
func (b *Bound) judge(policy metric.Policy, values []float64, rule Rule) {
	s := stats.Sorted(values)
	median, best := stats.Percentile(s, 50), s[0]
	if policy == metric.Min {
		best = s[len(s)-1]
	}
	b.Detects, b.Certain = change(policy, median, b.Value), change(policy, best, b.Value)
	b.Residual = b.leaveOneOut(policy, s, rule)

	l := fit(policy, values)
	excursions := 0.0
	for _, v := range values {
		if worse(policy, v, b.Value) {
			excursions++
		}
	}
	once := math.Min(1, l.beyond(b.Value, 1)+excursions/float64(len(values)))
	b.OneShot, b.FalseAlarms = 100*once, 100*once*once
	b.Sees20, b.Sees30 = l.sees(b.Value, 1.2), l.sees(b.Value, 1.3)
}

// change is the change for the worse that takes from to to, as a share of from.
func change(policy metric.Policy, from, to float64) float64 {
	if policy == metric.Min {
		return 1 - to/from
	}
	return to/from - 1
}

func worse(policy metric.Policy, v, bound float64) bool {
	if policy == metric.Min {
		return v < bound
	}
	return v > bound
}

// leaveOneOut holds each night to the bound of all the others.
func (b *Bound) leaveOneOut(policy metric.Policy, sorted []float64, rule Rule) float64 {
	n := len(sorted)
	switch {
	case n < 2:
		return math.NaN()
	case rule == Extremum:
		return Residual(policy, sorted, n-1, b.Margin)
	}
	// Where there are many nights, leaving out one does not move the screen: the worst decide.
	const many, most = 30, 10
	candidates := sorted
	if n > many && policy == metric.Min {
		candidates = sorted[:most]
	} else if n > many {
		candidates = sorted[n-most:]
	}
	breaches := 0
	for _, v := range candidates {
		if worse(policy, v, rule.loosen(policy, rule.anchor(policy, without(sorted, v)), b.Margin)) {
			breaches++
		}
	}
	return float64(breaches) / float64(n)
}

// without is xs without one of the values v.
func without(xs []float64, v float64) []float64 {
	out := make([]float64, 0, len(xs))
	left := false
	for _, x := range xs {
		if x == v && !left {
			left = true
			continue
		}
		out = append(out, x)
	}
	return out
}

// law is the log-normal law of healthy nights.
type law struct {
	policy       metric.Policy
	centre, wide float64
}

// fit takes the law from the nights that are no excursions. Where all nights are alike, it is as wide
// as their rounding.
func fit(policy metric.Policy, values []float64) law {
	kept, _ := Screen(policy, values)
	logs := logarithms(kept)
	n := float64(len(logs))
	l := law{policy: policy, centre: stats.Median(logs)}
	if n > 1 {
		l.wide = stats.Std(logs) * math.Sqrt(n/(n-1))
	}
	l.wide = max(l.wide, quantum(values)/math.Sqrt(12)/math.Exp(l.centre))
	return l
}

// beyond is the chance that a night whose metric is worse by a factor lies beyond the bound.
func (l law) beyond(bound, factor float64) float64 {
	far := math.Log(bound) - l.centre
	if l.policy == metric.Min {
		far = -far
	}
	far -= math.Log(factor)
	if l.wide == 0 {
		if far < 0 {
			return 1
		}
		return 0
	}
	return 0.5 * math.Erfc(far/l.wide/math.Sqrt2)
}

// sees is the chance that a lasting change for the worse by a factor is found and confirmed the same
// night, within three nights.
func (l law) sees(bound, factor float64) float64 {
	p := l.beyond(bound, factor)
	return 1 - math.Pow(1-p*p, 3)
}
