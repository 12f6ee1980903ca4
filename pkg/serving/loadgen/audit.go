package loadgen

import (
	"math"
	"net"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
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
	res.conclude()
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
			if s.lag != nil {
				lag.merge(s.lag)
			}
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
	c := Connect{Connections: len(r.slots), Loopback: r.loopback()}
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

// loopback tells whether both ends of the connections are on this host.
func (r *runner) loopback() bool {
	for _, s := range r.slots {
		if s.conn != nil {
			local, _ := s.conn.LocalAddr().(*net.TCPAddr)
			remote, _ := s.conn.RemoteAddr().(*net.TCPAddr)
			return local != nil && remote != nil && (remote.IP.IsLoopback() || remote.IP.Equal(local.IP))
		}
	}
	return false
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
