package cell

import (
	"math"
	"testing"
)

var unknown = math.NaN()

// smoke is a clean step of the smoke cell.
func smoke(duration float64) Evidence {
	return Evidence{DurationMs: duration, P50TTFT: 45, P90TTFT: 60, P99TTFT: 194, P50TPOT: 1.91}
}

// cold is the excursion step: the cell's mean of medians was 465.3 ms over one such and two clean steps.
func cold(duration float64) Evidence {
	return Evidence{DurationMs: duration, P50TTFT: 1305, P90TTFT: 1310, P99TTFT: 1320, P50TPOT: 1.93}
}

// conc64 is a clean step at concurrency 64, stalled64 one of the stalled population, both by the published ranges.
func conc64() Evidence {
	return Evidence{DurationMs: 1610, P50TTFT: 78, P90TTFT: 82, P99TTFT: unknown, P50TPOT: 2.45}
}

func stalled64() Evidence {
	return Evidence{DurationMs: 2545, P50TTFT: 81, P90TTFT: 1008, P99TTFT: unknown, P50TPOT: 2.44}
}

func with(e Evidence, change func(*Evidence)) Evidence {
	change(&e)
	return e
}

func TestExcursions(t *testing.T) {
	connect := func(e *Evidence) { e.Connect = "TCPSynRetrans grew by 3" }
	slow := func(e *Evidence) { e.P50TPOT, e.DurationMs = 2.9, 1600 }
	tests := []struct {
		name  string
		steps []Evidence
		want  []string
	}{
		{"the thirteenth smoke run: 6193.4, 1140.2, 1142.6", []Evidence{cold(6193.4), smoke(1140.2), smoke(1142.6)}, []string{"0 cold_compile"}},
		{"a clean cell: 1135.03, 1136.39, 1136.51", []Evidence{smoke(1135.03), smoke(1136.39), smoke(1136.51)}, nil},
		{"the clean extremes 1108 and 1178", []Evidence{smoke(1178), smoke(1108), smoke(1120)}, nil},
		{"a slow step that is not the first is no compile", []Evidence{smoke(1140), cold(6193), smoke(1142)}, nil},
		{"1.5 exactly is not more than 1.5", []Evidence{cold(1500), smoke(1000), smoke(1000)}, nil},
		{"two steps", []Evidence{cold(6193.4), smoke(1140.2)}, []string{"0 cold_compile"}},
		{"one step has nothing to be compared with", []Evidence{cold(6193.4)}, nil},
		{"an engine that is slower between tokens is no compile", []Evidence{
			with(cold(6193), func(e *Evidence) { e.P50TPOT = 3.8 }), smoke(1140), smoke(1142)}, []string{"0 noisy_neighbour"}},
		{"a stall in the first step is a stall", []Evidence{stalled64(), conc64(), conc64()}, []string{"0 admission_stall"}},
		{"2 of 3 stalled (1621, 2286, 2595)", []Evidence{conc64(), stalled64(), stalled64()}, []string{"1 admission_stall", "2 admission_stall"}},
		{"connections that took long make it a connect stall", []Evidence{conc64(), with(stalled64(), connect), conc64()}, []string{"1 connect_stall"}},
		{"slow connects without late tokens are no stall", []Evidence{conc64(), with(conc64(), connect), conc64()}, nil},
		{"a whole first wave late is a compile, though most requests were quick", []Evidence{
			with(stalled64(), func(e *Evidence) { e.FirstWave, e.FirstWaveLate = 8, 8 }), conc64(), conc64()}, []string{"0 cold_compile"}},
		{"a part of the first wave late is a stall", []Evidence{
			with(stalled64(), func(e *Evidence) { e.FirstWave, e.FirstWaveLate = 64, 30 }), conc64(), conc64()}, []string{"0 admission_stall"}},
		{"a neighbour", []Evidence{smoke(1140), with(smoke(1140), slow), smoke(1142)}, []string{"1 noisy_neighbour"}},
		{"an engine that wavers has no odd step out", []Evidence{smoke(1140), with(smoke(1140), slow), with(smoke(1300), func(e *Evidence) { e.P50TPOT = 2.4 })}, nil},
		{"the load generator's own tags come along", []Evidence{
			with(smoke(1140), func(e *Evidence) { e.Tags = map[string]string{"client_limited": "cpu", "warm_prefix": "cached"} }), smoke(1140)},
			[]string{"0 client_limited", "0 warm_prefix"}},
		{"nothing is known", []Evidence{{DurationMs: unknown, P50TTFT: unknown, P50TPOT: unknown}, {DurationMs: unknown}}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, tag := range Excursions(test.steps) {
				got = append(got, string(rune('0'+tag.Step))+" "+tag.Name)
				if tag.Why == "" {
					t.Errorf("tag %s has no reason", tag.Name)
				}
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
		})
	}
}

// Three engine instances of twelve steps at concurrency 64; the stalls were in instance 1, steps 3, 10 and 11.
func TestStallPopulation(t *testing.T) {
	stalled := map[int]map[int]bool{0: {}, 1: {3: true, 10: true, 11: true}, 2: {}}
	for instance, at := range stalled {
		var steps []Evidence
		for k := range 12 {
			wobble := 1 + 0.004*float64(k%5)
			s := conc64()
			if at[k] {
				s = stalled64()
			}
			s.DurationMs, s.P50TTFT, s.P50TPOT = s.DurationMs*wobble, s.P50TTFT*wobble, s.P50TPOT*wobble
			steps = append(steps, s)
		}
		got := map[int]bool{}
		for _, tag := range Excursions(steps) {
			if tag.Name != TagAdmissionStall {
				t.Errorf("instance %d step %d: got tag %s, want %s", instance, tag.Step, tag.Name, TagAdmissionStall)
			}
			got[tag.Step] = true
		}
		for k := range 12 {
			if got[k] != at[k] {
				t.Errorf("instance %d step %d: got tagged %v, want %v", instance, k, got[k], at[k])
			}
		}
	}
}
