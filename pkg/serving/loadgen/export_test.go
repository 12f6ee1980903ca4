package loadgen

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorded is a step of four requests with round numbers: three of 4, 4 and 1 tokens, and one that failed.
func recorded() *Result {
	const ms = int64(1e6)
	request := func(i int, sent, first, gap int64, tokens int) Request {
		r := Request{Index: i, Sent: sent * ms, Intended: sent * ms, FirstEvent: (sent + first) * ms, FirstText: (sent + first) * ms,
			InputLen: 10, OutputLen: tokens, CachedTokens: -1, TokensSource: TokensOnePerEvent, Reads: tokens}
		for k := range int64(tokens) {
			r.Events = append(r.Events, Event{T: (sent + first + k*gap) * ms, Bytes: 4, Tokens: 1})
		}
		r.LastToken = r.Events[tokens-1].T
		r.End = r.LastToken + ms
		return r
	}
	failed := Request{Index: 3, Sent: 2200 * ms, End: 2500 * ms, Failure: Truncated, Detail: "after 1 events: EOF", InputLen: 10, CachedTokens: -1}
	return &Result{
		Plan:    Plan{Model: "m", Label: "cell", NumPrompts: 4, MaxConcurrency: 2, SLO: SLO{TTFT: 60 * time.Millisecond}, Seed: 7}.withDefaults(),
		Started: time.Date(2026, 9, 8, 3, 0, 0, 0, time.UTC), Start: 1000 * ms, End: 3000 * ms, Clock: KernelClock,
		Requests: []Request{request(0, 1000, 50, 10, 4), request(1, 1000, 70, 20, 4), request(2, 2100, 60, 0, 1), failed},
		Tags:     []string{TagConnectStall}, Reasons: map[string]string{TagConnectStall: "a connection took 1004 ms, 1 SYN retransmissions"},
		Audit: Audit{InFlight: InFlight{Planned: 2, Peak: 2, SteadyStart: 0, SteadyEnd: 1}, Client: Client{Events: 9, Reads: 9}},
	}
}

func TestExportGolden(t *testing.T) {
	raw, err := json.MarshalIndent(recorded().Export(true), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	raw = append(raw, '\n')
	const path = "testdata/export.golden.json"
	if *update {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(raw)); diff != "" {
		t.Errorf("export changed (-want +got), run with -update if meant:\n%s", diff)
	}
}

// The reference's names, in its order, with its meanings worked out by hand on the recorded step.
func TestReferenceKeys(t *testing.T) {
	exp := recorded().Export(true)
	names := strings.Fields(`date backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency duration completed
		failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput total_token_throughput
		max_output_tokens_per_s max_concurrent_requests`)
	for _, m := range referenceMetrics {
		for _, stat := range []string{"mean", "median", "std", "p50", "p90", "p99"} {
			names = append(names, stat+"_"+m+"_ms")
		}
	}
	for i, name := range names {
		if exp[i].Key != name {
			t.Errorf("key %d: got %s, want %s", i, exp[i].Key, name)
		}
	}
	for _, name := range strings.Fields("input_lens output_lens ttfts itls start_times errors") {
		if _, ok := exp.Get(name); !ok {
			t.Errorf("detailed: no %s", name)
		}
		if _, ok := recorded().Export(false).Get(name); ok {
			t.Errorf("%s is there without being asked for", name)
		}
	}
	for key, want := range map[string]float64{
		"duration": 2, "completed": 3, "failed": 1, "total_input_tokens": 30, "total_output_tokens": 9, "request_throughput": 1.5,
		"request_goodput": 1, "output_throughput": 4.5, "total_token_throughput": 19.5, "max_output_tokens_per_s": 8, "max_concurrent_requests": 2,
		"mean_ttft_ms": 60, "median_ttft_ms": 60, "std_ttft_ms": math.Sqrt(200.0 / 3), "p90_ttft_ms": 68,
		"mean_tpot_ms": 15, "median_tpot_ms": 15, "std_tpot_ms": 5, "mean_itl_ms": 15, "p99_itl_ms": 20, "mean_e2el_ms": (80 + 130 + 60) / 3.0,
	} {
		if got, ok := exp.Float(key); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

func TestExportSelection(t *testing.T) {
	res := recorded()
	res.Plan.Percentiles, res.Plan.PercentileMetrics = []float64{50, 99.9}, []string{"itl"}
	exp := res.Export(false)
	for key, want := range map[string]bool{"p99.9_itl_ms": true, "p50_itl_ms": true, "p99_itl_ms": false, "p50_ttft_ms": false,
		"mean_ttft_ms": true, "median_tpot_ms": true, "std_e2el_ms": true} {
		if _, got := exp.Get(key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

// Nothing completed: the reference gives zeros, which its harvest refuses; our own keys are null.
func TestExportOfNothing(t *testing.T) {
	res := recorded()
	for i := range res.Requests {
		res.Requests[i].Failure = Truncated
	}
	exp := res.Export(true)
	for _, key := range []string{"mean_ttft_ms", "p99_itl_ms", "output_throughput", "completed"} {
		if got, ok := exp.Float(key); !ok || got != 0 {
			t.Errorf("%s: got %v %v, want 0", key, got, ok)
		}
	}
	for _, key := range []string{"median_itl_token_ms", "p99_first_text_ttft_ms", "tokens_per_event"} {
		if got, ok := exp.Get(key); !ok || got != nil {
			t.Errorf("%s: got %v, want null", key, got)
		}
	}
	if _, err := json.Marshal(exp); err != nil {
		t.Error(err)
	}
}

func TestExportSpellsInfinity(t *testing.T) {
	res := recorded()
	res.Plan.Burstiness = math.Inf(1)
	exp := res.Export(false)
	if rate, _ := exp.Get("request_rate"); rate != "inf" {
		t.Errorf("request_rate: got %v", rate)
	}
	if _, err := json.Marshal(exp); err != nil {
		t.Error(err)
	}
	res.Plan.RequestRate = 2.5
	if rate, _ := res.Export(false).Get("request_rate"); rate != 2.5 {
		t.Errorf("request_rate: got %v", rate)
	}
}

// A percentile over pooled requests is not the mean of the steps' percentiles.
func TestPool(t *testing.T) {
	a, b := recorded(), recorded()
	b.Requests = b.Requests[:1]
	pool := Pool([]float64{50, 99}, a, b)
	for key, want := range map[string]float64{"pooled_n_ttft": 4, "pooled_p50_ttft_ms": 55, "pooled_n_tpot": 3, "pooled_p50_tpot_ms": 10,
		"pooled_n_itl": 9, "pooled_p99_itl_ms": 20, "pooled_n_e2el": 4, "pooled_n_itl_token": 9, "pooled_p50_itl_token_ms": 10} {
		if got, ok := pool.Float(key); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	if got, ok := Pool([]float64{50}).Get("pooled_p50_ttft_ms"); !ok || got != nil {
		t.Errorf("a pool of nothing: got %v", got)
	}
}

func TestKeysAreUnique(t *testing.T) {
	var keys []string
	for _, f := range recorded().Export(true) {
		keys = append(keys, f.Key)
	}
	slices.Sort(keys)
	if n := len(keys); len(slices.Compact(keys)) != n {
		t.Error("a key is there twice")
	}
}
