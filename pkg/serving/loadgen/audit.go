package loadgen

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// Limits of the verdicts. They are wide: a tag must mean something.
const (
	// cpuLimit: a client this busy queues its own reads and writes.
	cpuLimit = 0.9
	// runDelayLimit: its threads waited this share of the time for a core that something else had. Kernel stamps
	// survive less; late sends and merged reads are held to limits of their own.
	runDelayLimit = 0.25
	// A 99th percentile of the read lag (or of the timer probe) of half the mean gap between events makes events
	// share reads, and so stamps. Gaps outside these bounds do not move the limit further.
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

// audit fills in what the step knows about its own truth, and its tags.
func (r *runner) audit(res *Result, before, after probe) {
	res.Clock = r.clock()
	res.Audit = Audit{
		Stimulus: r.stimulus(res),
		InFlight: r.inFlightOf(res),
		Client:   r.client(res, before, after),
		Connect:  r.connections(),
		Network:  r.network(before, after),
	}
	res.Reasons = map[string]string{}
	res.tagClient()
	res.tagLoad()
	res.tagRest()
	for tag := range res.Reasons {
		res.Tags = append(res.Tags, tag)
	}
	slices.Sort(res.Tags)
}

// clock says which clock stamps the events of a step.
func (r *runner) clock() Clock {
	for _, s := range r.slots {
		if s.conn != nil {
			return s.conn.clock()
		}
	}
	return UserClock
}

// stimulus compares sends with the schedule.
func (r *runner) stimulus(res *Result) Stimulus {
	s := Stimulus{Loop: "closed"}
	var sent, intended []int64
	for i := range res.Requests {
		if q := &res.Requests[i]; q.Sent > 0 {
			sent, intended = append(sent, q.Sent), append(intended, q.Intended)
		} else {
			s.NotSent++
		}
	}
	if !r.plan.open() {
		return s
	}
	s.Loop = "open"
	lag := make([]float64, len(sent))
	for i := range lag {
		lag[i] = float64(sent[i]-intended[i]) / 1e6
	}
	lag = stats.Sorted(lag)
	if n := len(lag); n > 0 {
		s.LagP50Ms, s.LagP99Ms, s.LagMaxMs = stats.Percentile(lag, 50), stats.Percentile(lag, 99), lag[n-1]
	}
	s.PlannedRate, s.AchievedRate = rateOf(intended), rateOf(sent)
	s.GapKS, s.GapKSLimit = r.plan.gapTest(res.Requests)
	return s
}

// rateOf is events a second between the first and the last; 0 for fewer than two.
func rateOf(at []int64) float64 {
	if len(at) < 2 {
		return 0
	}
	return float64(len(at)-1) / (float64(slices.Max(at)-slices.Min(at)) / 1e9)
}

// gapTest holds the achieved gaps, each scaled by the rate planned there, against the distribution asked for. Constant
// gaps have none.
func (p *Plan) gapTest(requests []Request) (distance, limit float64) {
	if math.IsInf(p.Burstiness, 1) {
		return 0, 0
	}
	var gaps []float64
	for i := 1; i < len(requests); i++ {
		if a, b := requests[i-1].Sent, requests[i].Sent; a > 0 && b > 0 {
			gaps = append(gaps, float64(b-a)/1e9*p.rate(i))
		}
	}
	if len(gaps) < gapMin {
		return 0, 0
	}
	distance = stats.KS(gaps, func(x float64) float64 { return stats.GammaCDF(p.Burstiness, 1/p.Burstiness, x) })
	return distance, stats.KSLimit(len(gaps), gapAlpha)
}

func (r *runner) inFlightOf(res *Result) InFlight {
	es := edges(res.Requests)
	f := InFlight{Peak: peakOf(es), Mean: meanOf(es, res.Start, res.End)}
	if !r.plan.open() {
		f.Planned = r.plan.wanted()
		from, to := plateau(res.Requests)
		f.PlateauMean = meanOf(es, from, to)
	}
	if from, to := steadyOf(es); to > from {
		f.SteadyStart, f.SteadyEnd = float64(from-res.Start)/1e9, float64(to-res.Start)/1e9
	}
	return f
}

func (r *runner) client(res *Result, before, after probe) Client {
	wall := float64(after.at - before.at)
	c := Client{Cores: cores(), RunDelayShare: -1, ClockSteps: int(r.wall.steps.Load())}
	c.CPUShare = float64(after.cpu-before.cpu) / (wall * float64(c.Cores))
	if before.runDelay >= 0 && after.runDelay >= 0 {
		c.RunDelayShare = float64(after.runDelay-before.runDelay) / wall
	}
	lag := &r.probe
	if res.Clock == KernelClock {
		lag = &lags{}
		for _, s := range r.slots {
			lag.merge(&s.lag)
		}
	}
	c.LagP50Ms, c.LagP99Ms, c.LagMaxMs = lag.percentileMs(50), lag.percentileMs(99), float64(lag.max)/1e6
	c.GCCycles, c.GCPauseMs = int(after.gcs-before.gcs), float64(after.gcPause-before.gcPause)/1e6
	for i := range res.Requests {
		q := &res.Requests[i]
		c.Events += len(q.Events)
		c.Reads += q.Reads
		c.Coalesced += q.Coalesced
	}
	if c.Events > 0 {
		c.CoalescedShare = float64(c.Coalesced) / float64(c.Events)
	}
	return c
}

func (r *runner) connections() Connect {
	c := Connect{Connections: len(r.slots)}
	var times []float64
	for _, s := range r.slots {
		c.Dialled += s.stats.dialled
		c.Redialled += s.stats.redialled
		c.Failed += s.stats.failed
		times = append(times, s.stats.times...)
		if s.stats.unknown {
			c.SYNRetransmits = -1
		} else if c.SYNRetransmits >= 0 {
			c.SYNRetransmits += s.stats.syn
		}
	}
	if times = stats.Sorted(times); len(times) > 0 {
		c.P50Ms, c.MaxMs = stats.Percentile(times, 50), times[len(times)-1]
	}
	return c
}

func (r *runner) network(before, after probe) Network {
	var n Network
	for _, s := range r.slots {
		n.Retransmits += s.stats.retransmits
		rtt := s.stats.maxRTT
		if s.conn != nil {
			end := readTCPInfo(s.conn.tcp)
			n.Retransmits += end.retransmits - s.conn.begin.retransmits
			rtt = max(rtt, end.rtt)
		}
		n.MaxRTTMs = max(n.MaxRTTMs, float64(rtt)/1e6)
		if s.stats.unknown {
			n.Retransmits = -1
			break
		}
	}
	if before.host != nil {
		n.Host = map[string]int64{}
		for k, v := range after.host {
			n.Host[k] = v - before.host[k]
		}
	}
	return n
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
