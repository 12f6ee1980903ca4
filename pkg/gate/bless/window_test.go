package bless

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
)

// nights publishes scheduled nights of serve::a into the folder "history", one a day: the values of
// median_tpot_ms in order. Other metrics follow them.
func (r *rig) nights(first int64, stack string, tpot ...float64) {
	r.t.Helper()
	h, err := history.Open(r.root, "history")
	if err != nil {
		r.t.Fatal(err)
	}
	for i, v := range tpot {
		run := first + int64(i)
		started := time.Date(2031, 3, int(run%100), 3, 0, 0, 0, time.UTC).Format(time.RFC3339)
		text := fmt.Sprintf(`{"schema_version": 1, "generated_at": %[2]q, "started_at": %[2]q, "complete": true, "event": "schedule", "run_id": %[1]d, "run_attempt": 1,
 "build": {"lane": "gate"}, "summary": {"total": 1},
 "entries": [{"entry": "serve", "recipe": "r.yaml", "cell": "a", "verdict": "record", "reasons": [], "passed_count": 1, "failed_count": 0, "trials": 1,
  "metrics": {"mean_step_time_ms": %[5]g, "summary": {"median_tpot_ms": %[3]g, "median_ttft_ms": %[6]g, "median_itl_ms": 0.0023}}, "deltas": {}, "matrix_path": null, "duration_sec": 61.5, "error": null,
  "step_times_ms": [%[5]g, %[5]g, %[5]g], "fingerprint": {"engine_digest": %[4]q, "client": "native"}}]}`,
			run, started, v, stack, 1100+float64(i%4), 46+0.1*float64(i*7%5))
		a, err := history.FromResults("", history.Document{Path: "nightly-results.json", Data: []byte(text)})
		if err != nil {
			r.t.Fatal(err)
		}
		if _, err := h.Publish(context.Background(), a); err != nil {
			r.t.Fatal(err)
		}
	}
}

var steady = []float64{1.9, 1.91, 1.88, 1.9138, 1.89, 1.905, 1.895, 1.885, 1.9, 1.89}

// serveRig is a repository with one entry of one cell, and ten nights of it.
func serveRig(t *testing.T) *rig {
	r := newRig(t, Refresh)
	r.write(matrixPath, "version: 1\nentries:\n  - {name: serve, recipe: r.yaml}\n")
	r.recipe("r.yaml", "a")
	r.nights(901, "sha256:aaaa", steady...)
	return r
}

func TestWindowArmsWhatItBears(t *testing.T) {
	r := serveRig(t)
	r.write(baselinesPath, "version: 1\nbaselines:\n  # by hand\n  serve::a: {passed: true, metrics: {median_itl_ms: {policy: max, value: 5}}} # kept\n")
	a := r.run("--from", "window", "--history", "history", "--perf-gate-entry", "serve", "--report", "report.md")
	a.want(t, 0, "1 gained, 2 unchanged")
	file := r.read(baselinesPath)
	for _, text := range []string{
		"  # by hand\n  serve::a: {passed: true, metrics: {median_itl_ms: {policy: max, value: 5}, median_tpot_ms: {policy: max, value: 2.3922, provenance: {rule: extremum, margin: 0.25, fingerprint: {client: native, engine_digest: \"sha256:aaaa\"}, nights: [\n",
		"{run: 904, attempt: 1, sha256: ", "value: 1.9138}", "first_blessed: 2.3922}}}} # kept\n",
	} {
		if !strings.Contains(file, text) {
			t.Errorf("the file lacks %q:\n%s", text, file)
		}
	}
	report := r.read("report.md")
	for _, text := range []string{"| serve::a | median_tpot_ms | gained | none → 2.3922 |", "≥ 26.", "| 904-1 | 1.9138 | `", "median_ttft_ms"} {
		if !strings.Contains(report, text) {
			t.Errorf("the report lacks %q:\n%s", text, report)
		}
	}

	// The same again is no change, and what is armed is derived anew from newer nights.
	if a := r.run("--from", "window", "--history", "history"); a.doc.Changed {
		t.Errorf("the same window changed the file: %+v", a.doc)
	}
	r.nights(911, "sha256:aaaa", 1.87, 1.88)
	r.run("--from", "window", "--history", "history").want(t, 0)
	if file := r.read(baselinesPath); !strings.Contains(file, "run: 912") || strings.Contains(file, "run: 902") || !strings.Contains(file, "first_blessed: 2.3922") {
		t.Errorf("the bound was not derived anew:\n%s", file)
	}
}

func TestWindowRefusals(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(r *rig)
		args    []string
		status  int
		says    string
	}{
		{"few nights", nil, []string{"--nights", "4"}, 2, "--nights: must be 5 at least"},
		{"no margin", nil, []string{"--step-time-margin", "0"}, 2, "--step-time-margin: must be above 0 for a window"},
		{"a misspelt entry", nil, []string{"--perf-gate-entry", "srve"}, 2, `the matrix has no entry named "srve"`},
		{"a metric that is never armed", nil, []string{"--perf-gate-metric", "median_itl_ms"}, 2, "median_itl_ms measures about zero by nature"},
		{"a metric that no window can bear", nil, []string{"--perf-gate-metric", "gflops"}, 4, "gflops was named, and no window of these cells can bear a bound on it"},
		{"the stack moved", func(r *rig) { r.nights(911, "sha256:bbbb", 1.9, 1.9) }, []string{"--perf-gate-entry", "serve"}, 4, "serve::a: there is no window: 2 of 10 nights since the stack moved"},
		{"a looser bound", func(r *rig) {
			r.write(baselinesPath, "baselines: {serve::a: {metrics: {median_tpot_ms: {policy: max, value: 2.3}}}}")
		}, nil, 1, "median_tpot_ms loosened from 2.3 to 2.3922 (+4.0 %): there is no reason for it"},
		{"past the drift budget", func(r *rig) {
			r.write(baselinesPath, "baselines: {serve::a: {metrics: {median_tpot_ms: {policy: max, value: 2.1}}}}")
		}, []string{"--reason", "newer nights"}, 1, "it is 13.9 % past the level first blessed, over the budget of 10 %: the reason must say accept-regression"},
		{"an unreadable history", func(r *rig) { r.write("history/runs/2031/03/20/999-1-gate.json", "{\"schema_version\": 1,") }, nil, 2, "999-1-gate.json"},
		{"a pull request in a dry run", nil, []string{"--open-pr", "--dry-run"}, 2, "does nothing in a dry run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serveRig(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			before := r.read(baselinesPath)
			r.run(append([]string{"--from", "window", "--history", "history"}, tt.args...)...).want(t, tt.status, tt.says)
			if got := r.read(baselinesPath); got != before {
				t.Errorf("a refused refresh wrote %q", got)
			}
		})
	}
}

