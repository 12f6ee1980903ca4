package loadgen

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The definitional traps that other load generators fall into, one test each. Those of framing are in sse_test.go, of
// the pool in TestNoHiddenCeiling, of pacing in TestArrivalsAreNotRescaled, of failed requests in
// TestFailuresStayOutOfLatencies, of t0 and connects in TestServerClosesBetweenRequests.

// t0 holds neither the queue before a slot nor the building of the request.
func TestTrapQueueIsNotTTFT(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 20 * time.Millisecond})
	p := smallPlan(e)
	p.NumPrompts, p.MaxConcurrency, p.OutputLen = 10, 1, 1
	res := mustRun(t, p)
	allOK(t, res)
	for i := range res.Requests {
		if q := &res.Requests[i]; q.TTFT() >= 2*int64(e.first) && i > 0 && q.Sent < res.Requests[i-1].End {
			t.Errorf("request %d waited for its slot inside its ttft (%d ns)", i, q.TTFT())
		}
	}
}

func chatEvent(delta, finish string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

// A chat's role-only chunk is TokenSpeed's TTFT; ours stands beside it and shows the difference, and the chunk adds no
// gap to itl_token.
func TestTrapRoleOnlyChunk(t *testing.T) {
	events := []string{chatEvent(`{"role":"assistant","content":""}`, "null")}
	for range 4 {
		events = append(events, chatEvent(`{"content":"tok"}`, "null"))
	}
	events = append(events, chatEvent(`{}`, `"length"`), usageEvent(3, 4), "[DONE]")
	r := replay(true, 4, 10, events...)
	if !r.OK() || r.TokensSource != TokensOnePerEvent {
		t.Fatalf("%s: %s, %s", r.Failure, r.Detail, r.TokensSource)
	}
	res := &Result{Requests: []Request{*r}, Plan: Plan{Percentiles: []float64{50}}}
	exp := res.Export(false)
	for key, want := range map[string]float64{"median_ttft_ms": 10, "median_first_text_ttft_ms": 20, "mean_itl_token_ms": 10, "mean_itl_event_ms": 10} {
		if got, _ := exp.Float(key); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	if n := Pool([]float64{50}, res); !hasN(n, "pooled_n_itl", 5) || !hasN(n, "pooled_n_itl_token", 3) {
		t.Errorf("samples: %v", n)
	}
}

func hasN(e Export, key string, want float64) bool {
	got, ok := e.Float(key)
	return ok && got == want
}

// Reasoning is text but no content.
func TestTrapReasoningIsNoContent(t *testing.T) {
	r := replay(true, 2, 10, chatEvent(`{"role":"assistant"}`, "null"), chatEvent(`{"reasoning_content":"hm"}`, "null"),
		chatEvent(`{"content":"a"}`, `"stop"`), usageEvent(3, 2), "[DONE]")
	if r.FirstEvent != 1+10e6 || r.FirstText != 1+20e6 || r.FirstContent != 1+30e6 {
		t.Errorf("first event %d, text %d, content %d", r.FirstEvent, r.FirstText, r.FirstContent)
	}
}

// K tokens an event: TPOT counts the first K as one token, itl as many gaps as events; itl_token is right.
func TestTrapTokensPerEvent(t *testing.T) {
	events, total := bundles(repeat(4, 8)...)
	res := &Result{Requests: []Request{*replay(false, total, 40, events...)}, Plan: Plan{Percentiles: []float64{50}}}
	exp := res.Export(false)
	for key, want := range map[string]float64{"mean_itl_ms": 40, "mean_tpot_ms": 7 * 40.0 / 31, "mean_itl_token_ms": 10, "p50_itl_token_ms": 10, "tokens_per_event": 4} {
		if got, _ := exp.Float(key); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

// TPOT is divided by what came, not by what was asked for; E2EL ends at the last token, not at usage or [DONE].
func TestTrapTPOT(t *testing.T) {
	r := replay(false, 99, 10, textEvent(1), textEvent(1), textEvent(1), usageEvent(3, 3), "[DONE]")
	if r.E2EL() != 30e6 || r.TPOT() != 10e6 {
		t.Errorf("e2el %d, tpot %v", r.E2EL(), r.TPOT())
	}
	if one := replay(false, 1, 10, textEvent(1), usageEvent(3, 1), "[DONE]"); one.TPOT() != 0 {
		t.Errorf("a single token has a tpot of %v", one.TPOT())
	}
}

// Several events in one read share a stamp, and are counted.
func TestTrapCoalescedReads(t *testing.T) {
	p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool {
		io.WriteString(c, whole(fourTokens()...))
		return true
	}))
	res := mustRun(t, p)
	allOK(t, res)
	if q := &res.Requests[0]; q.Reads != 1 || q.Coalesced != 3 {
		t.Errorf("reads %d, coalesced %d, want 1 and 3", q.Reads, q.Coalesced)
	}
	exp := res.Export(false)
	if perRead, _ := exp.Float("events_per_read"); perRead != 4 {
		t.Errorf("events_per_read: got %v, want 4", perRead)
	}
	if share, _ := exp.Float("coalesced_share"); share != 0.75 {
		t.Errorf("coalesced_share: got %v, want 0.75", share)
	}
}

// Warm-ups and measured requests never share a prompt, nor do steps, discarded or not.
func TestTrapWarmupsWarmThePrefixCache(t *testing.T) {
	prompts := map[string]string{}
	e := startEngine(t, &fakeEngine{})
	record := make(chan [2]string, 1000)
	e.answer = func(_ http.ResponseWriter, req *askedFor) bool {
		record <- [2]string{string(req.Prompt), req.ID}
		return false
	}
	for step := range 2 {
		for _, discarded := range []bool{true, false} {
			p := smallPlan(e)
			p.NumWarmups, p.Step, p.Discarded, p.OutputLen = 3, step, discarded, 1
			allOK(t, mustRun(t, p))
		}
	}
	if _, err := Canary(t.Context(), smallPlan(e)); err != nil {
		t.Fatal(err)
	}
	for len(record) > 0 {
		r := <-record
		ids := strings.Split(r[0], ",")
		key := strings.Join(ids[:min(len(ids), 16)], ",")
		if other, dup := prompts[key]; dup {
			t.Errorf("%s and %s begin alike", r[1], other)
		}
		prompts[key] = r[1]
	}
	if len(prompts) != 4*15+1 {
		t.Errorf("got %d prompts", len(prompts))
	}
}

// max_concurrent_requests keeps the reference's meaning, requests that touch a second; peak_in_flight is the truth.
// So does max_output_tokens_per_s, events a second, beside peak_output_tokens_per_s.
func TestTrapPeaks(t *testing.T) {
	const s = int64(1e9)
	res := &Result{Start: s, End: 2 * s, Plan: Plan{Percentiles: []float64{50}}}
	for i := range int64(3) {
		at := s + i*s/4
		res.Requests = append(res.Requests, Request{Sent: at, FirstEvent: at + 1, LastToken: at + s/5, End: at + s/5, OutputLen: 16,
			Events: []Event{{T: at + 1, Tokens: 8}, {T: at + s/5, Tokens: 8}}})
	}
	res.Audit.InFlight.Peak = peakOf(edges(res.Requests))
	exp := res.Export(false)
	for key, want := range map[string]float64{"max_concurrent_requests": 3, "peak_in_flight": 1, "max_output_tokens_per_s": 6, "peak_output_tokens_per_s": 48} {
		if got, _ := exp.Float(key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

// The first wave meets an idle engine all at once: it is told apart and kept out of the steady figures.
func TestTrapLockstepStart(t *testing.T) {
	res := recorded()
	res.Requests[1].FirstWave = true
	exp := res.Export(false)
	for key, want := range map[string]float64{"first_wave_requests": 1, "first_wave_median_ttft_ms": 70, "steady_requests": 1,
		"steady_median_ttft_ms": 50, "median_ttft_ms": 60} {
		if got, _ := exp.Float(key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

// Proxies of the environment are not honoured.
func TestTrapProxies(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	allOK(t, mustRun(t, smallPlan(startEngine(t, &fakeEngine{}))))
}

// A prompt served from the cache is told.
func TestTrapWarmPrefix(t *testing.T) {
	events := fourTokens()
	events[4] = `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}`
	p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool { io.WriteString(c, whole(events...)); return true }))
	res := mustRun(t, p)
	allOK(t, res)
	if !slices.Contains(res.Tags, TagWarmPrefix) {
		t.Errorf("tags %v", res.Tags)
	}
	if share, _ := res.Export(false).Float("cached_token_share"); math.Abs(share-2.0/3) > 1e-9 {
		t.Errorf("cached_token_share: got %v", share)
	}
}
