package metric_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

func TestPolicies(t *testing.T) {
	want := map[metric.Policy][]string{
		metric.Min: {
			"gflops", "gbps", "tokens_per_sec", "samples_per_sec", "throughput", "output_throughput", "total_token_throughput",
			"request_throughput", "mean_output_tokens_per_request", "generated_tokens_p50",
		},
		metric.Max: {
			"prefill_latency_ms", "decode_latency_ms", "latency_ms", "median_ttft_ms", "p99_ttft_ms", "median_tpot_ms", "p99_tpot_ms",
			"median_itl_ms", "p99_itl_ms", "median_e2el_ms", "p99_e2el_ms",
		},
		metric.Equal: {"logits_checksum", "output_checksum", "checksum"},
	}
	got := map[metric.Policy][]string{}
	for _, n := range metric.Names() {
		p, _ := metric.PolicyOf(n)
		got[p] = append(got[p], n)
	}
	for p, names := range want {
		slices.Sort(names)
		if !slices.Equal(got[p], names) {
			t.Errorf("policy %s: got %v, want %v", p, got[p], names)
		}
	}
}

func TestMetricsThatStayOut(t *testing.T) {
	for _, n := range []string{
		"server_startup_sec", "container_elapsed_sec", "duration", "completed_total", "failed_total", "total_output_tokens",
		"max_output_tokens_per_s", "max_concurrent_requests", "mean_ttft_ms", "std_ttft_ms", "p50_ttft_ms", "p90_ttft_ms",
		"step_time_ms", "mean_step_time_ms",
	} {
		if p, ok := metric.PolicyOf(n); ok {
			t.Errorf("%s: got policy %q, want none", n, p)
		}
		if metric.AutoGateable(n) {
			t.Errorf("%s: got auto-gateable, want not", n)
		}
	}
}

func TestAutoGateable(t *testing.T) {
	for _, n := range metric.Names() {
		p, _ := metric.PolicyOf(n)
		want := p != metric.Equal && n != "median_itl_ms"
		if got := metric.AutoGateable(n); got != want {
			t.Errorf("%s: got auto-gateable %v, want %v", n, got, want)
		}
	}
}

func TestImmune(t *testing.T) {
	immune := []string{"median_tpot_ms", "p99_tpot_ms", "median_itl_ms", "p99_itl_ms"}
	for _, n := range append(metric.Names(), "mean_step_time_ms", "server_startup_sec") {
		if got, want := metric.Immune(n), slices.Contains(immune, n); got != want {
			t.Errorf("%s: got immune %v, want %v", n, got, want)
		}
	}
}

func TestUnit(t *testing.T) {
	for name, want := range map[string]string{
		"median_tpot_ms": "ms", "output_throughput": "tok/s", "request_throughput": "req/s", "server_startup_sec": "s",
		"p90_ttft_ms": "ms", "kv_hits": "", "logits_checksum": "", "total_output_tokens": "tok",
	} {
		if got := metric.Unit(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "2.3922": 2.3922, "-4": -4, "1e3": 1000, "4.2E8": 4.2e8, "3.1e-07": 3.1e-7, "-0.5": -0.5} {
		got, err := metric.ParseNumber(text)
		if err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " 1", "1 ", "+12", "1_000", "0x1F", "0o17", "017", "09", ".5", "5.", "1e", "1e400", "-1e999", "inf", ".inf", "-Inf", "nan", "NaN",
		"1:30", "2031-03-04", "1,5", "0x1p-2", "--1", "١",
	} {
		if got, err := metric.ParseNumber(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"1", "-0.5e+3", "1e400", "017", "NaN", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := metric.ParseNumber(s)
		if err == nil && (!metric.Finite(v) || math.IsNaN(v)) {
			t.Errorf("%q: got the non-finite %v without an error", s, v)
		}
	})
}
