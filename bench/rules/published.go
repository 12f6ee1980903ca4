package main

import (
	"fmt"
	"math"
	"strings"
)

// row is a policy in a world with the figures published for it; NaN where none was.
type row struct {
	World  world
	Nights int
	Policy policy

	FalseAlarms, Sees20, Sees30 float64
}

var (
	rare    = world{CV: 0.03, P: 0.02, Low: 1.15, High: 2}
	often   = world{CV: 0.03, P: 0.08, Low: 1.15, High: 2}
	calm    = world{CV: 0.01}
	noisy   = world{CV: 0.05}
	huge    = world{CV: 0.01, P: 0.08, Low: 10, High: 10}
	unknown = math.NaN()

	extremum, screened, confirmed = policies[0], policies[1], policies[2]
)

// published has the precision in which the figures were published: two decimals.
var published = []row{
	{rare, 10, extremum, 1.36, 0.07, 0.62},
	{rare, 10, screened, 1.93, 0.98, 1.00},
	{rare, 10, confirmed, 0.04, 0.95, 0.99},
	{often, 10, extremum, 3.47, 0.14, 0.42},
	{often, 10, screened, 7.71, 0.94, 0.97},
	{often, 10, confirmed, 0.61, 0.91, 0.96},
	{calm, 10, screened, 0.00, 1.00, 1.00},
	{noisy, 10, screened, 0.13, 0.87, unknown},
	{rare, 5, confirmed, 0.03, 0.97, 0.99},
	{rare, 20, confirmed, 0.04, 0.93, unknown},
	{huge, 10, extremum, unknown, unknown, 0.56}, // blind in 44 of 100 windows
}

// off lists the figures that are off by more than a number of standard errors of both simulations, theirs
// over 6 000 windows, and their rounding.
func (r row) off(got result, errors float64) []string {
	const rounding = 0.005
	var texts []string
	for _, f := range []struct {
		name string
		got  outcome
		want float64
	}{{"false alarms", got.FalseAlarms, r.FalseAlarms}, {"+20 %", got.Sees20, r.Sees20}, {"+30 %", got.Sees30, r.Sees30}} {
		allowed := errors*f.got.Error*math.Sqrt2 + rounding
		if math.Abs(f.got.Mean-f.want) > allowed {
			texts = append(texts, fmt.Sprintf("%s: got %.3f, published is %.2f, and sampling explains %.3f", f.name, f.got.Mean, f.want, allowed))
		}
	}
	return texts
}

func (r row) String() string {
	return fmt.Sprintf("noise %.0f %%, excursions %s, %d nights, %s", 100*r.World.CV, r.World.excursions(), r.Nights, r.Policy.Name)
}

func (r row) figures() string {
	var all []string
	for _, v := range []float64{r.FalseAlarms, r.Sees20, r.Sees30} {
		text := "-"
		if !math.IsNaN(v) {
			text = fmt.Sprintf("%.2f", v)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// excursions tells how often they come, and how large.
func (w world) excursions() string {
	switch {
	case w.P == 0:
		return "none"
	case w.Low == w.High:
		return fmt.Sprintf("%.0f %% of x %g", 100*w.P, w.Low)
	}
	return fmt.Sprintf("%.0f %% of x %g to %g", 100*w.P, w.Low, w.High)
}
