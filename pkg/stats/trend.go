package stats

import (
	"cmp"
	"math"
	"slices"
)

// MannKendall is the standard score of the Mann-Kendall trend test with correction for ties and continuity: how far
// the count of rising over falling pairs of a series is from that of a shuffled one. 0 for fewer than three values or
// none that differ.
func MannKendall(xs []float64) float64 {
	n := len(xs)
	s := 0
	for i := range xs {
		for j := i + 1; j < n; j++ {
			s += cmp.Compare(xs[j], xs[i])
		}
	}
	variance := float64(n) * float64(n-1) * float64(2*n+5)
	for _, t := range ties(xs) {
		variance -= t * (t - 1) * (2*t + 5)
	}
	return score(float64(s), 1, variance/18)
}

// RankSum is the standard score of the Mann-Whitney test with correction for ties and continuity: how far the values
// of b lie above those of a. 0 where either is empty or none differ.
func RankSum(a, b []float64) float64 {
	u := 0.0
	for _, x := range a {
		for _, y := range b {
			u += float64(cmp.Compare(y, x)) / 2
		}
	}
	n, m := float64(len(a)), float64(len(b))
	total := n + m
	correction := 0.0
	for _, t := range ties(slices.Concat(a, b)) {
		correction += t*t*t - t
	}
	return score(u, 0.5, n*m/12*(total+1-correction/(total*(total-1))))
}

// score takes a count that is off by off to a standard score; step is half the distance of two counts, the correction
// for continuity.
func score(off, step, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	return math.Copysign(max(math.Abs(off)-step, 0), off) / math.Sqrt(variance)
}

// ties are the sizes of the groups of equal values.
func ties(xs []float64) []float64 {
	s := Sorted(xs)
	var sizes []float64
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if j-i > 1 {
			sizes = append(sizes, float64(j-i))
		}
		i = j
	}
	return sizes
}
