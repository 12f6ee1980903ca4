package stats

import (
	"math"
	"sort"
)

// BreachRate is the share of (held-out value, n-subset of the others) pairs in which the held-out value breaches the
// bound that the subset's extremum sets, counted exactly over all pairs. With upper the extremum is the maximum and a
// value above bound(maximum) breaches; otherwise the minimum and a value below bound(minimum). bound must not
// decrease. NaN when n is below 1 or not below len(xs).
func BreachRate(xs []float64, n int, upper bool, bound func(extremum float64) float64) float64 {
	others := len(xs) - 1
	if n < 1 || n > others {
		return math.NaN()
	}
	// A subset is breached when every member's own bound is, because bound is monotone: the members are then among the
	// k others with the mildest bounds.
	bounds := make([]float64, len(xs))
	for i, x := range xs {
		bounds[i] = bound(x)
	}
	sorted := Sorted(bounds)
	breaches := 0.0
	for i, x := range xs {
		breached := func(b float64) bool { return upper && x > b || !upper && x < b }
		k := sort.Search(len(sorted), func(j int) bool { return !breached(sorted[j]) })
		if !upper {
			k = len(sorted) - sort.Search(len(sorted), func(j int) bool { return breached(sorted[j]) })
		}
		if breached(bounds[i]) {
			k-- // x is not among the others
		}
		breaches += subsetShare(k, others, n)
	}
	return breaches / float64(len(xs))
}

// subsetShare is C(k, n) / C(m, n): the share of n-subsets of m things that lie within k of them.
func subsetShare(k, m, n int) float64 {
	share := 1.0
	for i := range n {
		if k-i <= 0 {
			return 0
		}
		share *= float64(k-i) / float64(m-i)
	}
	return share
}
