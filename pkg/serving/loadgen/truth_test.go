package loadgen_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// slack is for the conversion of the wall clock, exact to some microseconds.
const slack = int64(time.Millisecond)

// Event by event against the engine's own send log: nothing is lost, nothing is stamped before it was sent, and the
// engine saw as many at once as the client says. How exact the stamps are is measured by make bench-loadgen; a test on
// a loaded machine cannot.
func TestAgainstTheSendLog(t *testing.T) {
	profile := enginesim.DefaultProfile()
	profile.TTFT, profile.ITL, profile.TokensPerEvent = 5*time.Millisecond, 300*time.Microsecond, 2
	var sent bytes.Buffer
	engine, err := enginesim.Start(enginesim.Config{Model: "sim", ControlPort: -1, Profile: profile, CacheReport: true, SendLog: &sent})
	if err != nil {
		t.Fatal(err)
	}
	<-engine.Ready()
	res, err := loadgen.Run(t.Context(), loadgen.Plan{
		BaseURL: engine.URL(), Model: "sim", NumPrompts: 24, NumWarmups: 2, InputLen: 64, OutputLen: 32, IgnoreEOS: true, MaxConcurrency: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := enginesim.ReadSendLog(&sent)
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]enginesim.Record{}
	for _, r := range log.Records {
		records[r.ID] = r
	}
	if len(records) != 26 {
		t.Errorf("the engine saw %d requests, want 26", len(records))
	}
	peak := 0
	for i := range res.Requests {
		q := &res.Requests[i]
		r, ok := records[q.ID]
		if !q.OK() || !ok {
			t.Fatalf("request %s: %s: %s, in the log %v", q.ID, q.Failure, q.Detail, ok)
		}
		peak = max(peak, r.InFlight)
		if q.InputLen != r.PromptTokens || q.OutputLen != r.OutputTokens || q.CachedTokens != 0 {
			t.Errorf("request %s: %d+%d tokens, %d cached, the engine says %d+%d", q.ID, q.InputLen, q.OutputLen, q.CachedTokens, r.PromptTokens, r.OutputTokens)
		}
		// Both stamp the same clock.
		if q.Sent > r.Read+slack {
			t.Errorf("request %s: sent %d ns after it was read", q.ID, q.Sent-r.Read)
		}
		compareEvents(t, q, r)
	}
	if res.Audit.InFlight.Peak < peak || res.Audit.InFlight.Peak != 8 {
		t.Errorf("peak in flight: got %d, the engine saw %d", res.Audit.InFlight.Peak, peak)
	}
}

func compareEvents(t *testing.T, q *loadgen.Request, r enginesim.Record) {
	t.Helper()
	k := 0
	for _, w := range r.Writes {
		for range w.Events {
			if k == len(q.Events) {
				t.Fatalf("request %s: only %d events came", q.ID, k)
			}
			if at := q.Events[k].T; at < w.At-slack {
				t.Errorf("request %s, event %d: stamped %d ns before it was sent", q.ID, k, w.At-at)
			}
			k++
		}
	}
	if k != len(q.Events) {
		t.Errorf("request %s: %d events came, %d were sent", q.ID, len(q.Events), k)
	}
}
