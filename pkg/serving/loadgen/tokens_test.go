package loadgen

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// replay feeds events to a stream, gap apart in milliseconds, and judges them.
func replay(chat bool, want int, gap int64, events ...string) *Request {
	s := &stream{}
	s.prepare(chat)
	r := &Request{Sent: 1}
	s.begin(r)
	head := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	at := int64(1)
	s.take([]byte(head), at)
	for _, e := range events {
		at += gap * 1e6
		s.take([]byte(chunk("data: "+e+"\n\n")), at)
	}
	s.take([]byte("0\r\n\r\n"), at)
	s.judge(r, &order{wantIn: 3, wantOut: want, exact: true}, nil, "", nil)
	return r
}

func textEvent(tokens int) string { return completionEvent(strings.Repeat(" tok", tokens), "null") }

// bundles makes a stream of these numbers of tokens an event.
func bundles(sizes ...int) (events []string, total int) {
	for _, n := range sizes {
		events = append(events, textEvent(n))
		total += n
	}
	events[len(events)-1] = completionEvent(strings.Repeat(" tok", sizes[len(sizes)-1]), `"length"`)
	return append(events, usageEvent(3, total), "[DONE]"), total
}

func repeat(n, times int) []int {
	out := make([]int, times)
	for i := range out {
		out[i] = n
	}
	return out
}

func TestTokensOfEvents(t *testing.T) {
	eights := repeat(8, 16)
	tests := []struct {
		name   string
		sizes  []int
		source TokensSource
		first  float32
		mean   float64 // of itl_token, ms, with events 80 ms apart
	}{
		{"one an event", repeat(1, 8), TokensOnePerEvent, 1, 80},
		{"eight an event", eights, TokensEstimated, 8, 10},
		{"one, then eight an event", append([]int{1}, eights...), TokensEstimated, 1, 10},
		{"a large first bundle", append([]int{32}, eights...), TokensEstimated, 32, 10},
		{"all at once", []int{16}, TokensEstimated, 16, math.NaN()},
	}
	for _, tt := range tests {
		events, total := bundles(tt.sizes...)
		r := replay(false, total, 80, events...)
		if !r.OK() {
			t.Fatalf("%s: %s: %s", tt.name, r.Failure, r.Detail)
		}
		sum := float32(0)
		for _, e := range r.Events {
			sum += e.Tokens
		}
		if r.TokensSource != tt.source || math.Abs(float64(r.Events[0].Tokens-tt.first)) > 1e-3 || math.Abs(float64(sum)-float64(total)) > 1e-3 {
			t.Errorf("%s: source %s, first %v, sum %v of %d", tt.name, r.TokensSource, r.Events[0].Tokens, sum, total)
		}
		res := &Result{Requests: []Request{*r}, Plan: Plan{Percentiles: []float64{99}}}
		mean, ok := res.Export(false).Float("mean_itl_token_ms")
		if ok == math.IsNaN(tt.mean) || ok && math.Abs(mean-tt.mean) > 1e-3 {
			t.Errorf("%s: mean itl_token: got %v %v, want %v", tt.name, mean, ok, tt.mean)
		}
	}
}

func usageChunk(text string, output int) string {
	return fmt.Sprintf(`{"choices":[{"text":%q,"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`, text, output)
}

func TestTokensFromUsageInEveryEvent(t *testing.T) {
	r := replay(false, 9, 10, usageChunk("a", 1), usageChunk("b", 5), usageChunk("c", 9), usageEvent(3, 9), "[DONE]")
	if r.TokensSource != TokensFromUsage || r.Events[0].Tokens != 1 || r.Events[1].Tokens != 4 || r.Events[2].Tokens != 4 || !r.OK() {
		t.Errorf("got %s, %v, %s", r.TokensSource, r.Events, r.Failure)
	}
	// Only the last is real.
	r = replay(false, 9, 10, usageChunk("a", 0), usageChunk("b", 0), usageChunk("c", 0), usageEvent(3, 9), "[DONE]")
	if r.TokensSource != TokensEstimated || r.OutputLen != 9 || !r.OK() {
		t.Errorf("only the last: got %s, %d tokens, %s", r.TokensSource, r.OutputLen, r.Failure)
	}
	r = replay(false, 9, 10, usageChunk("a", 7), usageChunk("b", 3), usageChunk("c", 9), "[DONE]")
	if r.TokensSource != TokensEstimated || r.OutputLen != 9 || !r.OK() {
		t.Errorf("a total that falls: got %s, %d tokens, %s", r.TokensSource, r.OutputLen, r.Failure)
	}
}
