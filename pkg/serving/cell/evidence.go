package cell

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// evidence takes from a step what the excursion rules read.
func evidence(r *loadgen.Result, export loadgen.Export) Evidence {
	e := Evidence{DurationMs: float64(r.End-r.Start) / 1e6, P50TPOT: number(export, "median_tpot_ms"), Tags: map[string]string{}}
	for _, name := range r.Tags {
		e.Tags[name] = cmp.Or(r.Reasons[name], "found by the load generator")
	}
	var ttft []float64
	for i := range r.Requests {
		req := &r.Requests[i]
		if !req.OK() || req.FirstEvent == 0 {
			continue
		}
		ttft = append(ttft, float64(req.FirstEvent-req.Sent)/1e6)
	}
	ttft = stats.Sorted(ttft)
	e.P50TTFT, e.P90TTFT, e.P99TTFT = stats.Percentile(ttft, 50), stats.Percentile(ttft, 90), stats.Percentile(ttft, 99)
	e.FirstWave, e.FirstWaveLate = firstWave(r.Requests, ttft)
	e.Connect = connectEvidence(r)
	return e
}

// firstWave counts the requests that were sent before any token came back, and those of them that came stallMs later
// than the quickest request of the step.
func firstWave(requests []loadgen.Request, ttft []float64) (wave, late int) {
	if len(ttft) == 0 {
		return 0, 0
	}
	first := int64(math.MaxInt64)
	for i := range requests {
		if req := &requests[i]; req.OK() && req.FirstEvent != 0 {
			first = min(first, req.FirstEvent)
		}
	}
	for i := range requests {
		req := &requests[i]
		if !req.OK() || req.Sent > first {
			continue
		}
		wave++
		if float64(req.FirstEvent-req.Sent)/1e6 >= ttft[0]+stallMs {
			late++
		}
	}
	return wave, late
}

// connectEvidence says what the kernel and the requests' own phases tell about slow connections; empty for nothing. It
// only ever explains a delay that was measured: a retransmission alone is no stall. It looks at our own connections only;
// the host's counters, such as ListenOverflows, grow by what others do.
func connectEvidence(r *loadgen.Result) string {
	var found []string
	say := func(n int64, format string) {
		if n > 0 {
			found = append(found, fmt.Sprintf(format, n))
		}
	}
	say(int64(r.Audit.Connect.SYNRetransmits), "%d SYN retransmissions")
	say(int64(r.Audit.Network.Retransmits), "%d segments retransmitted")
	say(int64(waited(r.Requests)), "%d requests waited for their connection")
	return strings.Join(found, ", ")
}

// waited counts the requests that had to dial again and were late by it.
func waited(requests []loadgen.Request) int {
	n := 0
	for i := range requests {
		if req := &requests[i]; req.Redialled && float64(req.Connected-req.Dispatch)/1e6 >= stallMs {
			n++
		}
	}
	return n
}

func number(export loadgen.Export, key string) float64 {
	if v, ok := export.Float(key); ok {
		return v
	}
	return math.NaN()
}
