package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// monday is a Monday morning, six hours after the night was due.
var monday = time.Date(2031, 3, 10, 9, 0, 0, 0, time.UTC)

type rig struct {
	t    *testing.T
	root string
	env  map[string]string
	now  time.Time
	run  int64
}

// newRig is a repository of one entry "serve" with two cells.
func newRig(t *testing.T) *rig {
	r := &rig{t: t, root: t.TempDir(), env: map[string]string{}, now: monday, run: 900}
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: serve, recipe: r.yaml}]\n")
	r.write("r.yaml", "schema_version: 1\nworkload: gemm\ntrials: 1\nsteps: 1\ncells:\n  - {name: a, mitigations: [none], environment: local}\n  - {name: b, mitigations: [none], environment: local}\n")
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// night publishes a scheduled night so long before now; rows are by cell, as JSON without their names.
func (r *rig) night(before time.Duration, event string, rows map[string]string) {
	r.t.Helper()
	h, err := history.Open(r.root, "history")
	if err != nil {
		r.t.Fatal(err)
	}
	r.run++
	started := r.now.Add(-before).Format(time.RFC3339)
	var entries []string
	for cell, row := range rows {
		entries = append(entries, fmt.Sprintf(`{"entry": "serve", "recipe": "r.yaml", "cell": %q, "reasons": [], "metrics": {}, "deltas": {}, "matrix_path": null, "duration_sec": 1, "error": null, %s}`, cell, row))
	}
	text := fmt.Sprintf(`{"schema_version": 1, "generated_at": %[2]q, "started_at": %[2]q, "complete": true, "event": %[3]q, "run_id": %[1]d, "run_attempt": 1, "build": {"lane": "gate"}, "summary": {"total": %[4]d}, "entries": [%[5]s]}`,
		r.run, started, event, len(rows), strings.Join(entries, ","))
	a, err := history.FromResults("", history.Document{Path: "nightly-results.json", Data: []byte(text)})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := h.Publish(context.Background(), a); err != nil {
		r.t.Fatal(err)
	}
}

const (
	day      = 24 * time.Hour
	recorded = `"verdict": "record"`
	gated    = `"verdict": "pass", "gated": ["median_tpot_ms"]`
)

// both are two cells with one row.
func both(row string) map[string]string { return map[string]string{"a": row, "b": row} }

func (r *rig) watch(t *testing.T, status int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got := Run(context.Background(), step.Proc{
		Args: append([]string{"--history", "history"}, args...), Getenv: func(k string) string { return r.env[k] },
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: r.root, Now: func() time.Time { return r.now },
	})
	if got != status {
		t.Errorf("got exit %d, want %d\n%s", got, status, stderr.String())
	}
	if !json.Valid(stdout.Bytes()) {
		t.Errorf("stdout is not one JSON document: %q", stdout.String())
	}
	return stderr.String()
}

