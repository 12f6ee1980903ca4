package baseline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// better lists the recorded cases whose behaviour this judge does not repeat, with what it does
// instead and why.
var better = map[string]struct {
	refused string           // the baselines file is refused with this
	verdict baseline.Verdict // or the judge gives this verdict
	reason  string           // with this reason
	why     string
}{
	"c27": {refused: "key value is missing", why: "a bound without a value guards nothing"},
	"c28": {refused: "metrics.median_tpot_ms.max: unknown key", why: "a misspelt spec guards nothing"},
	"c34": {verdict: baseline.NoVerdict, reason: "no trial failed by its own verdict", why: "an infrastructure error is not the failure that was expected"},
	"c35": {refused: "passed: is null", why: "only true and false say what is expected"},
	"c39": {verdict: baseline.Fail, reason: "metric 'median_tpot_ms' is nan, not a finite number (policy max 2.4)", why: "NaN is above and below nothing"},
	"c44": {verdict: baseline.Fail, reason: "metric 'median_tpot_ms' is -inf, not a finite number (policy max 2.4)", why: "no latency is minus infinity"},
	"c45": {verdict: baseline.Fail, reason: "mean_step_time_ms is nan, not a finite number (max 120.000)", why: "NaN is above and below nothing"},
	"c46": {refused: "metrics.median_tpot_ms.value: readers of YAML disagree about .nan", why: "a NaN bound never fires"},
	"c47": {verdict: baseline.Fail, reason: "metric 'median_tpot_ms' is 'fast', not a number (policy max 2.4)", why: "one bad cell must not lose the night"},
	"c48": {refused: `metrics.median_tpot_ms.value: a max bound must be a number, not "2.4"`, why: "found when the file is read, not in the night"},
	"c52": {refused: "step_time_ms.min: unknown key", why: "a misspelt bound guards nothing"},
	"c53": {refused: "throughput: unknown key", why: "an old-style block guards nothing"},
}

// refusedToo lists cases without a quirk whose file is refused already, although the judge still
// gives the recorded verdict on such a spec.
var refusedToo = map[string]string{"c22": "unknown policy \"le\""}

func TestRecordedCompare(t *testing.T) {
	for _, c := range compareCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			other, isBetter := better[c.ID]
			if isBetter != (c.Quirk != "") {
				t.Fatalf("quirk %q: in the table of better behaviour: %v", c.Quirk, isBetter)
			}
			spec, err := c.spec()
			if refusal := other.refused + refusedToo[c.ID]; refusal != "" {
				if err == nil || !strings.Contains(err.Error(), refusal) {
					t.Errorf("got %v, want the file refused with %q", err, refusal)
				} else if !strings.HasPrefix(err.Error(), "b.yaml:1:") {
					t.Errorf("got %v, want the place", err)
				}
				if other.refused != "" {
					return
				}
				spec = &baseline.Spec{Passed: true, Bounds: []baseline.Bound{{Metric: "p99_itl_ms", Policy: "le", Value: 40.0, Required: true}}}
			} else if err != nil {
				t.Fatal(err)
			}
			cell := c.cell(t)
			got := baseline.Judge(cell, spec, nil)
			if isBetter {
				if got.Verdict != other.verdict || !strings.Contains(strings.Join(got.Reasons, "\n"), other.reason) {
					t.Errorf("got %s %q, want %s with %q", got.Verdict, got.Reasons, other.verdict, other.reason)
				}
				return
			}
			if cell.Passed() != c.Expect.Passed {
				t.Errorf("got passed %v, want %v", cell.Passed(), c.Expect.Passed)
			}
			if got.Verdict != c.Expect.Verdict {
				t.Errorf("got verdict %s, want %s", got.Verdict, c.Expect.Verdict)
			}
			var reasons []map[string]any
			for _, r := range got.Reasons {
				reasons = append(reasons, tagged(r))
			}
			for _, want := range c.Expect.Reasons {
				unfloat(want)
			}
			if d := cmp.Diff(c.Expect.Reasons, reasons, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
				t.Errorf("reasons %q (-want +got):\n%s", got.Reasons, d)
			}
			want := c.Expect.Deltas
			unfloat(want)
			if d := cmp.Diff(want, generic(got.Deltas), cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
				t.Errorf("deltas (-want +got):\n%s", d)
			}
		})
	}
}

type compareCase struct {
	ID, Title, Quirk string
	Input            struct {
		Cell     map[string]any
		Baseline map[string]any
	}
	Expect struct {
		Passed  bool
		Verdict baseline.Verdict
		Reasons []map[string]any
		Deltas  map[string]any
		Raises  string
	}
}

func compareCases(t testing.TB) []compareCase {
	t.Helper()
	text, err := os.ReadFile("testdata/compare.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []compareCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 30 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	return file.Cases
}

var floats = map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}

