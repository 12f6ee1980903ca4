package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

func TestMannKendall(t *testing.T) {
	rising := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	falling := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{
		{rising, 44 / math.Sqrt(125)}, {falling, -44 / math.Sqrt(125)},
		{[]float64{5, 5, 5, 5}, 0}, {nil, 0}, {[]float64{1}, 0},
		{[]float64{1, 3, 2, 4}, 3 / math.Sqrt(26.0/3)},
		{[]float64{1, 1, 2, 2}, 3 / math.Sqrt((4*3*13-2*2*1*9)/18.0)}, // two ties of two
	} {
		if got := stats.MannKendall(tt.xs); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v: got %v, want %v", tt.xs, got, tt.want)
		}
	}
}

func TestRankSum(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	want := 12 / math.Sqrt(25.0*11/12)
	for _, tt := range []struct {
		a, b []float64
		want float64
	}{{a, b, want}, {b, a, -want}, {a, a, 0}, {nil, b, 0}, {[]float64{3, 3}, []float64{3, 3}, 0}} {
		if got := stats.RankSum(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v, %v: got %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// The closed count of breaches is that of counting every subset.
func TestBreachRateCountsEverySubset(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		xs := make([]float64, 4+dice.IntN(5))
		for i := range xs {
			xs[i] = math.Round(10*dice.Float64()) / 2 // ties are likely
		}
		n, upper, margin := 1+dice.IntN(len(xs)-1), dice.IntN(2) == 0, dice.Float64()*0.5-0.1
		bound := func(x float64) float64 { return x * (1 + margin) }
		pairs, breaches := 0, 0
		for set := range 1 << len(xs) {
			extremum, size := math.NaN(), 0
			for i, x := range xs {
				if set>>i&1 == 0 {
					continue
				}
				if size++; math.IsNaN(extremum) || upper == (x > extremum) {
					extremum = x
				}
			}
			if size != n {
				continue
			}
			for i, x := range xs {
				if set>>i&1 == 0 {
					pairs++
					if upper && x > bound(extremum) || !upper && x < bound(extremum) {
						breaches++
					}
				}
			}
		}
		want := float64(breaches) / float64(pairs)
		if got := stats.BreachRate(xs, n, upper, bound); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v, windows of %d, upper %v, margin %.2f: got %v, want %v", xs, n, upper, margin, got, want)
		}
	}
}
