package loadgen

import (
	"encoding/json"
	"testing"
	"time"
)

func TestRunClosedLoop(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 5 * time.Millisecond, gap: time.Millisecond})
	p := smallPlan(e)
	p.NumWarmups = 2
	res := mustRun(t, p)
	for i := range res.Requests {
		q := &res.Requests[i]
		if !q.OK() {
			t.Fatalf("request %d: %s: %s", i, q.Failure, q.Detail)
		}
		if q.OutputLen != 8 || q.InputLen != 20 || len(q.Events) != 8 || q.TokensSource != TokensOnePerEvent || q.FinishReason != "length" {
			t.Errorf("request %d: %+v", i, q)
		}
		phases := []int64{q.Intended, q.Dispatch, q.Sent, q.FirstByte, q.FirstEvent, q.LastToken, q.Usage, q.Done}
		for k := 1; k < len(phases); k++ {
			if phases[k] < phases[k-1] {
				t.Errorf("request %d: phase %d before phase %d: %v", i, k, k-1, phases)
			}
		}
		if q.TTFT() < int64(e.first) {
			t.Errorf("request %d: ttft %d below the engine's %v", i, q.TTFT(), e.first)
		}
	}
	if got := e.requests.Load(); got != 14 {
		t.Errorf("requests: got %d, want 14", got)
	}
	if got := res.Audit.InFlight.Peak; got != 4 || e.peak.Load() != 4 {
		t.Errorf("peak in flight: got %d, the engine saw %d, want 4", got, e.peak.Load())
	}
	b, err := json.MarshalIndent(res.Export(false), "", " ")
	t.Logf("%s %v", b, err)
}
