package history_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// share is what one machine of a night left: one entry, or nothing but skips.
func share(entry, runner, started string, complete string) history.Document {
	text := results(901, 1, started, "schedule")
	text = strings.Replace(text, `"entry": "serve"`, `"entry": "`+entry+`"`, 1)
	text = strings.Replace(text, `"complete": true`, `"complete": `+complete+`, "runner": "`+runner+`"`, 1)
	return history.Document{Path: entry + ".json", Data: []byte(text)}
}

func TestMerge(t *testing.T) {
	skipped := history.Document{Path: "third.json", Data: []byte(`{"schema_version": 1, "generated_at": "2026-09-08T05:00:00+00:00", "started_at": "2026-09-08T04:03:00+00:00", "complete": true,
 "event": "schedule", "run_id": 901, "run_attempt": 1, "runner": "c", "build": {"lane": "gate"}, "entries": [
 {"entry": "train", "verdict": "skip", "reasons": ["needs 8 GPU(s), have 1"]},
 {"entry": "_nightly_eval", "verdict": "fail", "error": "zero_work", "reasons": ["no entry ran"]}]}`)}
	a, err := history.FromResults("", share("serve", "a", "2026-09-08T04:05:00+00:00", "true"), share("load", "b", "2026-09-08T04:01:00+00:00", "false"), skipped)
	if err != nil {
		t.Fatal(err)
	}
	var keys, runners []string
	for i := range a.Entries {
		keys, runners = append(keys, a.Entries[i].Key()), append(runners, a.Entries[i].Runner)
	}
	if !slices.Equal(keys, []string{"serve::base", "load::base", "train"}) || !slices.Equal(runners, []string{"a", "b", "c"}) {
		t.Errorf("got %v on %v, want the rows of three machines without the one about an idle machine", keys, runners)
	}
	if a.Complete || !strings.HasPrefix(a.StartedAt, "2026-09-08T04:01") || len(a.Sources) != 3 || a.Summary.Total != 3 || a.Summary.Skip != 1 {
		t.Errorf("got complete %v, started %s, %d sources, %+v", a.Complete, a.StartedAt, len(a.Sources), a.Summary)
	}
}

func TestMergeRefuses(t *testing.T) {
	one := share("serve", "a", "2026-09-08T04:05:00+00:00", "true")
	other := func(old, new string) history.Document {
		d := share("load", "b", "2026-09-08T04:05:00+00:00", "true")
		d.Data = []byte(strings.Replace(string(d.Data), old, new, 1))
		return d
	}
	for want, d := range map[string]history.Document{
		"run_id":               other(`"run_id": 901`, `"run_id": 902`),
		"run_attempt":          other(`"run_attempt": 1`, `"run_attempt": 2`),
		"event":                other(`"schedule"`, `"workflow_dispatch"`),
		"build.lane":           other(`"lane": "gate"`, `"lane": "canary"`),
		"serve::base is there": one,
	} {
		if _, err := history.FromResults("", one, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a refusal about %s", err, want)
		}
	}
}

// A run outside a job is numbered by its start; nothing says what started it, so somebody must.
func TestRunOutsideAJob(t *testing.T) {
	text := strings.Replace(results(0, 0, "2026-09-08T04:00:00.25+00:00", ""), `"lane": "gate"`, ``, 1)
	d := history.Document{Path: "results.json", Data: []byte(text)}
	if _, err := history.FromResults("", d); err == nil || !strings.Contains(err.Error(), "what started the run") {
		t.Errorf("got %v, want a refusal", err)
	}
	a, err := history.FromResults("by-hand", d)
	if err != nil {
		t.Fatal(err)
	}
	if a.RunID != 1788840000 || a.RunAttempt != 1 || a.Event != "by-hand" || a.Build.Lane != "gate" {
		t.Errorf("got run %d-%d of %s in %s", a.RunID, a.RunAttempt, a.Event, a.Build.Lane)
	}
}

// legacy is a results file of the reference.
const legacy = `{"schema_version": 1, "generated_at": "2026-09-08T04:40:11.123456+00:00",
 "build": {"amd_aorta_version": "0.3.1rc7", "torch": "2.13.0", "hip": "7.0.1", "rocm": "10.0.0", "upstream_run_id": "171", "head_sha": "ab12", "wheel_file": "w.whl", "lane": "gate", "base_image": "rocm/pytorch@sha256:3174"},
 "summary": {"total": 2, "pass": 0, "fail": 0, "record": 1, "skip": 1},
 "entries": [
  {"entry": "serve", "recipe": "r.yaml", "cell": "base", "verdict": "record", "reasons": ["no baseline (record-only)"], "metrics": {"mean_step_time_ms": 1130.1, "mean_wall_clock_sec": 300.0, "step_time_source": "per_step", "summary": {"median_tpot_ms": 1.9}},
   "deltas": {}, "passed_count": 1, "failed_count": 0, "error_count": 0, "trials": 1, "matrix_path": "m.json", "duration_sec": 700.5, "error": null},
  {"entry": "race", "recipe": "s.yaml", "cell": null, "verdict": "skip", "reasons": ["needs 8 GPU(s), have 1"], "metrics": {}, "deltas": {}, "duration_sec": 0, "error": null}]}`

func TestImport(t *testing.T) {
	a, err := history.Import("schedule", history.Document{Path: "results/2026-09-08.json", Data: []byte(legacy)})
	if err != nil {
		t.Fatal(err)
	}
	if a.Event != "schedule" || a.RunID != 1788842411 || a.RunAttempt != 1 || !a.Complete || !a.Sources[0].Imported || a.Sources[0].Name != "2026-09-08.json" {
		t.Errorf("got %+v", a)
	}
	// The stack is the build's, without what the night is there to test.
	want := report.Fingerprint{report.Torch: "2.13.0", "hip": "7.0.1", report.ROCm: "10.0.0", report.BaseImageDigest: "rocm/pytorch@sha256:3174"}
	if got := a.Entries[0].Fingerprint; !maps.Equal(got, want) {
		t.Errorf("got the stack %v, want %v", got, want)
	}
	h := open(t, t.TempDir(), "history")
	for _, there := range []bool{false, true} {
		done, err := h.Publish(ctx, a)
		if err != nil || done[0].There != there {
			t.Fatalf("got %+v, %v, want already there %v", done, err, there)
		}
	}
	nan := strings.Replace(legacy, "1.9}", "NaN}", 1)
	if _, err := history.Import("schedule", history.Document{Path: "x.json", Data: []byte(nan)}); err == nil || !strings.Contains(err.Error(), "x.json: byte ") {
		t.Errorf("a NaN: got %v, want a refusal with its offset", err)
	}
}
