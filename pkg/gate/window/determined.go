package window

import (
	"fmt"
	"math"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// rates are metrics that restate each other where a recipe pins the lengths, the most telling first.
var rates = []string{"output_throughput", "total_token_throughput", "tokens_per_sec", "request_throughput", "throughput", "samples_per_sec"}

// The tolerances within which one metric determines another on every night.
const (
	rateTolerance = 1e-3 // what rounding leaves of a constant ratio
	sumTolerance  = 0.02 // medians do not add up exactly
	ownShare      = 0.1  // of the metric's own range, for metrics that are not known to be related
)

// determined finds out which metrics of the cell follow from others that could be gated, and says how.
// Arming them would add words to an event and no detection.
func (c *Cell) determined() {
	var candidates []*Metric
	for _, m := range c.Metrics {
		if metric.AutoGateable(m.Name) && m.complete() {
			candidates = append(candidates, m)
		}
	}
	slices.SortStableFunc(candidates, func(a, b *Metric) int { return rank(a.Name) - rank(b.Name) })
	for i, m := range candidates {
		for _, base := range candidates[:i] {
			if base.DeterminedBy == "" && follows(m, base) {
				m.DeterminedBy = base.Name
				break
			}
		}
	}
	if m := c.Metric("median_e2el_ms"); m != nil && m.DeterminedBy == "" && c.sums(m, "median_ttft_ms", "median_tpot_ms") {
		m.DeterminedBy = "median_ttft_ms and median_tpot_ms"
	}
}

func rank(name string) int {
	if i := slices.Index(rates, name); i >= 0 {
		return i
	}
	return len(rates)
}

// follows reports whether m is base times a constant, or a constant over base.
func follows(m, base *Metric) bool {
	tolerance := rateTolerance
	related := rank(m.Name) < len(rates) && rank(base.Name) < len(rates)
	own := math.Log(m.Max / m.Min)
	if !related {
		if own == 0 {
			return false // two constants tell nothing of each other
		}
		tolerance = min(tolerance, ownShare*own)
	}
	sign := 1.0
	if m.Policy != base.Policy {
		sign = -1
	}
	ratios := make([]float64, len(m.Values))
	for i := range ratios {
		ratios[i] = math.Log(m.Values[i]) - sign*math.Log(base.Values[i])
	}
	return slices.Max(ratios)-slices.Min(ratios) <= tolerance
}

// sums reports whether m is the first metric plus a constant number of the second on every night, as an
// end-to-end time is the time to the first token and one more token time for each further token.
func (c *Cell) sums(m *Metric, first, second string) bool {
	a, b := c.Metric(first), c.Metric(second)
	if a == nil || b == nil || !m.complete() || !a.complete() || !b.complete() {
		return false
	}
	times := make([]float64, len(m.Values))
	for i := range times {
		times[i] = (m.Values[i] - a.Values[i]) / b.Values[i]
	}
	k := stats.Median(times)
	if k <= 0 {
		return false
	}
	for i, v := range m.Values {
		if math.Abs(v/(a.Values[i]+k*b.Values[i])-1) > sumTolerance {
			return false
		}
	}
	return true
}

// complete reports whether the metric was recorded as a number above zero on every night.
func (m *Metric) complete() bool {
	return len(m.Values) > 0 && !slices.ContainsFunc(m.Values, func(v float64) bool { return !(v > 0) })
}

// redundant is the reason that a determined metric is held back for.
func (m *Metric) redundant() string {
	return fmt.Sprintf("redundant: it follows from %s on every night, so a bound adds no detection", m.DeterminedBy)
}
