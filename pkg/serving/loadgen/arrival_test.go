package loadgen

import (
	"math"
	"slices"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

func arrivalPlan(n int, rate, burst float64) *Plan {
	return &Plan{NumPrompts: n, RequestRate: rate, Burstiness: burst}
}

func gapsOf(at []float64) []float64 {
	gaps := []float64{at[0]}
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i]-at[i-1])
	}
	return gaps
}

func TestArrivalsFollowTheirDistribution(t *testing.T) {
	const n, rate = 3000, 20.0
	for _, shape := range []float64{0.3, 1, 4} {
		gaps := gapsOf(arrivals(arrivalPlan(n, rate, shape)))
		cdf := func(x float64) float64 { return stats.GammaCDF(shape, 1/(rate*shape), x) }
		if d, limit := stats.KS(gaps, cdf), stats.KSLimit(n, 0.001); d > limit {
			t.Errorf("shape %v: distance %.4f over %.4f", shape, d, limit)
		}
		cv := stats.Std(gaps) / stats.Mean(gaps)
		if want := 1 / math.Sqrt(shape); math.Abs(cv/want-1) > 0.1 {
			t.Errorf("shape %v: coefficient of variation %.3f, want %.3f", shape, cv, want)
		}
	}
	for i, at := range arrivals(arrivalPlan(100, rate, math.Inf(1))) {
		if want := float64(i+1) / rate; math.Abs(at-want) > 1e-9 {
			t.Fatalf("constant: arrival %d at %v, want %v", i, at, want)
		}
	}
}

// TokenSpeed rescales its schedule to end at n/rate, which makes it no Poisson process any more.
func TestArrivalsAreNotRescaled(t *testing.T) {
	const n, rate = 50, 10.0
	ends := map[float64]bool{}
	for seed := range int64(20) {
		p := arrivalPlan(n, rate, 1)
		p.Seed = seed
		at := arrivals(p)
		if math.Abs(at[n-1]-n/rate) < 1e-9 {
			t.Errorf("seed %d ends exactly at n/rate", seed)
		}
		ends[at[n-1]] = true
	}
	if len(ends) != 20 {
		t.Errorf("20 seeds gave %d schedules", len(ends))
	}
	p := arrivalPlan(n, rate, 1)
	again := arrivals(p)
	if !slices.Equal(arrivals(p), again) {
		t.Error("the same plan has two schedules")
	}
	p.Step = 1
	if slices.Equal(arrivals(p), again) {
		t.Error("two steps have one schedule")
	}
}

func TestRamps(t *testing.T) {
	for _, exponential := range []bool{false, true} {
		p := arrivalPlan(101, 0, math.Inf(1))
		p.Ramp = &Ramp{Exponential: exponential, From: 1, To: 100}
		gaps := gapsOf(arrivals(p))
		mid := 50.5
		if exponential {
			mid = 10
		}
		for i, want := range map[int]float64{0: 1, 50: mid, 100: 100} {
			if got := 1 / gaps[i]; math.Abs(got/want-1) > 1e-6 {
				t.Errorf("exponential %v: rate at %d: got %v, want %v", exponential, i, got, want)
			}
		}
	}
}
