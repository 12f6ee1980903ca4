package loadgen

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Limits of the verdicts. They are wide: a tag must mean something.
const (
	// cpuLimit: a client this busy queues its own reads and writes.
	cpuLimit = 0.9
	// runDelayLimit: its threads waited this share of the time for a core that something else had. Kernel stamps
	// survive less; late sends and merged reads are held to limits of their own.
	runDelayLimit = 0.25
	// A 99th percentile of the read lag (or of the timer probe) of half the mean gap between events makes events
	// share stamps. Gaps outside these bounds do not move the limit further. On loopback kernel stamps survive until
	// segments are merged, and only the upper bound holds.
	lagLow  = time.Millisecond
	lagHigh = 5 * time.Millisecond
	// deliveredShare of the planned rate or concurrency must have been achieved.
	deliveredShare = 0.95
	// scheduleLimit is the 99th percentile of t0 - intended start, unless the mean gap is longer.
	scheduleLimit = 10 * time.Millisecond
	// gapAlpha is the chance of calling proper gaps improper; fewer than gapMin gaps are not tested.
	gapAlpha = 1e-4
	gapMin   = 20
	// stallLimit is a connect that met a lost SYN, which is sent again after a second.
	stallLimit = 900 * time.Millisecond
	// warmShare of the prompt tokens from the cache makes a step warm.
	warmShare = 0.01
)

// conclude tags what spoils the numbers.
func (res *Result) conclude() {
	res.Reasons = map[string]string{}
	res.tagClient()
	res.tagLoad()
	res.tagRest()
	res.Tags = slices.Sorted(maps.Keys(res.Reasons))
}

// tagClient decides client_limited.
func (res *Result) tagClient() {
	c := &res.Audit.Client
	switch {
	case c.CPUShare > cpuLimit:
		res.tag(TagClientLimited, "the client used %.0f %% of its %d cores", c.CPUShare*100, c.Cores)
	case c.RunDelayShare > runDelayLimit:
		res.tag(TagClientLimited, "the client waited %.0f %% of the time for a core", c.RunDelayShare*100)
	case c.LagP99Ms > res.lagLimitMs():
		res.tag(TagClientLimited, "the client was %.1f ms late at the 99th percentile, %.1f is tolerable", c.LagP99Ms, res.lagLimitMs())
	}
}

// lagLimitMs is the tolerable read lag.
func (res *Result) lagLimitMs() float64 {
	if res.Clock == KernelClock && res.Audit.Connect.Loopback {
		return float64(lagHigh) / 1e6
	}
	var span float64
	gaps := 0
	for i := range res.Requests {
		if q := &res.Requests[i]; len(q.Events) > 1 {
			span += ms(q.LastToken - q.FirstEvent)
			gaps += len(q.Events) - 1
		}
	}
	return min(max(span/float64(max(gaps, 1))/2, float64(lagLow)/1e6), float64(lagHigh)/1e6)
}

// tagLoad decides load_not_delivered.
func (res *Result) tagLoad() {
	s, f, p := &res.Audit.Stimulus, &res.Audit.InFlight, &res.Plan
	slots := res.Audit.Connect.Connections
	switch {
	case s.NotSent > 0:
		res.tag(TagLoadNotDelivered, "%d of %d requests were not sent", s.NotSent, p.NumPrompts)
	case f.Planned > slots:
		res.tag(TagLoadNotDelivered, "%d connections for a concurrency of %d", slots, f.Planned)
	case p.MaxConcurrency > 0 && f.Peak < f.Planned:
		res.tag(TagLoadNotDelivered, "%d in flight at most, %d planned", f.Peak, f.Planned)
	case p.MaxConcurrency > 0 && f.PlateauMean > 0 && f.PlateauMean < deliveredShare*float64(f.Planned):
		res.tag(TagLoadNotDelivered, "%.1f in flight on average at the plateau, %d planned", f.PlateauMean, f.Planned)
	case s.Loop == "open" && s.AchievedRate < deliveredShare*s.PlannedRate:
		res.tag(TagLoadNotDelivered, "%.2f requests/s of %.2f", s.AchievedRate, s.PlannedRate)
	case s.Loop == "open" && s.LagP99Ms > max(float64(scheduleLimit)/1e6, 1e3/s.PlannedRate):
		res.tag(TagLoadNotDelivered, "requests went out %.1f ms late at the 99th percentile", s.LagP99Ms)
	case s.GapKS > s.GapKSLimit:
		res.tag(TagLoadNotDelivered, "gaps between requests are %.3f off their distribution, %.3f is chance", s.GapKS, s.GapKSLimit)
	}
}

// tagRest decides the others.
func (res *Result) tagRest() {
	c := &res.Audit.Connect
	if c.SYNRetransmits > 0 || c.MaxMs > float64(stallLimit)/1e6 {
		res.tag(TagConnectStall, "a connection took %.0f ms, %d SYN retransmissions", c.MaxMs, max(c.SYNRetransmits, 0))
	}
	short, prompt, cached := 0, 0, 0
	for i := range res.Requests {
		q := &res.Requests[i]
		if q.Failure == ShortOutput || slices.Contains(q.Tolerated, ShortOutput) {
			short++
		}
		if q.CachedTokens >= 0 {
			prompt += q.InputLen
			cached += q.CachedTokens
		}
	}
	if short > 0 {
		res.tag(TagShortOutput, "%d of %d outputs are short", short, len(res.Requests))
	}
	if float64(cached) > warmShare*float64(prompt) {
		res.tag(TagWarmPrefix, "%d of %d prompt tokens came from the cache", cached, prompt)
	}
}

func (res *Result) tag(name, format string, args ...any) {
	res.Reasons[name] = fmt.Sprintf(format, args...)
}
