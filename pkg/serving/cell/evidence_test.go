package cell

import (
	"math"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

const ms = int64(1e6)

// served is a request that was sent at the given time and whose first token came ttft later, both in milliseconds.
func served(sent, ttft int64) loadgen.Request {
	return loadgen.Request{Dispatch: sent * ms, Connected: sent * ms, Sent: sent * ms, FirstEvent: (sent + ttft) * ms, LastToken: (sent + ttft + 100) * ms}
}

// The figures of a step come from its successful requests; the first wave is what went out before any token came back.
func TestEvidence(t *testing.T) {
	r := &loadgen.Result{Start: 0, End: 1500 * ms, Tags: []string{loadgen.TagWarmPrefix}, Reasons: map[string]string{loadgen.TagWarmPrefix: "16 cached"}}
	for i := range int64(8) { // the first wave; three of it wait
		ttft := int64(50)
		if i >= 5 {
			ttft = 980
		}
		r.Requests = append(r.Requests, served(i, ttft))
	}
	for range 12 {
		r.Requests = append(r.Requests, served(200, 50))
	}
	failed := served(0, 1)
	failed.Failure = loadgen.Truncated
	r.Requests = append(r.Requests, failed)

	got := evidence(r, loadgen.Export{{Key: "median_tpot_ms", Value: 1.9}})
	if got.FirstWave != 8 || got.FirstWaveLate != 3 {
		t.Errorf("got a first wave of %d with %d late, want 8 with 3", got.FirstWave, got.FirstWaveLate)
	}
	near(t, "duration", got.DurationMs, 1500, 1e-9)
	near(t, "p50 TTFT", got.P50TTFT, 50, 1e-9)
	near(t, "p90 TTFT", got.P90TTFT, 980, 1e-9)
	near(t, "TPOT", got.P50TPOT, 1.9, 1e-9)
	if got.Tags[loadgen.TagWarmPrefix] != "16 cached" {
		t.Errorf("got tags %v, want warm_prefix with its reason", got.Tags)
	}
	empty := evidence(&loadgen.Result{}, nil)
	if !math.IsNaN(empty.P50TTFT) || empty.FirstWave != 0 {
		t.Errorf("without requests: got %+v, want nothing known", empty)
	}
}

func TestConnectEvidence(t *testing.T) {
	redialled := served(0, 50)
	redialled.Redialled, redialled.Connected = true, 1001*ms
	tests := []struct {
		name string
		r    loadgen.Result
		want string
	}{
		{"nothing", loadgen.Result{}, ""},
		{"not known", loadgen.Result{Audit: loadgen.Audit{Connect: loadgen.Connect{SYNRetransmits: -1}, Network: loadgen.Network{Retransmits: -1}}}, ""},
		{"SYN", loadgen.Result{Audit: loadgen.Audit{Connect: loadgen.Connect{SYNRetransmits: 3}}}, "3 SYN retransmissions"},
		{"segments", loadgen.Result{Audit: loadgen.Audit{Network: loadgen.Network{Retransmits: 2}}}, "2 segments retransmitted"},
		{"a request's own phases", loadgen.Result{Requests: []loadgen.Request{redialled, served(0, 50)}}, "1 requests waited for their connection"},
		{"what happened elsewhere on the host", loadgen.Result{Audit: loadgen.Audit{Network: loadgen.Network{Host: map[string]int64{"ListenOverflows": 9, "TCPTimeouts": 9}}}}, ""},
	}
	for _, test := range tests {
		if got := connectEvidence(&test.r); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestRequestsAreCountedByClass(t *testing.T) {
	class := func(c loadgen.Class, detail string) loadgen.Request {
		return loadgen.Request{Failure: c, Detail: detail}
	}
	f := &Failure{Message: "2 of 5 completed"}
	f.addRequests([]loadgen.Request{served(0, 1), served(0, 1), class(loadgen.Truncated, "after 3 events"), class(loadgen.Truncated, "after 4 events"),
		class(loadgen.HTTPStatus, "503"), class(loadgen.Canceled, "cut off")})
	if f.Requests[loadgen.Truncated] != 2 || f.Requests[loadgen.HTTPStatus] != 1 || len(f.Requests) != 2 {
		t.Errorf("got %v, want 2 truncated and 1 http_status", f.Requests)
	}
	if want := "2 of 5 completed; truncated: after 3 events; http_status: 503"; f.Message != want {
		t.Errorf("got %q, want %q", f.Message, want)
	}
	if strings.Contains(f.Message, "cut off") {
		t.Error("requests that were cut off with the step count as failures")
	}
}
