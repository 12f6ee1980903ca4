package loadgen

import (
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// referenceMetrics are the metrics of TokenSpeed's bench client, in its order.
var referenceMetrics = []string{"ttft", "tpot", "itl", "e2el"}

// TTFT is the time to the first choices event in nanoseconds; 0 when there was none.
func (r *Request) TTFT() int64 { return since(r.FirstEvent, r.Sent) }

// E2EL is the time to the last choices event in nanoseconds; 0 when there was none.
func (r *Request) E2EL() int64 { return since(r.LastToken, r.Sent) }

// TPOT is (E2EL - TTFT)/(output tokens - 1) in nanoseconds; 0 for an output of one token or none.
func (r *Request) TPOT() float64 {
	if r.OutputLen < 2 {
		return 0
	}
	return float64(r.E2EL()-r.TTFT()) / float64(r.OutputLen-1)
}

func since(at, from int64) int64 {
	if at == 0 {
		return 0
	}
	return at - from
}

// samples are the values of successful requests, in milliseconds.
type samples struct {
	ttft, tpot, itl, e2el []float64
	firstText             []float64
	itlToken              []stats.Weighted
	// Of an open loop: t0 - intended start, and latencies counted from the intended start.
	dispatchDelay, scheduledTTFT, scheduledE2EL []float64
}

// collect takes the samples of the requests that keep accepts.
func collect(requests []Request, open bool, keep func(*Request) bool) samples {
	var s samples
	for i := range requests {
		r := &requests[i]
		if !r.OK() || !keep(r) {
			continue
		}
		s.ttft = append(s.ttft, ms(r.TTFT()))
		s.e2el = append(s.e2el, ms(r.E2EL()))
		if r.OutputLen > 1 {
			s.tpot = append(s.tpot, r.TPOT()/1e6)
		}
		if r.FirstText > 0 {
			s.firstText = append(s.firstText, ms(r.FirstText-r.Sent))
		}
		s.gaps(r)
		if open {
			s.dispatchDelay = append(s.dispatchDelay, ms(r.Sent-r.Intended))
			s.scheduledTTFT = append(s.scheduledTTFT, ms(r.FirstEvent-r.Intended))
			s.scheduledE2EL = append(s.scheduledE2EL, ms(r.LastToken-r.Intended))
		}
	}
	return s
}

// gaps adds what lies between the events of a request. Events without tokens delay the next token, so their gap is
// added to the one that follows.
func (s *samples) gaps(r *Request) {
	var last int64 // time of the last event with tokens
	for i, e := range r.Events {
		if i > 0 {
			s.itl = append(s.itl, ms(e.T-r.Events[i-1].T))
		}
		if e.Tokens > 0 {
			if last > 0 {
				n := float64(e.Tokens)
				s.itlToken = append(s.itlToken, stats.Weighted{Value: ms(e.T-last) / n, Weight: n})
			}
			last = e.T
		}
	}
}

func all(*Request) bool { return true }

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// of returns the sample of a reference metric.
func (s *samples) of(metric string) []float64 {
	switch metric {
	case "ttft":
		return s.ttft
	case "tpot":
		return s.tpot
	case "itl":
		return s.itl
	}
	return s.e2el
}

// totals are sums over successful requests.
type totals struct {
	completed, failed     int
	input, output, events int
	cached, cachedOf      int
	good                  int
}

func (res *Result) totals() totals {
	var t totals
	for i := range res.Requests {
		r := &res.Requests[i]
		if !r.OK() {
			t.failed++
			continue
		}
		t.completed++
		t.input += r.InputLen
		t.output += r.OutputLen
		t.events += len(r.Events)
		if r.CachedTokens >= 0 {
			t.cached += r.CachedTokens
			t.cachedOf += r.InputLen
		}
		if res.Plan.SLO.met(r) {
			t.good++
		}
	}
	return t
}

// met holds a request against the limits.
func (l SLO) met(r *Request) bool {
	return (l.TTFT == 0 || r.TTFT() <= int64(l.TTFT)) && (l.TPOT == 0 || r.TPOT() <= float64(l.TPOT)) &&
		(l.E2EL == 0 || r.E2EL() <= int64(l.E2EL))
}

func (l SLO) set() bool { return l != SLO{} }

// buckets sums weights over the seconds since start and returns the greatest sum.
func buckets(start int64, add func(put func(at int64, weight float64))) float64 {
	sums := map[int64]float64{}
	greatest := 0.0
	add(func(at int64, weight float64) {
		second := (at - start) / 1e9
		sums[second] += weight
		greatest = max(greatest, sums[second])
	})
	return greatest
}

// peakRate is the greatest number of events, or of tokens, in a second.
func (res *Result) peakRate(tokens bool) float64 {
	return buckets(res.Start, func(put func(int64, float64)) {
		res.eachEvent(func(e Event) {
			if tokens {
				put(e.T, float64(e.Tokens))
			} else {
				put(e.T, 1)
			}
		})
	})
}

func (res *Result) eachEvent(do func(Event)) {
	for i := range res.Requests {
		if res.Requests[i].OK() {
			for _, e := range res.Requests[i].Events {
				do(e)
			}
		}
	}
}

// touching is TokenSpeed's max_concurrent_requests: the greatest number of successful requests that touch a second.
func (res *Result) touching() float64 {
	return buckets(res.Start, func(put func(int64, float64)) {
		for i := range res.Requests {
			if r := &res.Requests[i]; r.OK() {
				first, last := (r.Sent-res.Start)/1e9, (r.LastToken-res.Start)/1e9
				for second := first; second <= last; second++ {
					put(res.Start+second*1e9, 1)
				}
			}
		}
	})
}

// tokensSource is the least certain source among the successful requests.
func (res *Result) tokensSource() TokensSource {
	order := []TokensSource{TokensFromUsage, TokensOnePerEvent, TokensEstimated, TokensUnknown}
	worst := 0
	for i := range res.Requests {
		if r := &res.Requests[i]; r.OK() {
			worst = max(worst, slices.Index(order, r.TokensSource))
		}
	}
	return order[worst]
}
