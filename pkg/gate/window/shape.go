package window

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// The limits of a window's shape.
const (
	// spreadLimit is how far the worst healthy night may be from the median, on the side that breaches.
	spreadLimit = 0.10
	// nightsPerExcursion is the number of nights that may hold one excursion.
	nightsPerExcursion = 10
	// relevant is the least relative difference that can be a second mode or a moved level: less does
	// not matter beside any margin.
	relevant = 0.05
	// unlikely is the standard score of a trend that chance shows in 2 of 100 windows.
	unlikely = 2.326
	// leastQuanta is how many steps of its own resolution the median must be: on fewer, a margin is
	// a matter of rounding.
	leastQuanta = 20
	// unitRatio between the nights of a window is no measurement but a change of the unit.
	unitRatio = 300
)

// shape lists what keeps the values of a metric from bearing a bound under a rule.
func shape(policy metric.Policy, values []float64, rule Rule) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	s := stats.Sorted(values)
	median := stats.Percentile(s, 50)

	if ratio := s[len(s)-1] / s[0]; ratio > unitRatio {
		fault("unit: the nights differ by a factor of %.0f; did the metric's unit change?", ratio)
	}
	if q := quantum(values); median < leastQuanta*q {
		fault("resolution: the median %s is only %.0f steps of %s; a margin over it would be a matter of rounding", number(median), median/q, number(q))
	}
	kept, excursions := Screen(policy, values)
	judged := values
	if rule == Screened {
		judged = kept
		if most := max(1, len(values)/nightsPerExcursion); len(excursions) > most {
			fault("excursions: %d of %d nights are far from the median %s; %d may be", len(excursions), len(values), number(median), most)
		}
	}
	if text := spread(policy, median, judged); text != "" {
		fault("%s", text)
	}
	if gap, two := TwoModes(values); two {
		fault("two modes: %d nights up to %s and %d from %s, and nothing between", gap.Below, number(gap.Low), gap.Above, number(gap.High))
	} else if text := trend(values); text != "" {
		fault("%s", text)
	}
	return faults
}

// spread says that the worst night is too far from the median. The other side does not matter: it cannot
// breach the bound.
func spread(policy metric.Policy, median float64, values []float64) string {
	s := stats.Sorted(values)
	worst, off := s[len(s)-1], s[len(s)-1]/median-1
	word := "over"
	if policy == metric.Min {
		worst, off, word = s[0], median/s[0]-1, "under"
	}
	if off <= spreadLimit {
		return ""
	}
	return fmt.Sprintf("spread: the worst night, %s, is %s %s the median %s; %s is the limit", number(worst), percent(off), word, number(median), percent(spreadLimit))
}

// TwoModes reports whether values, all above zero, fall into two groups of at least two, far apart for
// what each of them varies and by 5 % or more. The gap is in the values' own unit.
func TwoModes(values []float64) (stats.Gap, bool) {
	resolution := math.Log1p(relevant)
	if q := quantum(values); q > 0 {
		resolution = max(resolution, math.Log1p(q/stats.Sorted(values)[0]))
	}
	gap, two := stats.TwoModes(logarithms(values), resolution)
	gap.Low, gap.High = math.Exp(gap.Low), math.Exp(gap.High)
	gap.Width = gap.High - gap.Low
	return gap, two
}

// trend says that the level moved inside the window: steadily, by its first third against its last, or at
// its middle. A move of less than 5 % does not matter, one that chance makes as readily is none.
func trend(values []float64) string {
	logs := logarithms(values)
	n := len(logs)
	moved := func(part int, score float64) string {
		first, last := stats.Median(logs[:part]), stats.Median(logs[n-part:])
		off := math.Exp(last-first) - 1
		if part == 0 || math.Abs(off) <= relevant || math.Abs(score) < unlikely {
			return ""
		}
		return fmt.Sprintf("trend: the level moved by %s inside the window, from %s to %s", signed(off), number(math.Exp(first)), number(math.Exp(last)))
	}
	if text := moved(n/2, stats.RankSum(logs[:n/2], logs[n-n/2:])); text != "" {
		return text
	}
	return moved(n/3, stats.MannKendall(logs))
}

// quantum is the step in which the values were written: a hundredth where none has more than two
// decimals. 0 where they were not rounded.
func quantum(values []float64) float64 {
	const unrounded = 9
	decimals := 0
	for _, v := range values {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if _, fraction, found := strings.Cut(text, "."); found {
			decimals = max(decimals, len(fraction))
		}
	}
	if decimals >= unrounded {
		return 0
	}
	return math.Pow10(-decimals)
}

// number is a value with at most five significant digits, for people.
func number(v float64) string {
	if v == 0 || !metric.Finite(v) {
		return fmt.Sprint(v)
	}
	digits := max(0, 4-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', min(digits, 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// percent is a share in percent with as many digits as tell something.
func percent(share float64) string {
	p := 100 * share
	if math.Abs(p) < 10 {
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

func signed(share float64) string {
	if share > 0 {
		return "+" + percent(share)
	}
	return percent(share)
}
