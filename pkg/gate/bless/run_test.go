package bless

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestScopeLeavesOthersAlone is the field's case of a refresh that disarms: scoped to beta, alpha keeps its
// three bounds to the byte, be it run or skipped.
func TestScopeLeavesOthersAlone(t *testing.T) {
	const alpha = "  alpha::c: {passed: true, step_time_ms: {max: 900.0}, metrics: {median_tpot_ms: {policy: max, value: 2.40}, kv_hits: {policy: min, value: .9}}} # mine\n"
	for _, gpus := range []string{"1", "0"} {
		t.Run(gpus+" GPUs", func(t *testing.T) {
			r := newRig(t, Refresh)
			r.write(matrixPath, "entries:\n  - {name: alpha, recipe: a.yaml}\n  - {name: beta, recipe: b.yaml, min_gpus: 0}\n")
			r.recipe("a.yaml", "c")
			r.recipe("b.yaml", "c")
			r.leaves("a.yaml", map[string]any{"median_tpot_ms": 1.0})
			r.leaves("b.yaml", map[string]any{"median_tpot_ms": 1.0})
			alpha := strings.Replace(alpha, "value: .9", "value: 0.9", 1)
			r.write(baselinesPath, "baselines:\n"+alpha+"  beta::c: {passed: true}\n")
			a := r.run("--from", "run", "--gpus", gpus, "--perf-gate", "--perf-gate-entry", "beta")
			a.want(t, 0)
			if file := r.read(baselinesPath); !strings.Contains(file, alpha) || !strings.Contains(file, "value: 1.25") {
				t.Errorf("got\n%s", file)
			}
			if skipped := strings.Contains(a.stderr, "alpha: did not run here, and its 1 key(s) are kept"); skipped != (gpus == "0") {
				t.Errorf("stderr: %s", a.stderr)
			}
			r.run("--from", "run", "--gpus", "0", "--perf-gate", "--perf-gate-entry", "alpha").want(t, 3, "entry alpha cannot run here: it needs 1 GPU(s), have 0")
		})
	}
}

func TestPrune(t *testing.T) {
	r := newRig(t, Refresh)
	r.write(matrixPath, "entries:\n  - {name: beta, recipe: b.yaml}\npending_entries:\n  - {name: later, recipe: b.yaml, blocked_on: x}\n")
	r.recipe("b.yaml", "c")
	r.leaves("b.yaml", nil)
	before := "baselines:\n  gone::c: {passed: true, step_time_ms: {max: 3}}\n  beta::c: {passed: true}\n  later::c: {passed: true}\n"
	r.write(baselinesPath, before)
	r.run("--from", "run", "--gpus", "1", "--prune").want(t, 1, "gone::c: passed lost (was true): there is no reason for it")
	if got := r.read(baselinesPath); got != before {
		t.Errorf("a refused refresh wrote %q", got)
	}
	r.run("--from", "run", "--gpus", "1", "--prune", "--reason", "gone for good", "--report", "report.md").want(t, 0, "its key is removed")
	if got, want := r.read(baselinesPath), "baselines:\n  beta::c: {passed: true}\n  later::c: {passed: true}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if report := r.read("report.md"); !strings.Contains(report, "- reason gone::c step_time_ms.max: gone for good\n") {
		t.Errorf("the report has no reason lines:\n%s", report)
	}
}

// TestOnlyWholeRunsAreBlessed lists what a run may lack beyond the recorded cases.
func TestOnlyWholeRunsAreBlessed(t *testing.T) {
	const before = "baselines: {e::c: {passed: true}} # mine\n"
	passing := func(metrics string) string {
		return `{"cells": [{"name": "c", "passed_count": 1, "mean_step_time_ms": 5, "step_time_source": "per_step", "metrics_summary": {` + metrics + `}}]}`
	}
	tests := []struct {
		name, matrix, exit string
		cells              []string
		says               string
	}{
		{"a cell of the recipe is missing", passing(""), "", []string{"c", "d"}, `e::d: cell "d" of the recipe is not in matrix.json`},
		{"a cell that the recipe does not have", strings.Replace(passing(""), `"c"`, `"x"`, 1), "", []string{"c"}, `e::x: cell "x" is not in r.yaml`},
		{"an exit that no cell explains", passing(""), "3", []string{"c"}, "e::c: the command ended with exit 3 although every cell looks clean"},
		{"NaN", passing(`"median_tpot_ms": {"mean": NaN}`), "", []string{"c"}, "e: unreadable matrix.json"},
		{"a text for a number", passing(`"median_tpot_ms": {"mean": "fast"}`), "", []string{"c"}, "e::c: median_tpot_ms is fast, not a number"},
		{"a cell that nothing can be concluded from", strings.Replace(passing(""), `"name"`, `"no_verdict": ["client_limited: the client was the limit"], "name"`, 1), "", []string{"c"}, "e::c: client_limited"},
		{"a recipe that is none", passing(""), "", nil, "e: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Refresh)
			r.write(matrixPath, "entries:\n  - {name: e, recipe: r.yaml}\n")
			r.recipe("r.yaml", tt.cells...)
			r.write(".fake/r.yaml.0.json", tt.matrix)
			if tt.exit != "" {
				r.write(".fake/r.yaml.exit", tt.exit)
			}
			r.write(baselinesPath, before)
			r.run("--from", "run", "--gpus", "1", "--perf-gate", "--perf-gate-entry", "e").want(t, 4, tt.says, "nothing was written: the run is not whole")
			if got := r.read(baselinesPath); got != before {
				t.Errorf("wrote %q", got)
			}
		})
	}
}

