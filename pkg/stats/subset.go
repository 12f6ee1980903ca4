package stats

import "math"

// BreachRate is the share of (held-out value, n-subset of the others) pairs in which the held-out value breaches the
// bound that the subset's extremum sets, counted exactly over all pairs. With upper the extremum is the maximum and a
// value above bound(maximum) breaches; otherwise the minimum and a value below bound(minimum). bound must not
// decrease. NaN when n is below 1 or not below len(xs).
func BreachRate(xs []float64, n int, upper bool, bound func(extremum float64) float64) float64 {
	others := len(xs) - 1
	if n < 1 || n > others {
		return math.NaN()
	}
	breaches := 0.0
	for i, x := range xs {
		// The subset breaches when every member's own bound does, because bound is monotone.
		k := 0
		for j, y := range xs {
			if j != i && (upper && x > bound(y) || !upper && x < bound(y)) {
				k++
			}
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
