package window

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// coldRatio: a first step that takes more than this times the median of the later ones waited for
// something that they did not.
const coldRatio = 1.5

// steps is what the steps of a cell tell, night by night.
type steps struct {
	times  [][]float64 // milliseconds
	trials []int
	tags   [][]string // names, each once
	counts []map[string]int
}

func (s *steps) add(times []float64, trials int, tags []report.Tag, pooled map[string]report.Quantile) {
	names := map[string]bool{}
	for _, t := range tags {
		names[t.Name] = true
	}
	counts := make(map[string]int, len(pooled))
	for name, q := range pooled {
		counts[name] = q.N
	}
	s.times, s.trials = append(s.times, times), append(s.trials, trials)
	s.tags = append(s.tags, slices.Sorted(maps.Keys(names)))
	s.counts = append(s.counts, counts)
}

// last keeps the last n nights.
func (s *steps) last(n int) {
	from := max(len(s.times)-n, 0)
	s.times, s.trials, s.tags, s.counts = s.times[from:], s.trials[from:], s.tags[from:], s.counts[from:]
}

// coldStart returns how many times longer the first step of a trial took than the later ones of that
// trial, the worst trial of the night, where that is an excursion; 0 where it is none.
func coldStart(times []float64, trials int) float64 {
	per := len(times)
	if trials > 1 && len(times)%trials == 0 {
		per = len(times) / trials
	}
	worst := 0.0
	for trial := range slices.Chunk(times, max(per, 1)) {
		if len(trial) < 2 {
			continue
		}
		if ratio := trial[0] / stats.Median(trial[1:]); ratio > coldRatio {
			worst = max(worst, ratio)
		}
	}
	return worst
}

// tagCold is the finding of the first step by that name, whether the cell's own tag or we found it.
const tagCold = "cold_compile"

// excursions lists by night what spoilt single steps: the cell's own tags, and a cold first step, also
// where the measuring program does not tag.
func (s *steps) excursions() [][]string {
	nights := make([][]string, len(s.times))
	for i, times := range s.times {
		nights[i] = slices.Clone(s.tags[i])
		if coldStart(times, s.trials[i]) > 0 && !slices.Contains(nights[i], tagCold) {
			nights[i] = append(nights[i], tagCold)
		}
	}
	return nights
}

// stepFindings looks at the steps of all cells of an entry together, for they are runs of one recipe on
// one machine, minutes apart: what befell one of them can befall the others. It returns the findings
// that exposed metrics cannot live with.
func stepFindings(cells []*Cell) []string {
	runs := 0
	byTag := map[string]int{}
	worst, where := 0.0, ""
	for _, c := range cells {
		runs += len(c.steps.times)
		for i, tags := range c.steps.excursions() {
			for _, tag := range tags {
				byTag[tag]++
			}
			if ratio := coldStart(c.steps.times[i], c.steps.trials[i]); ratio > worst {
				worst, where = ratio, fmt.Sprintf("run %d of %s in %s", c.Nights[i].Run, c.Nights[i].Date, c.Key.Cell)
			}
		}
	}
	var findings []string
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		n := byTag[tag]
		switch {
		case tag == tagCold && worst > 0:
			findings = append(findings, fmt.Sprintf("step-0 excursion in %d of %d cell-runs: the first step took %.2f x the later ones (%s)", n, runs, worst, where))
		case tag == tagCold:
			findings = append(findings, fmt.Sprintf("step-0 excursion in %d of %d cell-runs", n, runs))
		case n*nightsPerExcursion > runs:
			findings = append(findings, fmt.Sprintf("%s in %d of %d cell-runs", tag, n, runs))
		}
	}
	return findings
}

// modes says that the steps of a cell fall into two groups.
func (s *steps) modes() string {
	all := slices.Concat(s.times...)
	if len(all) < 4 || slices.Min(all) <= 0 {
		return ""
	}
	gap, two := TwoModes(all)
	if !two {
		return ""
	}
	return fmt.Sprintf("two modes in the steps: %d of %d up to %s ms, %d from %s ms, and none between", gap.Below, len(all), number(gap.Low), gap.Above, number(gap.High))
}