func TestWatch(t *testing.T) {
	bound := "baselines: {serve::a: {metrics: {median_tpot_ms: {policy: max, value: 2}}}}\n"
	tests := []struct {
		name    string
		prepare func(r *rig)
		args    []string
		status  int
		says    string // "" says that it is fresh
	}{
		{"fresh", func(r *rig) { r.night(6*time.Hour, "schedule", both(recorded)) }, nil, 0, ""},
		{"a clock three minutes ahead", func(r *rig) { r.night(-3*time.Minute, "schedule", both(recorded)) }, nil, 0, ""},
		{"a clock that is wrong", func(r *rig) { r.night(-5*time.Hour, "schedule", both(recorded)) }, nil, 1, "serve: was last measured 5 h in the future [future]"},
		{"four days old", func(r *rig) { r.night(4*day, "schedule", both(recorded)) }, nil, 1, "serve: was last measured 4 days ago (2031-03-06), the limit is 36 h [stale]"},
		{"no history yet", func(r *rig) {}, nil, 1, "serve: has never been measured by a scheduled night [stale]"},
		{"dispatched by hand", func(r *rig) {
			r.night(4*day, "schedule", both(recorded))
			r.night(6*time.Hour, "workflow_dispatch", both(recorded))
		}, nil, 1, "was last measured 4 days ago"},
		{"only skipped since", func(r *rig) {
			r.night(4*day, "schedule", both(recorded))
			r.night(6*time.Hour, "schedule", both(`"verdict": "skip"`))
		}, nil, 1, "was last measured 4 days ago"},
		{"a failed night is a measured one", func(r *rig) { r.night(6*time.Hour, "schedule", both(`"verdict": "fail"`)) }, nil, 0, ""},
		{"a cell vanished", func(r *rig) {
			r.night(4*day, "schedule", both(recorded))
			for i := range 3 {
				r.night(time.Duration(3-i)*day-18*time.Hour, "schedule", map[string]string{"a": recorded})
			}
		}, nil, 1, "serve::b: the last 3 nights measured other cells of the entry and not this one (last on 2031-03-06) [vanished]"},
		{"a cell missed two nights", func(r *rig) {
			r.night(3*day, "schedule", both(recorded))
			for i := range 2 {
				r.night(time.Duration(2-i)*day-18*time.Hour, "schedule", map[string]string{"a": recorded})
			}
		}, nil, 0, ""},
		{"a gate held", func(r *rig) {
			r.write("config/ci/regression_baselines.yaml", bound)
			for i := range 3 {
				r.night(time.Duration(3-i)*day-18*time.Hour, "schedule", both(gated))
			}
		}, nil, 0, ""},
		{"a gate never held", func(r *rig) {
			r.write("config/ci/regression_baselines.yaml", bound)
			for i := range 3 {
				r.night(time.Duration(3-i)*day-18*time.Hour, "schedule", both(recorded))
			}
		}, nil, 1, "serve::a median_tpot_ms: no bound on it was held in the last 3 nights (never before either) [gate-not-evaluated]"},
		{"saved by the confirming run", func(r *rig) {
			for i := range 4 {
				row := recorded
				if i < 3 {
					row = gated + `, "excursions": [{"metric": "median_tpot_ms", "policy": "max", "observed": 3, "bound": 2, "reason": "x"}]`
				}
				r.night(time.Duration(4-i)*day-18*time.Hour, "schedule", map[string]string{"a": row, "b": recorded})
			}
		}, nil, 1, "serve::a median_tpot_ms: was breached and not confirmed in 3 of the last 4 nights, the limit is 2 [excursion-rate]"},
		{"an unreadable history", func(r *rig) { r.write("history/runs/2031/03/10/999-1-gate.json", "{") }, nil, 2, "999-1-gate.json"},
		{"a folder in --workflow", func(r *rig) {}, []string{"--workflow", "../x.yml"}, 2, `"../x.yml" is no file name`},
		{"labels that are none", func(r *rig) {}, []string{"--runner-labels-json", "gpu"}, 2, `"gpu" is no list of labels`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tt.prepare(r)
			want := tt.says
			if want == "" {
				want = "every entry is fresh"
			}
			if got := r.watch(t, tt.status, tt.args...); !strings.Contains(got, want) {
				t.Errorf("stderr lacks %q:\n%s", want, got)
			}
		})
	}
}

// listed is a run of the workflow as GitHub lists it.
func listed(id int64, event, status, conclusion string, before time.Duration) map[string]any {
	m := map[string]any{"id": id, "event": event, "status": status, "conclusion": nil, "created_at": monday.Add(-before).Format(time.RFC3339), "html_url": fmt.Sprint("https://github.test/runs/", id)}
	if conclusion != "" {
		m["conclusion"] = conclusion
	}
	return m
}

