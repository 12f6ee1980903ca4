package loadgen

import (
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// putExtras writes our own keys: numbers that the reference does not have, null where there is no sample.
func (res *Result) putExtras(e *Export, t totals, s samples) {
	e.put("client", "native")
	e.put("clock", string(res.Clock))
	e.put("loop", res.Audit.Stimulus.Loop)
	e.put("prompt", string(res.Plan.Prompt))
	e.put("seed", res.Plan.Seed)
	e.put("step", res.Plan.Step)
	e.put("ttft_definition", "first choices event - t0")
	e.put("tokens_source", string(res.tokensSource()))

	res.putSpread(e, "", "first_text_ttft", s.firstText)
	res.putSpread(e, "", "itl_event", s.itl)
	res.putTokens(e, s.itlToken)
	res.putSpread(e, "", "dispatch_delay", s.dispatchDelay)
	res.putSpread(e, "", "scheduled_ttft", s.scheduledTTFT)
	res.putSpread(e, "", "scheduled_e2el", s.scheduledE2EL)

	c, f := &res.Audit.Client, &res.Audit.InFlight
	e.put("tokens_per_event", float64(t.output)/float64(t.events))
	e.put("events_per_read", float64(c.Events)/float64(c.Reads))
	e.put("coalesced_share", c.CoalescedShare)
	e.put("cached_token_share", float64(t.cached)/float64(t.cachedOf))
	e.put("peak_output_tokens_per_s", res.peakRate(true))
	e.put("peak_in_flight", f.Peak)
	e.put("mean_in_flight", f.Mean)
	res.putSteady(e)
	res.putFirstWave(e)
	e.put("failure_classes", res.classes(func(r *Request) []Class {
		if r.OK() {
			return nil
		}
		return []Class{r.Failure}
	}))
	e.put("tolerated_classes", res.classes(func(r *Request) []Class { return r.Tolerated }))
	e.put("tags", append([]string{}, res.Tags...))
	e.put("tag_reasons", res.Reasons)
	e.put("audit", res.Audit)
}

// putSpread writes mean, median and percentiles of a sample in milliseconds; part prefixes the keys of a sample that is
// a part of the step.
func (res *Result) putSpread(e *Export, part, m string, values []float64) {
	sorted := stats.Sorted(values)
	e.put(part+"mean_"+m+"_ms", stats.Mean(values))
	e.put(part+"median_"+m+"_ms", stats.Percentile(sorted, 50))
	for _, p := range res.Plan.Percentiles {
		e.put(part+"p"+percentileName(p)+"_"+m+"_ms", stats.Percentile(sorted, p))
	}
}

// putTokens writes the token-weighted gaps.
func (res *Result) putTokens(e *Export, values []stats.Weighted) {
	w := stats.NewWeighted(values)
	e.put("mean_itl_token_ms", w.Mean())
	e.put("median_itl_token_ms", w.Percentile(50))
	for _, p := range res.Plan.Percentiles {
		e.put("p"+percentileName(p)+"_itl_token_ms", w.Percentile(p))
	}
}

// putSteady writes what happened inside the steady window: rates over its length, latencies of the requests sent in it
// after the first wave. Ramp and drain are left out.
func (res *Result) putSteady(e *Export) {
	f := &res.Audit.InFlight
	from, to := res.Start+int64(f.SteadyStart*1e9), res.Start+int64(f.SteadyEnd*1e9)
	seconds := f.SteadyEnd - f.SteadyStart
	inside := func(at int64) bool { return at >= from && at <= to }
	s := collect(res.Requests, false, func(r *Request) bool { return inside(r.Sent) && !r.FirstWave })
	tokens, ended := 0.0, 0
	res.eachEvent(func(ev Event) {
		if inside(ev.T) {
			tokens += float64(ev.Tokens)
		}
	})
	for i := range res.Requests {
		if r := &res.Requests[i]; r.OK() && inside(r.End) {
			ended++
		}
	}
	e.put("steady_start_s", f.SteadyStart)
	e.put("steady_end_s", f.SteadyEnd)
	e.put("steady_duration_s", seconds)
	e.put("steady_requests", len(s.ttft))
	e.put("steady_request_throughput", float64(ended)/seconds)
	e.put("steady_output_throughput", tokens/seconds)
	for _, m := range referenceMetrics {
		res.putSpread(e, "steady_", m, s.of(m))
	}
}

// putFirstWave writes the first wave of a closed loop, whose requests meet an idle engine all at once.
func (res *Result) putFirstWave(e *Export) {
	s := collect(res.Requests, false, func(r *Request) bool { return r.FirstWave })
	e.put("first_wave_requests", len(s.ttft))
	res.putSpread(e, "first_wave_", "ttft", s.ttft)
}

// classes counts classes over the requests.
func (res *Result) classes(of func(*Request) []Class) map[string]int {
	m := map[string]int{}
	for i := range res.Requests {
		for _, c := range of(&res.Requests[i]) {
			m[string(c)]++
		}
	}
	return m
}
