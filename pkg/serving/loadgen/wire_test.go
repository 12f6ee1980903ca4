package loadgen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWire(t *testing.T) {
	p := Plan{
		BaseURL: "http://engine:8000/base/", Model: `m"1`, NumPrompts: 2, InputLen: 3, OutputLen: 7, IgnoreEOS: true, Step: 1, APIKey: "k",
		ExtraBody: map[string]any{"temperature": 0.5, "repetition_penalty": nil}, OmitBody: []string{"logprobs"}, UsageEachChunk: true,
	}
	r, err := newRunner(p)
	if err != nil {
		t.Fatal(err)
	}
	orders, err := r.write.orders(measured, 2)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(orders[1].wire), "\r\n\r\n")
	for _, want := range []string{"POST /base/v1/completions HTTP/1.1\r\n", "\r\nHost: engine:8000\r\n", "\r\nAuthorization: Bearer k\r\n",
		"\r\nX-Request-Id: gatehouse-s1-r1\r\n", fmt.Sprintf("\r\nContent-Length: %d", len(body))} {
		if !strings.Contains(head+"\r\n", want) {
			t.Errorf("head lacks %q: %q", want, head)
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("body %s: %v", body, err)
	}
	ids, _ := got["prompt"].([]any)
	delete(got, "prompt")
	want := map[string]any{"model": `m"1`, "max_tokens": 7.0, "stream": true, "ignore_eos": true, "temperature": 0.5, "repetition_penalty": nil,
		"stream_options": map[string]any{"include_usage": true, "continuous_usage_stats": true}}
	if len(ids) != 3 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got prompt %v and %v, want 3 ids and %v", ids, got, want)
	}
}

// Step 1 request 10 and step 11 request 0 must not share an id.
func TestRequestIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for step := range 13 {
		w := &writer{plan: &Plan{RequestIDPrefix: "x", Step: step}}
		for s := range seriesCount {
			for i := range 120 {
				id := w.id(s, i)
				if seen[id] {
					t.Fatalf("%s twice", id)
				}
				seen[id] = true
			}
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct {
		base, address, host, path string
		secure, bad               bool
	}{
		{base: "http://127.0.0.1:8000", address: "127.0.0.1:8000", host: "127.0.0.1:8000", path: "/v1/completions"},
		{base: "http://localhost", address: "localhost:80", host: "localhost", path: "/v1/completions"},
		{base: "https://engine.example/a/", address: "engine.example:443", host: "engine.example", path: "/a/v1/completions", secure: true},
		{base: "http://[::1]:8000", address: "[::1]:8000", host: "[::1]:8000", path: "/v1/completions"},
		{base: "127.0.0.1:8000", bad: true},
		{base: "ftp://x", bad: true},
		{base: "http://", bad: true},
		{base: "http://u@x", bad: true},
		{base: "http://x?y", bad: true},
	}
	for _, tt := range tests {
		got, err := parseTarget(tt.base, Completions)
		if (err != nil) != tt.bad {
			t.Errorf("%s: error %v", tt.base, err)
			continue
		}
		if !tt.bad && (got.address != tt.address || got.host != tt.host || got.path != tt.path || got.secure != tt.secure) {
			t.Errorf("%s: got %+v", tt.base, got)
		}
	}
}