func TestMetricScope(t *testing.T) {
	r := newRig(t, Refresh)
	r.write(matrixPath, "entries:\n  - {name: e, recipe: r.yaml}\n")
	r.recipe("r.yaml", "c")
	r.leaves("r.yaml", map[string]any{"median_tpot_ms": 2.0, "p99_itl_ms": 30.0, "gflops": 100.0})
	r.env["INPUT_PERF_GATE_METRIC"] = "median_tpot_ms gflops"
	r.run("--from", "run", "--gpus", "1", "--perf-gate", "--perf-gate-entry", "e").want(t, 0, "3 gained")
	if file := r.read(baselinesPath); strings.Contains(file, "p99_itl_ms") || strings.Contains(file, "step_time_ms") || !strings.Contains(file, "value: 85\n") || !strings.Contains(file, "value: 2.5\n") {
		t.Errorf("got\n%s", file)
	}
}

func TestBrokenBaselinesAreNotCarriedOver(t *testing.T) {
	for name, text := range map[string]string{"no mapping": "- a\n", "empty": "", "unknown key": "baselines: {e::c: {pased: true}}\n"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Refresh)
			r.write(matrixPath, "entries:\n  - {name: e, recipe: r.yaml}\n")
			r.recipe("r.yaml", "c")
			r.write(baselinesPath, text)
			r.run("--from", "run", "--gpus", "1").want(t, 2, "regression_baselines.yaml")
			if _, err := os.Stat(r.root + "/.fake/launched"); err == nil {
				t.Error("something was run")
			}
		})
	}
}

// TestFiftyRuns takes a file full of comments through fifty refreshes from runs. From the second on only
// the bound and its evidence may change.
func TestFiftyRuns(t *testing.T) {
	r := newRig(t, Refresh)
	r.write(matrixPath, "entries:\n  - {name: e, recipe: r.yaml}\n")
	r.recipe("r.yaml", "c")
	r.write(baselinesPath, "# head\n\nversion: 1   # one\nbaselines:  # all\n  # an entry that waits\n  gone::c: {passed: true,   step_time_ms: {max: 3.0}} # odd  spacing\n\n  # the cell\n  e::c: # key\n    metrics: # metrics\n      # tail latency, by hand\n      p99_itl_ms: {policy: max, value: 40.00} # kept\n      median_tpot_ms:\n        value: 2.0 # tpot\n        # direction\n        policy: max\n    passed: true # yes\n# tail\n")
	intended := regexp.MustCompile(`^        value: [0-9.]+ # tpot$|^            - \{run: 0, sha256: "?[0-9a-f]{64}"?, value: [0-9.]+\}$`)
	for i := range 50 {
		r.leaves("r.yaml", map[string]any{"median_tpot_ms": 1.6 - 0.016*float64(i), "p99_itl_ms": 20.0})
		before := strings.Split(r.read(baselinesPath), "\n")
		r.run("--from", "run", "--gpus", "1", "--perf-gate", "--perf-gate-entry", "e", "--perf-gate-metric", "median_tpot_ms").want(t, 0)
		after := strings.Split(r.read(baselinesPath), "\n")
		if i == 0 {
			if want := len(before) + 6; len(after) != want {
				t.Fatalf("the first refresh left %d lines, want %d:\n%s", len(after), want, r.read(baselinesPath))
			}
			continue
		}
		if len(after) != len(before) {
			t.Fatalf("refresh %d: got %d lines, want %d", i, len(after), len(before))
		}
		changed := 0
		for n := range after {
			if after[n] == before[n] {
				continue
			}
			if changed++; !intended.MatchString(after[n]) {
				t.Errorf("refresh %d changed line %d to %q", i, n+1, after[n])
			}
		}
		if changed != 2 || !strings.Contains(r.read(baselinesPath), fmt.Sprintf("value: %.3g # tpot", 2-0.02*float64(i))) {
			t.Errorf("refresh %d changed %d lines:\n%s", i, changed, r.read(baselinesPath))
		}
	}
}
