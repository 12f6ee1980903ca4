package main

import (
	"math"
	"math/rand/v2"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

// world is how nights are: log-normal noise about one level, and now and then an excursion.
type world struct {
	// CV is the noise's coefficient of variation, P the chance of an excursion.
	CV, P float64
	// Low and High are the least and the greatest factor of an excursion.
	Low, High float64
}

// night is one measurement of a healthy stack at level 1.
func (w world) night(r *rand.Rand) float64 {
	v := math.Exp(r.NormFloat64() * math.Sqrt(math.Log1p(w.CV*w.CV)))
	if r.Float64() < w.P {
		v *= w.Low + r.Float64()*(w.High-w.Low)
	}
	return v
}

// policy is how a bound is derived and held.
type policy struct {
	Name    string
	Rule    window.Rule
	Confirm bool // a breach counts only where a re-run of the same night breaches too
}

var policies = []policy{
	{"extremum", window.Extremum, false},
	{"screened", window.Screened, false},
	{"screened + re-run", window.Screened, true},
}

const (
	healthyNights = 90 // after each window
	nightsToFind  = 3  // that a change has to be found in
)

// outcome is a mean over windows with its standard error.
type outcome struct {
	Mean, Error float64
}

// result is what becomes of a policy in a world.
type result struct {
	// FalseAlarms counts them in 100 healthy nights; Sees20 and Sees30 are the chance that a change of
	// 20 and 30 % is found in three nights.
	FalseAlarms, Sees20, Sees30 outcome
}

// simulate derives bounds from windows of n nights and holds healthy and slower nights to them.
func simulate(w world, p policy, n, windows int, seed uint64) result {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	var alarms, sees20, sees30 mean
	values := make([]float64, n)
	for range windows {
		for i := range values {
			values[i] = w.night(r)
		}
		bound := p.Rule.Derive(metric.Max, values, window.Margins{}).Value
		fires := func(factor float64) bool {
			return factor*w.night(r) > bound && (!p.Confirm || factor*w.night(r) > bound)
		}
		within := func(nights int, factor float64) int {
			count := 0
			for range nights {
				if fires(factor) {
					count++
				}
			}
			return count
		}
		alarms.add(100 * float64(within(healthyNights, 1)) / healthyNights)
		sees20.add(float64(min(1, within(nightsToFind, 1.2))))
		sees30.add(float64(min(1, within(nightsToFind, 1.3))))
	}
	return result{alarms.outcome(), sees20.outcome(), sees30.outcome()}
}

// mean adds up a mean and its error.
type mean struct{ n, sum, squares float64 }

func (m *mean) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

func (m *mean) outcome() outcome {
	average := m.sum / m.n
	return outcome{average, math.Sqrt(max(m.squares/m.n-average*average, 0) / m.n)}
}
