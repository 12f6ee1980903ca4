package baseline

import (
	"fmt"
	"math"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

// Breach is one broken bound.
type Breach struct {
	// Metric is the metric's name; the step time is "mean_step_time_ms".
	Metric string `json:"metric"`
	// Policy says which way was worse.
	Policy metric.Policy `json:"policy"`
	// Observed and Bound are numbers for min and max.
	Observed any `json:"observed"`
	Bound    any `json:"bound"`
	// Reason is the reference's wording, as among the reasons.
	Reason string `json:"reason"`
}

// String tells the breach in plain words: the metric, what was observed, the bound, and how far apart
// they are.
func (b Breach) String() string {
	observed, ok := float(b.Observed)
	bound, ok2 := float(b.Bound)
	if b.Policy == metric.Equal || !ok || !ok2 {
		return fmt.Sprintf("%s is %s, expected %s", b.Metric, plain(b.Observed), plain(b.Bound))
	}
	side, of := "over", "ceiling"
	if b.Policy == metric.Min {
		side, of = "under", "floor"
	}
	unit := metric.Unit(b.Metric)
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("%s %s%s is %s its %s of %s%s", b.Metric, plain(round(observed)), unit, distance(observed, bound, side), of, plain(bound), unit)
}

// distance is how far an observation is beyond its bound. From a bound of zero there is no percentage.
func distance(observed, bound float64, side string) string {
	share := 100 * math.Abs(observed-bound) / math.Abs(bound)
	if bound == 0 || !metric.Finite(share) {
		return side
	}
	if share < 0.05 {
		return "just " + side
	}
	return fmt.Sprintf("%.1f %% %s", share, side)
}

// round keeps five significant digits: more than a person compares, enough to see the bound crossed.
func round(v float64) float64 {
	if v == 0 || !metric.Finite(v) {
		return v
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*scale) / scale; metric.Finite(r) {
		return r
	}
	return v
}
