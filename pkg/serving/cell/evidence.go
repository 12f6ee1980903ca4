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
		if t := requests[i].FirstEvent; t != 0 {
			first = min(first, t)
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

// connectCounters are the kernel's counts of what delays a connection, by their names in /proc/net/netstat and snmp.
var connectCounters = []string{"TCPSynRetrans", "TCPTimeouts", "ListenOverflows", "ListenDrops"}

// connectEvidence says what the kernel and the requests' own phases tell about slow connections; empty for nothing. The
// kernel's counters are of the whole network namespace, so they only ever explain a delay that was measured.
func connectEvidence(r *loadgen.Result) string {
	var found []string
	if n := r.Audit.Connect.SYNRetransmits; n > 0 {
		found = append(found, fmt.Sprintf("%d SYN retransmissions of our connections", n))
	}
	slow := 0
	for i := range r.Requests {
		if req := &r.Requests[i]; req.Redialled && float64(req.Connected-req.Dispatch)/1e6 >= stallMs {
			slow++
		}
	}
	if slow > 0 {
		found = append(found, fmt.Sprintf("%d requests waited %.0f ms or more for their connection", slow, stallMs))
	}
	for name, delta := range r.Audit.Network.Host {
		for _, want := range connectCounters {
			if delta > 0 && (name == want || strings.HasSuffix(name, "."+want) || strings.HasSuffix(name, ":"+want)) {
				found = append(found, fmt.Sprintf("%s grew by %d", name, delta))
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func number(export loadgen.Export, key string) float64 {
	if v, ok := export.Float(key); ok {
		return v
	}
	return math.NaN()
}
