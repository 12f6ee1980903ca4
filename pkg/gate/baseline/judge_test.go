package baseline_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// measured is a passing cell with these metrics.
func measured(step float64, metrics map[string]any) *report.Cell {
	cell := &report.Cell{Name: "c", PassedCount: new(1), MeanStepTimeMS: &step, MetricsSummary: map[string]report.Summary{}}
	for name, v := range metrics {
		cell.MetricsSummary[name] = report.Summary{Mean: v}
	}
	return cell
}

func ceiling(name string, value any) *baseline.Spec {
	policy, _ := metric.PolicyOf(name)
	return &baseline.Spec{Passed: true, Bounds: []baseline.Bound{{Metric: name, Policy: policy, Value: value, Required: true}}}
}

// The thresholds sized by the worst of twelve clean runs, against the run with the compile excursion
// in its first step: what is measured between tokens survives it.
func TestExcursionAgainstEachGate(t *testing.T) {
	excursion := measured(2825.40, map[string]any{
		"median_ttft_ms": 465.30, "output_throughput": 2612.83, "median_tpot_ms": 1.93, "p99_itl_ms": 34.96,
	})
	for _, c := range []struct {
		gate string
		spec *baseline.Spec
		want baseline.Verdict
	}{
		{"step_time_ms.max", &baseline.Spec{Passed: true, StepTime: &baseline.StepTime{Max: 1461.88}}, baseline.Fail},
		{"median_ttft_ms", ceiling("median_ttft_ms", 58.59), baseline.Fail},
		{"output_throughput", ceiling("output_throughput", 2977.15), baseline.Fail},
		{"median_tpot_ms", ceiling("median_tpot_ms", 2.44), baseline.Pass},
		{"p99_itl_ms", ceiling("p99_itl_ms", 44.80), baseline.Pass},
	} {
		got := baseline.Judge(excursion, c.spec, nil)
		if got.Verdict != c.want {
			t.Errorf("%s: got %s %v, want %s", c.gate, got.Verdict, got.Reasons, c.want)
		}
		if !slices.Equal(got.Gated, []string{c.gate}) {
			t.Errorf("got gated %v, want %s", got.Gated, c.gate)
		}
	}
}

// Every night of the ten-night window passes the bounds it sized; 25 % over its worst does not.
func TestWindowAgainstItsOwnBounds(t *testing.T) {
	for _, w := range []struct {
		metric                    string
		least, median, most, max_ float64
	}{
		{"median_tpot_ms", 1.7373, 1.8906, 1.9138, 2.3922},
		{"p99_itl_ms", 34.1259, 34.7533, 35.4296, 44.287},
		{"median_tpot_ms", 1.8604, 1.8945, 1.9196, 2.3995},
		{"p99_itl_ms", 33.9241, 34.9653, 35.8309, 44.7886},
	} {
		spec := ceiling(w.metric, w.max_)
		for _, v := range []float64{w.least, w.median, w.most, w.max_} {
			if got := baseline.Judge(measured(1130, map[string]any{w.metric: v}), spec, nil); got.Verdict != baseline.Pass {
				t.Errorf("%s %v against %v: got %s %v, want pass", w.metric, v, w.max_, got.Verdict, got.Reasons)
			}
		}
		for _, factor := range []float64{1.26, 1.4, 10} {
			if got := baseline.Judge(measured(1130, map[string]any{w.metric: w.most * factor}), spec, nil); got.Verdict != baseline.Fail {
				t.Errorf("%s %v against %v: got %s, want fail", w.metric, w.most*factor, w.max_, got.Verdict)
			}
		}
	}
}

// The start-up series: a ceiling blessed on one night is broken by so many of the other six.
func TestStartupSeries(t *testing.T) {
	series := []float64{189, 276, 285, 291, 316, 319, 379}
	want := []int{6, 1, 1, 1, 0, 0, 0}
	for i, blessed := range series {
		breaches := 0
		for j, night := range series {
			spec := &baseline.Spec{Passed: true, Bounds: []baseline.Bound{{Metric: "server_startup_sec", Policy: metric.Max, Value: blessed * 1.25, Required: true}}}
			if i != j && baseline.Judge(measured(1, map[string]any{"server_startup_sec": night}), spec, nil).Verdict == baseline.Fail {
				breaches++
			}
		}
		if breaches != want[i] {
			t.Errorf("blessed on %v: got %d breaches, want %d", blessed, breaches, want[i])
		}
	}
}

