package stats

import (
	"cmp"
	"math"
	"slices"
)

// Weighted is a value that counts Weight times.
type Weighted struct {
	Value, Weight float64
}

// WeightedSample is a sample of weighted values in ascending order. It behaves as the plain sample in which every
// value is repeated Weight times; weights need not be whole.
type WeightedSample struct {
	values []Weighted
	// upto[i] is the weight of values[:i+1].
	upto []float64
}

// NewWeighted sorts a copy of ws. Weights that are not positive are left out.
func NewWeighted(ws []Weighted) WeightedSample {
	s := WeightedSample{values: make([]Weighted, 0, len(ws))}
	for _, w := range ws {
		if w.Weight > 0 {
			s.values = append(s.values, w)
		}
	}
	slices.SortFunc(s.values, func(a, b Weighted) int { return cmp.Compare(a.Value, b.Value) })
	s.upto = make([]float64, len(s.values))
	sum := 0.0
	for i, w := range s.values {
		sum += w.Weight
		s.upto[i] = sum
	}
	return s
}

// Weight is the sum of weights: the size of the sample that it stands for.
func (s WeightedSample) Weight() float64 {
	if len(s.upto) == 0 {
		return 0
	}
	return s.upto[len(s.upto)-1]
}

// Percentile as the function of that name over the repeated values; NaN when empty.
func (s WeightedSample) Percentile(p float64) float64 {
	if len(s.values) == 0 {
		return math.NaN()
	}
	rank := min(max(p, 0), 100) / 100 * max(s.Weight()-1, 0)
	low := math.Floor(rank)
	return lerp(s.at(low), s.at(low+1), rank-low)
}

// at is the value at position i of the repeated values. Sums of fractional weights miss whole numbers by rounding
// error, hence the nudge.
func (s WeightedSample) at(i float64) float64 {
	const nudge = 1e-6
	k, _ := slices.BinarySearchFunc(s.upto, i+nudge, func(upto, i float64) int {
		if upto <= i {
			return -1
		}
		return 1
	})
	return s.values[min(k, len(s.values)-1)].Value
}

// Mean is the weighted mean; NaN when empty.
func (s WeightedSample) Mean() float64 {
	sum := 0.0
	for _, w := range s.values {
		sum += w.Value * w.Weight
	}
	return sum / s.Weight()
}

// Std is the weighted population standard deviation; NaN when empty.
func (s WeightedSample) Std() float64 {
	mean, sum := s.Mean(), 0.0
	for _, w := range s.values {
		sum += w.Weight * (w.Value - mean) * (w.Value - mean)
	}
	return math.Sqrt(sum / s.Weight())
}