// spec reads the case's baseline as the file would hold it.
func (c compareCase) spec() (*baseline.Spec, error) {
	if c.Input.Baseline == nil {
		return nil, nil
	}
	text, err := json.Marshal(c.Input.Baseline)
	if err != nil {
		return nil, err
	}
	flow := regexp.MustCompile(`\{"\$float":"(nan|inf|-inf)"\}`).ReplaceAllString(string(text), ".$1")
	f, err := baseline.Parse("b.yaml", []byte(`{"version": 1, "baselines": {"e::c": `+flow+`}}`))
	if err != nil {
		return nil, err
	}
	return f.Specs[baseline.Key{Entry: "e", Cell: "c"}], nil
}

// cell builds the case's cell. What is not finite cannot come from a file, so it is put in
// afterwards.
func (c compareCase) cell(t *testing.T) *report.Cell {
	t.Helper()
	odd := map[string]float64{}
	for name, m := range c.Input.Cell["metrics_summary"].(map[string]any) {
		summary := m.(map[string]any)
		if f, ok := summary["mean"].(map[string]any); ok {
			odd[name] = floats[f["$float"].(string)]
			summary["mean"] = 0
		}
	}
	step, oddStep := c.Input.Cell["mean_step_time_ms"].(map[string]any)
	if oddStep {
		c.Input.Cell["mean_step_time_ms"] = 0
	}
	text, err := json.Marshal(map[string]any{"cells": []any{c.Input.Cell}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := report.Parse("matrix.json", text)
	if err != nil {
		t.Fatal(err)
	}
	cell := &m.Cells[0]
	for name, v := range odd {
		cell.MetricsSummary[name] = report.Summary{Mean: v}
	}
	if oddStep {
		cell.MeanStepTimeMS = new(floats[step["$float"].(string)])
	}
	return cell
}

// unfloat turns {"$float": …} into the float, in place.
func unfloat(m map[string]any) {
	for k, v := range m {
		sub, ok := v.(map[string]any)
		if !ok {
			continue
		}
		if f, ok := sub["$float"].(string); ok {
			m[k] = floats[f]
			continue
		}
		unfloat(sub)
	}
}

// generic is the deltas as a JSON reader sees them, NaN kept.
func generic(d baseline.Deltas) map[string]any {
	out := map[string]any{}
	if d.StepTime != nil {
		step := map[string]any{"observed": nil, "max": d.StepTime.Max}
		if d.StepTime.Observed != nil {
			step["observed"] = *d.StepTime.Observed
		}
		out["mean_step_time_ms"] = step
	}
	metrics := map[string]any{}
	for name, m := range d.Metrics {
		metrics[name] = map[string]any{"observed": m.Observed, "policy": string(m.Policy), "value": m.Value}
	}
	if len(metrics) > 0 {
		out["metrics"] = metrics
	}
	return out
}

// tagged reads a reason back into the recorded tag and its figures, which holds the wording to the
// reference's.
func tagged(reason string) map[string]any {
	for _, form := range []struct {
		tag, pattern string
		fields       []string
	}{
		{"no_baseline", `^no baseline \(record-only\)$`, nil},
		{"expected_pass", `^expected pass but (.*)$`, []string{"detail"}},
		{"stale_expected_failure", `^stale expected failure`, nil},
		{"step_time_missing", `^mean_step_time_ms missing \(expected <= (.*)\)$`, []string{"#bound"}},
		{"step_time_above_max", `^mean_step_time_ms (\S+) > max (\S+)$`, []string{"#observed", "#bound"}},
		{"metric_bad_policy", `^metric '(.*)' has invalid/unknown policy (.*)$`, []string{"metric", "policy"}},
		{"metric_missing", `^metric '(.*)' missing \(policy (\S+) (\S+)\)$`, []string{"metric", "policy", "#bound"}},
		{"metric_below_min", `^metric '(.*)' (\S+) < min (\S+)$`, []string{"metric", "#observed", "#bound"}},
		{"metric_above_max", `^metric '(.*)' (\S+) > max (\S+)$`, []string{"metric", "#observed", "#bound"}},
		{"metric_not_equal", `^metric '(.*)' (\S+) != expected (\S+)$`, []string{"metric", "#observed", "#bound"}},
		{"cell_error", `^(.*)$`, []string{"detail"}},
	} {
		match := regexp.MustCompile(form.pattern).FindStringSubmatch(reason)
		if match == nil {
			continue
		}
		out := map[string]any{"tag": form.tag}
		for i, field := range form.fields {
			name, isNumber := strings.CutPrefix(field, "#")
			out[name] = match[i+1]
			if v, err := strconv.ParseFloat(match[i+1], 64); isNumber && err == nil {
				out[name] = v
			}
		}
		return out
	}
	panic(fmt.Sprintf("no form for %q", reason))
}