func TestDetection(t *testing.T) {
	spec := ceiling("median_tpot_ms", 2.425)
	spec.Bounds = append(spec.Bounds, ceiling("output_throughput", 3007.3).Bounds...)
	for _, c := range []struct {
		tpot, out float64
		want      baseline.Verdict
	}{{1.910, 3631, baseline.Pass}, {2.134, 3184, baseline.Pass}, {2.522, 2654, baseline.Fail}, {3.770, 1905, baseline.Fail}} {
		got := baseline.Judge(measured(1136, map[string]any{"median_tpot_ms": c.tpot, "output_throughput": c.out}), spec, nil)
		if got.Verdict != c.want {
			t.Errorf("(%v, %v): got %s %v, want %s", c.tpot, c.out, got.Verdict, got.Reasons, c.want)
		}
		if c.want == baseline.Fail && len(got.Breaches) != 2 {
			t.Errorf("(%v, %v): got breaches %v, want both", c.tpot, c.out, got.Breaches)
		}
	}
}

func TestNothingMeasured(t *testing.T) {
	spec := &baseline.Spec{Passed: true, StepTime: &baseline.StepTime{Max: 120}}
	for name, cell := range map[string]*report.Cell{
		"null":                {PassedCount: new(1)},
		"0.0, source missing": {PassedCount: new(1), MeanStepTimeMS: new(0.0), StepTimeSource: new("missing")},
	} {
		got := baseline.Judge(cell, spec, nil)
		if got.Verdict != baseline.Fail || got.Reasons[0] != "mean_step_time_ms missing (expected <= 120.000)" {
			t.Errorf("%s: got %s %q, want it missing", name, got.Verdict, got.Reasons)
		}
		if got.Confirmable() {
			t.Errorf("%s: a missing step time needs no second run", name)
		}
	}
}

func TestNoVerdictOfTheCell(t *testing.T) {
	cell := measured(1, map[string]any{"median_tpot_ms": 9.9})
	cell.NoVerdict = []string{"client_limited: the load generator used 97 % of its core"}
	for name, spec := range map[string]*baseline.Spec{"recorded": nil, "gated": ceiling("median_tpot_ms", 2.4)} {
		got := baseline.Judge(cell, spec, nil)
		if got.Verdict != baseline.NoVerdict || !slices.Equal(got.Reasons, cell.NoVerdict) {
			t.Errorf("%s: got %s %q, want the cell's own no_verdict", name, got.Verdict, got.Reasons)
		}
	}
	cell.PassedCount, cell.ErrorCount = new(0), new(1)
	if got := baseline.Judge(cell, nil, nil); got.Verdict != baseline.NoVerdict {
		t.Errorf("got %s for a cell that broke and says no_verdict, want no_verdict", got.Verdict)
	}
	cell.FailedCount = new(1)
	if got := baseline.Judge(cell, nil, nil); got.Verdict != baseline.Fail {
		t.Errorf("got %s for a failed cell, want fail", got.Verdict)
	}
}

func TestPassWithoutBoundsGatesNothing(t *testing.T) {
	got := baseline.Judge(measured(1, nil), &baseline.Spec{Passed: true}, nil)
	if got.Verdict != baseline.Pass || len(got.Gated) != 0 {
		t.Errorf("got %s gated %v, want pass and nothing gated", got.Verdict, got.Gated)
	}
}

