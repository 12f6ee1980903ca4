package loadgen

import (
	"slices"
	"testing"
	"time"
)

func TestTags(t *testing.T) {
	closed := func(spoil func(*Result)) *Result {
		res := &Result{Plan: Plan{NumPrompts: 10, MaxConcurrency: 4}, Reasons: map[string]string{}, Requests: make([]Request, 10)}
		res.Audit.Stimulus.Loop = "closed"
		res.Audit.InFlight = InFlight{Planned: 4, Peak: 4, PlateauMean: 4}
		res.Audit.Connect.Connections = 4
		for i := range res.Requests {
			res.Requests[i].CachedTokens = -1
		}
		spoil(res)
		return res
	}
	open := func(spoil func(*Stimulus)) func(*Result) {
		return func(r *Result) {
			r.Audit.InFlight.Planned, r.Plan.MaxConcurrency = 0, 0
			r.Audit.Stimulus = Stimulus{Loop: "open", PlannedRate: 100, AchievedRate: 99, LagP99Ms: 1, GapKS: 0.1, GapKSLimit: 0.3}
			spoil(&r.Audit.Stimulus)
		}
	}
	tests := []struct {
		name  string
		spoil func(*Result)
		want  string
	}{
		{"clean", func(*Result) {}, ""},
		{"busy", func(r *Result) { r.Audit.Client.CPUShare = 0.95 }, TagClientLimited},
		{"waiting for a core", func(r *Result) { r.Audit.Client.RunDelayShare = 0.4 }, TagClientLimited},
		{"late", func(r *Result) { r.Audit.Client.LagP99Ms = 6 }, TagClientLimited},
		{"late against the gaps", func(r *Result) {
			r.Audit.Client.LagP99Ms = 1.5
			r.Requests[0] = Request{FirstEvent: 1, LastToken: 1 + int64(2*time.Millisecond), Events: make([]Event, 2), CachedTokens: -1}
		}, TagClientLimited},
		{"late against the gaps on loopback", func(r *Result) {
			r.Clock, r.Audit.Connect.Loopback, r.Audit.Client.LagP99Ms = KernelClock, true, 4
			r.Requests[0] = Request{FirstEvent: 1, LastToken: 1 + int64(2*time.Millisecond), Events: make([]Event, 2), CachedTokens: -1}
		}, ""},
		{"short of connections", func(r *Result) { r.Audit.Connect.Connections = 3 }, TagLoadNotDelivered},
		{"short of the peak", func(r *Result) { r.Audit.InFlight.Peak = 3 }, TagLoadNotDelivered},
		{"a thin plateau", func(r *Result) { r.Audit.InFlight.PlateauMean = 3.5 }, TagLoadNotDelivered},
		{"not sent", func(r *Result) { r.Audit.Stimulus.NotSent = 1 }, TagLoadNotDelivered},
		{"open", open(func(*Stimulus) {}), ""},
		{"slow arrivals", open(func(s *Stimulus) { s.AchievedRate = 90 }), TagLoadNotDelivered},
		{"late arrivals", open(func(s *Stimulus) { s.LagP99Ms = 20 }), TagLoadNotDelivered},
		{"odd gaps", open(func(s *Stimulus) { s.GapKS = 0.4 }), TagLoadNotDelivered},
		{"a SYN was lost", func(r *Result) { r.Audit.Connect.SYNRetransmits = 1 }, TagConnectStall},
		{"a slow connect", func(r *Result) { r.Audit.Connect.MaxMs = 1004 }, TagConnectStall},
		{"short outputs", func(r *Result) { r.Requests[3].Failure = ShortOutput }, TagShortOutput},
		{"tolerated short outputs", func(r *Result) { r.Requests[3].Tolerated = []Class{ShortOutput} }, TagShortOutput},
		{"warm", func(r *Result) { r.Requests[0].InputLen, r.Requests[0].CachedTokens = 100, 16 }, TagWarmPrefix},
		{"one shared token is not warm", func(r *Result) { r.Requests[0].InputLen, r.Requests[0].CachedTokens = 512, 1 }, ""},
	}
	for _, tt := range tests {
		res := closed(tt.spoil)
		res.conclude()
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		if !slices.Equal(res.Tags, want) {
			t.Errorf("%s: got %v, want %v", tt.name, res.Reasons, want)
		}
	}
}

// Arrivals that are too even or too bursty for the distribution asked for are told by their gaps.
func TestGapTest(t *testing.T) {
	plan := Plan{NumPrompts: 200, RequestRate: 50, Burstiness: 1}
	send := func(p *Plan) []Request {
		requests := make([]Request, p.NumPrompts)
		for i, at := range arrivals(p) {
			requests[i].Sent = 1 + int64(at*1e9)
		}
		return requests
	}
	if d, limit := plan.gapTest(send(&plan)); d > limit || limit == 0 {
		t.Errorf("proper arrivals: %v over %v", d, limit)
	}
	bursty := plan
	bursty.Burstiness = 0.2
	if d, limit := plan.gapTest(send(&bursty)); d < limit {
		t.Errorf("bursty arrivals: %v under %v", d, limit)
	}
	plan.NumPrompts = 10
	if _, limit := plan.gapTest(send(&plan)); limit != 0 {
		t.Errorf("ten arrivals are tested: %v", limit)
	}
}

func TestSelfAuditIsFilledIn(t *testing.T) {
	res := mustRun(t, smallPlan(startEngine(t, &fakeEngine{first: time.Millisecond})))
	allOK(t, res)
	c := res.Audit.Client
	if res.Clock != UserClock && res.Clock != KernelClock || !res.Audit.Connect.Loopback || c.CPUShare <= 0 || c.Cores < 1 || c.Events != 96 || c.Reads == 0 || c.LagMaxMs <= 0 {
		t.Errorf("client: %+v", c)
	}
}