// TestWatchdog is the field's watchdog case: what GitHub knows and the history does not.
func TestWatchdog(t *testing.T) {
	weekdays := "name: Nightly\non:\n  schedule:\n    - cron: '0 3 * * 1-5'\n"
	daily := "on:\n  schedule: [{cron: '0 3 * * *'}]\n"
	gpu := map[string]any{"id": 1, "name": "r1", "os": "Linux", "status": "online", "busy": false, "labels": []any{map[string]any{"name": "self-hosted"}, map[string]any{"name": "GPU"}}}
	off := map[string]any{"id": 1, "name": "r1", "os": "Linux", "status": "offline", "busy": false, "labels": []any{map[string]any{"name": "self-hosted"}, map[string]any{"name": "gpu"}}}
	cpu := map[string]any{"id": 2, "name": "r2", "os": "Linux", "status": "online", "busy": false, "labels": []any{map[string]any{"name": "self-hosted"}, map[string]any{"name": "gpu-old"}}}
	tests := []struct {
		name    string
		file    string
		last    time.Duration // the last measured night
		now     time.Duration // after monday
		state   string
		runs    []any
		runners []any
		status  int
		says    []string
	}{
		{name: "disabled after four days", file: daily, last: 4 * day, state: "disabled_inactivity", status: 1, says: []string{
			"the workflow is off (disabled_inactivity)", "GitHub switches schedules off after 60 days", "was last measured 4 days ago"}},
		{name: "three failures at checkout", file: daily, last: 3*day + 6*time.Hour, runs: []any{
			listed(13, "schedule", "completed", "failure", 6*time.Hour), listed(12, "schedule", "completed", "failure", 30*time.Hour), listed(11, "schedule", "completed", "failure", 54*time.Hour),
			listed(10, "workflow_dispatch", "completed", "success", 55*time.Hour), listed(901, "schedule", "completed", "success", 78*time.Hour),
		}, status: 1, says: []string{"3 scheduled run(s) since the last measured night ended and left nothing in the history: 13 (failure), 12 (failure), 11 (failure) [nothing-measured]"}},
		{name: "green and nothing measured", file: daily, last: 30 * time.Hour, runs: []any{listed(13, "schedule", "completed", "success", 6*time.Hour)}, status: 1, says: []string{"13 (success)"}},
		{name: "weekdays only, on Monday before it lands", file: weekdays, last: 3*day + 6*time.Hour, status: 0},
		{name: "weekdays only, on Monday evening", file: weekdays, last: 3*day + 6*time.Hour, now: 10 * time.Hour, status: 1, says: []string{"was last measured 3 days ago"}},
		{name: "two runs queued for nine hours", file: daily, last: 6 * time.Hour, runs: []any{
			listed(13, "schedule", "queued", "", 5*time.Hour), listed(12, "schedule", "queued", "", 9*time.Hour), listed(14, "schedule", "queued", "", 10*time.Minute),
		}, status: 1, says: []string{"2 run(s) wait for a runner, the oldest for 9 h [waiting-for-runner]"}},
		{name: "a runner in another spelling", last: 6 * time.Hour, runners: []any{gpu}, status: 0},
		{name: "the runner is gone", last: 6 * time.Hour, runners: []any{off, cpu}, status: 1, says: []string{"all 1 runner(s) with these labels are offline"}},
		{name: "no runner ever matches", last: 6 * time.Hour, runners: []any{cpu}, status: 1, says: []string{"no runner has these labels: of 1 runner(s) none can ever take the night"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.night(tt.last, "schedule", both(recorded))
			r.now = monday.Add(tt.now)
			fake := ghapitest.New(t)
			r.env["GITHUB_API_URL"], r.env["GITHUB_TOKEN"] = fake.URL, "secret"
			args := []string{"--github-repo", "own/rep"}
			if tt.runners != nil {
				args = append(args, "--check-runners")
				fake.Handle("GET /repos/{owner}/{repo}/actions/runners", func(ghapitest.Request) ghapitest.Answer {
					return ghapitest.Answer{Body: map[string]any{"total_count": len(tt.runners), "runners": tt.runners}}
				})
				fake.Handle("GET /repos/{owner}/{repo}", func(ghapitest.Request) ghapitest.Answer {
					return ghapitest.Answer{Body: map[string]any{"owner": map[string]any{"type": "User"}}}
				})
			}
			if tt.file != "" {
				args = append(args, "--workflow", "nightly.yml")
				r.write(".github/workflows/nightly.yml", tt.file)
				state := tt.state
				if state == "" {
					state = "active"
				}
				fake.Handle("GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}", func(ghapitest.Request) ghapitest.Answer {
					return ghapitest.Answer{Body: map[string]any{"state": state}}
				})
				fake.Handle("GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs", func(ghapitest.Request) ghapitest.Answer {
					return ghapitest.Answer{Body: map[string]any{"total_count": len(tt.runs), "workflow_runs": append([]any{}, tt.runs...)}}
				})
			}
			got := r.watch(t, tt.status, args...)
			for _, text := range tt.says {
				if !strings.Contains(got, text) {
					t.Errorf("stderr lacks %q:\n%s", text, got)
				}
			}
			if strings.Contains(got, "secret") {
				t.Error("the token shows")
			}
		})
	}
}

// TestUnseenRunnersAreNoAbsence: a token that may not list runners cannot say that there are none.
func TestUnseenRunnersAreNoAbsence(t *testing.T) {
	r := newRig(t)
	r.night(6*time.Hour, "schedule", both(recorded))
	fake := ghapitest.New(t)
	r.env["GITHUB_API_URL"] = fake.URL
	fake.Handle("GET /repos/{owner}/{repo}/actions/runners", func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 403, Raw: `{"message": "Resource not accessible by integration"}`}
	})
	fake.Handle("GET /repos/{owner}/{repo}", func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Body: map[string]any{"owner": map[string]any{"type": "User"}}}
	})
	if got := r.watch(t, 3, "--github-repo", "own/rep", "--check-runners"); !strings.Contains(got, "as far as this token sees") {
		t.Errorf("got %s", got)
	}
}
