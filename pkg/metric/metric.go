// Package metric knows the metrics a performance gate may meet: which way is worse, in which unit
// they are told, which of them a refresh may arm by itself, and which survive a one-off excursion.
//
// A metric that is not listed here has no policy. It is recorded and charted, and a bound on it
// must state its policy in the baselines file.
package metric

import (
	"slices"
	"strings"
)

// Policy says how an observation is held against its bound.
type Policy string

// The three policies. A breach is strict: an observation equal to its bound passes.
const (
	Min   Policy = "min"   // a floor: an observation below the bound is a breach
	Max   Policy = "max"   // a ceiling: an observation above the bound is a breach
	Equal Policy = "equal" // a correctness metric: anything but the bound is a breach
)

// Valid reports whether p is one of the three policies.
func (p Policy) Valid() bool { return p == Min || p == Max || p == Equal }

// fact is what is known of one metric.
type fact struct {
	policy Policy
	unit   string
	// betweenTokens marks what is measured after the first token has come: a compilation or an
	// admission stall adds its seconds before that, so it cannot reach the figure.
	betweenTokens bool
}

var facts = map[string]fact{
	"gflops":                 {policy: Min, unit: "GFLOPS"},
	"gbps":                   {policy: Min, unit: "GB/s"},
	"tokens_per_sec":         {policy: Min, unit: "tok/s"},
	"samples_per_sec":        {policy: Min, unit: "1/s"},
	"throughput":             {policy: Min, unit: "1/s"},
	"output_throughput":      {policy: Min, unit: "tok/s"},
	"total_token_throughput": {policy: Min, unit: "tok/s"},
	"request_throughput":     {policy: Min, unit: "req/s"},

	// Rollout cells generate to the end token: how much they generate is a metric of its own.
	"mean_output_tokens_per_request": {policy: Min, unit: "tok"},
	"generated_tokens_p50":           {policy: Min, unit: "tok"},

	"prefill_latency_ms": {policy: Max, unit: "ms"},
	"decode_latency_ms":  {policy: Max, unit: "ms"},
	"latency_ms":         {policy: Max, unit: "ms"},
	"median_ttft_ms":     {policy: Max, unit: "ms"},
	"p99_ttft_ms":        {policy: Max, unit: "ms"},
	"median_tpot_ms":     {policy: Max, unit: "ms", betweenTokens: true},
	"p99_tpot_ms":        {policy: Max, unit: "ms", betweenTokens: true},
	"median_itl_ms":      {policy: Max, unit: "ms", betweenTokens: true},
	"p99_itl_ms":         {policy: Max, unit: "ms", betweenTokens: true},
	"median_e2el_ms":     {policy: Max, unit: "ms"},
	"p99_e2el_ms":        {policy: Max, unit: "ms"},

	"logits_checksum": {policy: Equal},
	"output_checksum": {policy: Equal},
	"checksum":        {policy: Equal},
}

// noAutoGate holds metrics that have a policy and are enforced when a baseline names them, yet are
// never armed by a refresh. A median gap between reads is about zero where a read carries several
// events: a margin multiplies, so the blessed ceiling would be about zero too.
var noAutoGate = []string{"median_itl_ms"}

// StepTime is the bound that is no metric: step_time_ms.max holds mean_step_time_ms of a cell, the
// mean duration of its measured steps in milliseconds. It is outside the policy table.
const StepTime = "mean_step_time_ms"

// PolicyOf returns the policy a metric has by name, and false where it has none.
func PolicyOf(name string) (Policy, bool) {
	f, ok := facts[name]
	return f.policy, ok
}

// AutoGateable reports whether a refresh may arm the metric: its policy is min or max and it is
// not one of those that measure about zero by nature.
func AutoGateable(name string) bool {
	p, ok := PolicyOf(name)
	return ok && p != Equal && !slices.Contains(noAutoGate, name)
}

// NearZero reports whether the metric measures about zero by nature, so that a tiny observation
// of it is no sign of a broken measurement.
func NearZero(name string) bool { return slices.Contains(noAutoGate, name) }

// Immune reports whether the metric is measured between tokens only, so that an excursion before
// the first token (a compilation, an admission or connect stall) cannot reach it. Every other
// metric is exposed: first-token time, end-to-end time, durations and what is divided by them.
func Immune(name string) bool { return facts[name].betweenTokens }

// Unit returns the unit a metric is told in ("ms", "tok/s" …), by its entry or by the ending of
// its name, and "" where neither says.
func Unit(name string) string {
	if f, ok := facts[name]; ok {
		return f.unit
	}
	for _, u := range []struct{ suffix, unit string }{
		{"_ms", "ms"}, {"_us", "us"}, {"_sec", "s"}, {"_seconds", "s"}, {"_bytes", "B"}, {"_tokens", "tok"},
	} {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// Names returns every metric that has a policy, sorted.
func Names() []string {
	names := make([]string, 0, len(facts))
	for n := range facts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