func TestImplausible(t *testing.T) {
	nights := &baseline.Provenance{Nights: []baseline.Night{{Value: 52.6e6}, {Value: 52.7e6}, {Value: 52.8e6}}}
	for name, c := range map[string]struct {
		metric   string
		policy   metric.Policy
		observed float64
		bound    float64
		from     *baseline.Provenance
		want     baseline.Verdict
	}{
		"collapse against the window":         {"instructions", metric.Max, 1.55e6, 65.9e6, nights, baseline.NoVerdict},
		"41 % better":                         {"instructions", metric.Max, 0.59 * 52.7e6, 65.9e6, nights, baseline.NoVerdict},
		"39 % better":                         {"instructions", metric.Max, 0.61 * 52.7e6, 65.9e6, nights, baseline.Pass},
		"a floor, 41 % better":                {"rate", metric.Min, 1.41 * 52.7e6, 44.8e6, nights, baseline.NoVerdict},
		"a floor, 39 % better":                {"rate", metric.Min, 1.39 * 52.7e6, 44.8e6, nights, baseline.Pass},
		"zero under a ceiling":                {"median_tpot_ms", metric.Max, 0, 2.4, nil, baseline.NoVerdict},
		"negative":                            {"median_tpot_ms", metric.Max, -1, 2.4, nil, baseline.NoVerdict},
		"a hundredth of the ceiling":          {"median_tpot_ms", metric.Max, 0.024, 2.4, nil, baseline.NoVerdict},
		"a generous ceiling":                  {"p99_itl_ms", metric.Max, 1, 40, nil, baseline.Pass},
		"what measures about zero, by nature": {"median_itl_ms", metric.Max, 0, 5, nil, baseline.Pass},
	} {
		spec := &baseline.Spec{Passed: true, Bounds: []baseline.Bound{{Metric: c.metric, Policy: c.policy, Value: c.bound, Required: true, Provenance: c.from}}}
		got := baseline.Judge(measured(1, map[string]any{c.metric: c.observed}), spec, nil)
		if got.Verdict != c.want {
			t.Errorf("%s: got %s %v, want %s", name, got.Verdict, got.Reasons, c.want)
		}
	}
	spec := &baseline.Spec{Passed: true, StepTime: &baseline.StepTime{Max: 1461}}
	if got := baseline.Judge(measured(3, nil), spec, nil); got.Verdict != baseline.NoVerdict {
		t.Errorf("a step of 3 ms under 1461: got %s, want no_verdict", got.Verdict)
	}
}

func TestBoundOfAnotherStack(t *testing.T) {
	spec := ceiling("median_tpot_ms", 2.4)
	spec.Bounds[0].Provenance = &baseline.Provenance{Fingerprint: report.Fingerprint{report.EngineDigest: "sha256:aa"}}
	slow := measured(1, map[string]any{"median_tpot_ms": 9.9, "p99_itl_ms": 50.0})

	got := baseline.Judge(slow, spec, report.Fingerprint{report.EngineDigest: "sha256:aa", report.Client: "native"})
	if got.Verdict != baseline.Fail {
		t.Errorf("same stack: got %s, want fail", got.Verdict)
	}
	got = baseline.Judge(slow, spec, report.Fingerprint{report.EngineDigest: "sha256:bb"})
	if got.Verdict != baseline.Record || len(got.Gated) != 0 || !strings.Contains(got.Reasons[0], "engine_digest was sha256:aa, is sha256:bb") {
		t.Errorf("another stack: got %s %q, want a loud record", got.Verdict, got.Reasons)
	}
	spec.Bounds = append(spec.Bounds, ceiling("p99_itl_ms", 44.0).Bounds...)
	got = baseline.Judge(slow, spec, nil)
	if got.Verdict != baseline.Fail || got.Unbroken != baseline.Record || len(got.Breaches) != 1 {
		t.Errorf("a bound without a fingerprint holds on every stack: got %s %v, want fail", got.Verdict, got.Reasons)
	}
}