func TestWindowNeedsAHistory(t *testing.T) {
	r := serveRig(t)
	r.run("--from", "window").want(t, 2, "--history: a window needs a history")
	r.run("--from", "window", "--history", "histroy", "--perf-gate-entry", "serve").want(t, 4, "serve::a: there is no window: the history has no night of it")
}

func TestWindowPromotesAndDryRuns(t *testing.T) {
	r := serveRig(t)
	r.run("--from", "window", "--history", "history", "--perf-gate-entry", "serve", "--perf-gate-metric", "median_ttft_ms, step_time_ms.max", "--dry-run").
		want(t, 0, "median_ttft_ms | gained", "step_time_ms.max | gained", "median_tpot_ms | gained", "▁")
	if file := r.read(baselinesPath); file != "" {
		t.Errorf("a dry run wrote %q", file)
	}
	r.run("--from", "window", "--history", "history", "--rule", "screened", "--perf-gate-entry", "serve").want(t, 0)
	if file := r.read(baselinesPath); !strings.Contains(file, "value: 2.1052") || !strings.Contains(file, "rule: screened") {
		t.Errorf("the screened rule gave\n%s", file)
	}
}

// TestUnscoped shows that everything at once is warned of, for it also arms what was reverted.
func TestUnscoped(t *testing.T) {
	r := serveRig(t)
	r.env["GITHUB_ACTIONS"] = "true"
	r.run("--from", "window", "--history", "history").want(t, 0, "without --perf-gate-entry bounds are derived for every entry")
}

func TestOpenPull(t *testing.T) {
	r := serveRig(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-q", "--allow-empty", "-m", "x")
	head := git("rev-parse", "HEAD")

	fake := ghapitest.New(t)
	body := func(status int, b any) func(ghapitest.Request) ghapitest.Answer {
		return func(ghapitest.Request) ghapitest.Answer { return ghapitest.Answer{Status: status, Body: b} }
	}
	var stored, told string
	fake.Handle("GET /repos/{owner}/{repo}", body(200, map[string]any{"default_branch": "main"}))
	fake.Handle("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", func(q ghapitest.Request) ghapitest.Answer {
		if q.Path["commit_sha"] != head {
			t.Errorf("got parent %s, want %s", q.Path["commit_sha"], head)
		}
		return ghapitest.Answer{Body: map[string]any{"tree": map[string]any{"sha": "aaaa"}}}
	})
	fake.Handle("POST /repos/{owner}/{repo}/git/trees", func(q ghapitest.Request) ghapitest.Answer {
		entry := q.Body["tree"].([]any)[0].(map[string]any)
		stored = fmt.Sprint(entry["path"], "\n", entry["content"])
		return ghapitest.Answer{Status: 201, Body: map[string]any{"sha": "bbbb"}}
	})
	fake.Handle("POST /repos/{owner}/{repo}/git/commits", body(201, map[string]any{"sha": "cccc"}))
	fake.Handle("POST /repos/{owner}/{repo}/git/refs", body(201, map[string]any{}))
	fake.Handle("GET /repos/{owner}/{repo}/pulls", body(200, []any{}))
	fake.Handle("POST /repos/{owner}/{repo}/pulls", func(q ghapitest.Request) ghapitest.Answer {
		told = q.Body["body"].(string)
		return ghapitest.Answer{Status: 201, Body: map[string]any{"number": 7, "html_url": "https://github.test/own/rep/pull/7"}}
	})

	args := []string{"--from", "window", "--history", "history", "--open-pr", "--github-repo", "own/rep"}
	r.run(args...).want(t, 3, "there is no token in GITHUB_TOKEN or GH_TOKEN")
	r.write(baselinesPath, "baselines: {}\n")
	r.env["GITHUB_TOKEN"], r.env["GITHUB_API_URL"] = "very-secret", fake.URL
	a := r.run(args...)
	a.want(t, 0, "opened https://github.test/own/rep/pull/7")
	if a.doc.PullRequest != "https://github.test/own/rep/pull/7" {
		t.Errorf("got pull request %q", a.doc.PullRequest)
	}
	if want := baselinesPath + "\n" + r.read(baselinesPath); stored != want {
		t.Errorf("stored %q, want %q", stored, want)
	}
	if !strings.Contains(told, "median_tpot_ms | gained | none → 2.3922") {
		t.Errorf("the text is %s", told)
	}
	if doc, _ := json.Marshal(a.doc); strings.Contains(a.stderr+string(doc)+told, "very-secret") {
		t.Error("the token shows")
	}
}
