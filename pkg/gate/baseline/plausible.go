package baseline

import (
	"fmt"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// What is too good to be measured. A collapse passes every ceiling, and usually means that the work
// was not done: rustic-ai/uni-db#230 reported a 97 % drop in instructions as a success.
const (
	// With the window's nights at hand: better than their median by more than this, on one stack.
	implausibleGain = 0.40
	// Without them, for a ceiling: below this share of it. Hand-written ceilings may be generous.
	implausibleShare = 0.02
)

// plausible doubts an observation that is within its bound but cannot be real.
func (c *court) plausible(name string, observed, bound float64, policy metric.Policy, p *Provenance) {
	if metric.NearZero(name) {
		return
	}
	if level, ok := p.level(); ok {
		gain := (observed - level) / level
		if policy == metric.Max {
			gain = -gain
		}
		if gain > implausibleGain {
			c.doubt("%s %s is implausible: %.0f %% better than the median of its window, %s", name, general(observed), 100*gain, general(level))
		}
		return
	}
	if policy == metric.Max && bound > 0 && (observed <= 0 || observed < implausibleShare*bound) {
		c.doubt("%s %s is implausible under a ceiling of %s: it looks as if the work was not done", name, general(observed), general(bound))
	}
}

func (c *court) doubt(format string, args ...any) {
	c.doubts = append(c.doubts, fmt.Sprintf(format, args...))
}

// level is the median of the nights the bound was derived from, where it is known and positive.
func (p *Provenance) level() (float64, bool) {
	if p == nil || len(p.Nights) == 0 {
		return 0, false
	}
	values := make([]float64, len(p.Nights))
	for i, n := range p.Nights {
		values[i] = n.Value
	}
	level := stats.Median(values)
	return level, level > 0
}