func TestConfirmable(t *testing.T) {
	both := &baseline.Spec{Passed: true, Bounds: append(ceiling("median_tpot_ms", 2.4).Bounds, ceiling("p99_itl_ms", 44.0).Bounds...)}
	for name, c := range map[string]struct {
		metrics map[string]any
		spec    *baseline.Spec
		want    bool
	}{
		"one breach":             {map[string]any{"median_tpot_ms": 2.5, "p99_itl_ms": 30.0}, both, true},
		"two breaches":           {map[string]any{"median_tpot_ms": 2.5, "p99_itl_ms": 50.0}, both, true},
		"a breach and a missing": {map[string]any{"median_tpot_ms": 2.5}, both, false},
		"no breach":              {map[string]any{"median_tpot_ms": 2.0, "p99_itl_ms": 30.0}, both, false},
		"a checksum":             {map[string]any{"checksum": 8.0}, ceiling("checksum", 7.0), false},
		"a text for a number":    {map[string]any{"median_tpot_ms": "fast"}, ceiling("median_tpot_ms", 2.4), false},
		"a list for a number":    {map[string]any{"median_tpot_ms": []any{1.0}}, ceiling("median_tpot_ms", 2.4), false},
		"an integer beyond 2^53": {map[string]any{"median_tpot_ms": json.Number("9007199254740993")}, ceiling("median_tpot_ms", 2.4), true},
	} {
		if got := baseline.Judge(measured(1, c.metrics), c.spec, nil); got.Confirmable() != c.want {
			t.Errorf("%s: got %v (%s %v), want %v", name, got.Confirmable(), got.Verdict, got.Reasons, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		observed, bound any
		want            baseline.Verdict
	}{
		{7.0, 7.0, baseline.Pass}, {true, 1.0, baseline.Pass}, {1.0, true, baseline.Pass}, {false, 1.0, baseline.Fail},
		{"7", 7.0, baseline.Fail}, {"ab", "ab", baseline.Pass}, {"ab", "aB", baseline.Fail},
		{json.Number("9007199254740993"), json.Number("9007199254740993"), baseline.Pass},
		{json.Number("9007199254740993"), json.Number("9007199254740992"), baseline.Fail},
		{json.Number("9007199254740993"), 9007199254740992.0, baseline.Fail},
		{[]any{1.0}, "x", baseline.Fail},
	} {
		got := baseline.Judge(measured(1, map[string]any{"checksum": c.observed}), ceiling("checksum", c.bound), nil)
		if got.Verdict != c.want {
			t.Errorf("%v against %v: got %s %v, want %s", c.observed, c.bound, got.Verdict, got.Reasons, c.want)
		}
	}
}

func TestBreachInWords(t *testing.T) {
	for want, b := range map[string]baseline.Breach{
		"median_tpot_ms 2.6737 ms is 11.8 % over its ceiling of 2.3922 ms":          {Metric: "median_tpot_ms", Policy: metric.Max, Observed: 2.673712, Bound: 2.3922},
		"output_throughput 2612.8 tok/s is 12.2 % under its floor of 2977.15 tok/s": {Metric: "output_throughput", Policy: metric.Min, Observed: 2612.83, Bound: 2977.15},
		"median_itl_ms 0.001 ms is over its ceiling of 0 ms":                        {Metric: "median_itl_ms", Policy: metric.Max, Observed: 0.001, Bound: 0.0},
		"kv_hits 0.4 is 20.0 % under its floor of 0.5":                              {Metric: "kv_hits", Policy: metric.Min, Observed: 0.4, Bound: 0.5},
		"mean_step_time_ms 120 ms is just over its ceiling of 119.999 ms":           {Metric: "mean_step_time_ms", Policy: metric.Max, Observed: 120.0, Bound: 119.999},
		"checksum is ab12, expected ab13":                                           {Metric: "checksum", Policy: metric.Equal, Observed: "ab12", Bound: "ab13"},
	} {
		if got := b.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		observed, bound any
		want            bool
	}{{"a", "a", true}, {"a", "b", false}, {7.0, 7.0, true}, {true, 1.0, true}, {nil, "a", false}, {"7", 7.0, false}} {
		if got := baseline.Same(tt.observed, tt.bound); got != tt.want {
			t.Errorf("%v against %v: got %v, want %v", tt.observed, tt.bound, got, tt.want)
		}
	}
}
