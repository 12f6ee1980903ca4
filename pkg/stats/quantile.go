package stats

import (
	"math"
	"slices"
)

// Sorted returns a sorted copy of xs.
func Sorted(xs []float64) []float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	return s
}

// Percentile of an ascending sample, p in [0, 100], by linear interpolation at rank p/100*(n-1). An empty sample
// gives NaN.
func Percentile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	rank := min(max(p, 0), 100) / 100 * float64(n-1)
	low := int(rank)
	if low >= n-1 {
		return sorted[n-1]
	}
	return lerp(sorted[low], sorted[low+1], rank-float64(low))
}

// lerp keeps equal ends exact, which a*(1-f)+b*f does not.
func lerp(a, b, f float64) float64 { return a + (b-a)*f }

// Median of xs; NaN when empty.
func Median(xs []float64) float64 { return Percentile(Sorted(xs), 50) }

// Mean of xs; NaN when empty.
func Mean(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Std is the population standard deviation of xs (divided by n); NaN when empty.
func Std(xs []float64) float64 {
	mean := Mean(xs)
	sum := 0.0
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(xs)))
}

// MAD is the median absolute deviation from the median, unscaled; NaN when empty.
func MAD(xs []float64) float64 {
	m := Median(xs)
	devs := make([]float64, len(xs))
	for i, x := range xs {
		devs[i] = math.Abs(x - m)
	}
	return Median(devs)
}

// MADSigma scales a MAD to the standard deviation of a normal distribution.
const MADSigma = 1.4826

// Pooled is a percentile together with the size of the sample behind it.
type Pooled struct {
	// Value is NaN when N is 0.
	Value float64
	// N is the number of values pooled.
	N int
}

// Pool takes percentile p over all samples as one.
func Pool(p float64, samples ...[]float64) Pooled {
	all := Sorted(slices.Concat(samples...))
	return Pooled{Value: Percentile(all, p), N: len(all)}
}
