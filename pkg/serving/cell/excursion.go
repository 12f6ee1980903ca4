package cell

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// The tags that this package decides; the load generator decides the others.
const (
	TagColdCompile    = "cold_compile"
	TagAdmissionStall = "admission_stall"
	TagNoisyNeighbour = "noisy_neighbour"
)

// The figures of the excursion rules.
const (
	// coldRatio: a first step that takes more than this times the median of the later ones is no step like them.
	// Measured: 6193 ms against 1140 and 1143.
	coldRatio = 1.5

	// steady is how far TPOT, or the median TTFT in a stall, may be from that of the other steps and still count as
	// untouched. Measured on excursions: 1.01; twelve clean runs spread by 3 %.
	steady = 0.25

	// stallMs is the least delay of a stall. Measured: 920 to 930 ms; a retransmitted SYN costs 1000 ms.
	stallMs = 500.0

	// noisyRatio: a step that is slower between tokens by more than this has shared the machine with something.
	noisyRatio = 1.25
)

// Evidence is what one measured step tells about itself; the excursion rules read nothing else. Times are milliseconds,
// NaN where they are not known.
type Evidence struct {
	// DurationMs is the step's wall time.
	DurationMs float64

	// P50TTFT, P90TTFT and P99TTFT are percentiles of the time to the first token.
	P50TTFT, P90TTFT, P99TTFT float64

	// P50TPOT is what happens between tokens.
	P50TPOT float64

	// FirstWave is how many requests went out together at the start, FirstWaveLate how many of them saw their first
	// token late by stallMs or more against the step's quickest; both 0 when requests were not looked at.
	FirstWave, FirstWaveLate int

	// Connect says what the kernel and the load generator saw of connections that took long; empty for nothing.
	Connect string

	// Tags are the load generator's own, with a sentence each.
	Tags map[string]string
}

// Tag is one excursion of one step.
type Tag struct {
	// Name is the tag, Step the index among the given evidence, Why the figures in words.
	Name string
	Step int
	Why  string
}

// Excursions finds what spoils single steps among the steps of one engine, in the order of steps. A tag never changes a
// reference key: it says which steps a reader may want to leave out, and why.
func Excursions(steps []Evidence) []Tag {
	var tags []Tag
	for i, s := range steps {
		for name, why := range s.Tags {
			tags = append(tags, Tag{name, i, why})
		}
		if t, ok := excursion(steps, i); ok && s.Tags[t.Name] == "" {
			tags = append(tags, t)
		}
	}
	slices.SortStableFunc(tags, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), strings.Compare(a.Name, b.Name))
	})
	return tags
}

// excursion decides what kind of outlier step i is among its siblings, if any. The kinds exclude each other: a stall
// delays some first tokens, a compile all of those that wait for it, a neighbour what lies between tokens.
func excursion(steps []Evidence, i int) (Tag, bool) {
	if t, ok := stall(steps, i); ok {
		return t, true
	}
	if t, ok := coldCompile(steps, i); ok {
		return t, true
	}
	return noisy(steps, i)
}

// coldCompile: the first measured step, and only it, waits for a compilation that the warm-up did not reach.
func coldCompile(steps []Evidence, i int) (Tag, bool) {
	if i != 0 || len(steps) < 2 {
		return Tag{}, false
	}
	later := median(steps[1:], func(e Evidence) float64 { return e.DurationMs })
	ratio := steps[0].DurationMs / later
	if !(ratio > coldRatio) || !untouched(steps, 0) {
		return Tag{}, false
	}
	return Tag{TagColdCompile, 0, fmt.Sprintf(
		"the first step took %.1f ms, %.2f x the median %.1f ms of the later ones, while TPOT stayed at %.2f ms",
		steps[0].DurationMs, ratio, later, steps[0].P50TPOT)}, true
}

// stall: a part of the requests waits a fixed time for the first token while the median request does not, and nothing
// changes between tokens. The siblings' smallest tail is the measure, since the stalled steps may be the majority.
func stall(steps []Evidence, i int) (Tag, bool) {
	s := steps[i]
	if len(steps) < 2 || !untouched(steps, i) || (s.FirstWave > 1 && s.FirstWaveLate == s.FirstWave) {
		return Tag{}, false
	}
	tail := func(e Evidence) float64 { return math.Max(orZero(e.P90TTFT-e.P50TTFT), orZero(e.P99TTFT-e.P50TTFT)) }
	least := math.Inf(1)
	for j, other := range steps {
		if j != i {
			least = min(least, tail(other))
		}
	}
	p50 := least50(steps)
	if tail(s)-least < stallMs || !(s.P50TTFT <= p50*(1+steady)) {
		return Tag{}, false
	}
	figures := fmt.Sprintf("some first tokens came %.0f ms late (p90 TTFT %.1f ms, p99 %.1f ms) while the median stayed at %.1f ms and TPOT at %.2f ms",
		tail(s)-least, s.P90TTFT, s.P99TTFT, s.P50TTFT, s.P50TPOT)
	if s.Connect != "" {
		return Tag{loadgen.TagConnectStall, i, figures + "; " + s.Connect}, true
	}
	return Tag{TagAdmissionStall, i, figures + "; connections stood at once"}, true
}

// noisy: one step is slower between tokens than its siblings, which agree.
func noisy(steps []Evidence, i int) (Tag, bool) {
	if len(steps) < 3 {
		return Tag{}, false
	}
	others := slices.Delete(slices.Clone(steps), i, i+1)
	tpot := func(e Evidence) float64 { return e.P50TPOT }
	usual := median(others, tpot)
	if !(steps[i].P50TPOT > usual*noisyRatio) || !agree(others, tpot, 1+steady/2) {
		return Tag{}, false
	}
	return Tag{TagNoisyNeighbour, i, fmt.Sprintf("TPOT was %.2f ms against %.2f ms in the other steps of the same engine: something shared the machine",
		steps[i].P50TPOT, usual)}, true
}

// untouched tells whether step i is like its siblings between tokens.
func untouched(steps []Evidence, i int) bool {
	others := slices.Delete(slices.Clone(steps), i, i+1)
	tpot := steps[i].P50TPOT / median(others, func(e Evidence) float64 { return e.P50TPOT })
	return math.IsNaN(tpot) || (tpot > 1-steady && tpot < 1+steady)
}

// least50 is the smallest median TTFT of the steps.
func least50(steps []Evidence) float64 {
	least := math.Inf(1)
	for _, s := range steps {
		if !math.IsNaN(s.P50TTFT) {
			least = min(least, s.P50TTFT)
		}
	}
	return least
}

func agree(steps []Evidence, of func(Evidence) float64, ratio float64) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range steps {
		lo, hi = min(lo, of(s)), max(hi, of(s))
	}
	return hi <= lo*ratio
}

// median over the steps that know the value; NaN when none does.
func median(steps []Evidence, of func(Evidence) float64) float64 {
	var xs []float64
	for _, s := range steps {
		if x := of(s); !math.IsNaN(x) {
			xs = append(xs, x)
		}
	}
	return stats.Median(xs)
}

func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
