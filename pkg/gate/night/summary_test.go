package night

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func TestSummary(t *testing.T) {
	r := newRig(t)
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: fine, recipe: f.yaml}, {name: slow, recipe: s.yaml}, {name: open, recipe: o.yaml}]\n")
	r.write("config/ci/regression_baselines.yaml", "baselines: {fine::c: {metrics: {median_tpot_ms: {value: 2.3922}}}, slow::c: {metrics: {median_tpot_ms: {value: 2.3922}}}, open::c: {passed: true}}\n")
	for name, v := range map[string]float64{"f.yaml": 1.9138, "s.yaml": 2.6793, "o.yaml": 9} {
		r.recipe(name, "c")
		r.leaves(name, 0, cell("c", map[string]any{"median_tpot_ms": v}))
	}
	jobSummary := filepath.Join(r.root, "job-summary")
	r.write("job-summary", "")
	r.env["GITHUB_STEP_SUMMARY"] = jobSummary
	r.env["GITHUB_ACTIONS"] = "true"
	r.write("out.txt", "")
	r.env["GITHUB_OUTPUT"] = filepath.Join(r.root, "out.txt")
	o := r.run("--gpus", "1", "--summary", "out/summary.md")
	if o.status != 1 {
		t.Errorf("got exit %d, want 1", o.status)
	}
	const words = "slow::c: median_tpot_ms 2.6793 ms is 12.0 % over its ceiling of 2.3922 ms"
	if !strings.Contains(o.stderr, words) {
		t.Errorf("people are not told %q:\n%s", words, o.stderr)
	}
	if !strings.Contains(o.stderr, "::error title=nightly-eval::"+strings.Replace(words, "%", "%25", 1)) {
		t.Errorf("no annotation:\n%s", o.stderr)
	}
	text, err := os.ReadFile(filepath.Join(r.root, "out", "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	job, _ := os.ReadFile(jobSummary)
	if string(job) != string(text) {
		t.Errorf("the job's summary differs from the copy:\n%s", job)
	}
	want := []string{
		"## Nightly evaluation: fail", "1 fail, 2 pass", "| verdict | cell | what |",
		"| fail | slow::c | median_tpot_ms 2.6793 ms is 12.0 % over its ceiling of 2.3922 ms |",
		"| pass | fine::c | median_tpot_ms 1.914 ms (max 2.3922) |",
		"| pass (recording) | open::c | no bound is held; median_tpot_ms 9 ms |",
		"### slow::c: fail", "- second run: fail",
	}
	rest := string(text)
	for _, part := range want {
		i := strings.Index(rest, part)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place:\n%s", part, text)
		}
		rest = rest[i+len(part):]
	}
	outputs, _ := os.ReadFile(r.env["GITHUB_OUTPUT"])
	if !strings.Contains(string(outputs), "fail") || !strings.Contains(string(outputs), "nightly-results.json") {
		t.Errorf("got outputs %q", outputs)
	}
}

func TestWhyACellFailed(t *testing.T) {
	r := one(t, "", "alpha::c: {passed: true}")
	r.leaves("a.yaml", 0, map[string]any{"name": "c", "failed_count": 1, "failures": []any{
		map[string]any{"class": "served_request_shortfall", "count": 3, "detail": "served_request_shortfall: 16 of 32 requests came through"},
		map[string]any{"class": "http_status", "count": 1, "detail": "500"},
	}})
	o := r.run("--gpus", "1")
	o.want(t, 1, map[string]string{"alpha::c": "fail: expected pass but cell did not pass"})
	for _, words := range []string{
		"alpha::c: expected pass but cell did not pass\n", "alpha::c: served_request_shortfall: 16 of 32 requests came through (3 times)\n", "alpha::c: http_status: 500\n",
	} {
		if !strings.Contains(o.stderr, words) {
			t.Errorf("people are not told %q:\n%s", words, o.stderr)
		}
	}
}

// What a person can do about a row stands below its reasons, in the log and in the summary.
func TestHints(t *testing.T) {
	cases := map[string]struct {
		command string
		cell    map[string]any
		want    string
	}{
		"the client was the limit": {"", map[string]any{
			"name": "c", "passed_count": 1, "no_verdict": []string{"client_limited in 3 of 3 steps"},
			"excursion_tags": []any{map[string]any{"name": "client_limited", "step": 0, "why": "8.1 ms late"}},
		}, "keep other work off the machine"},
		"no trial is counted": {"", map[string]any{"name": "c", "mean_step_time_ms": 12.5}, "passed_count must be 1 or more"},
		"no such command":     {"absent {recipe} {dir}", cell("c", nil), "is run by the command of --command"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := one(t, "", "")
			r.leaves("a.yaml", 0, c.cell)
			args := []string{"--gpus", "1", "--summary", "s.md"}
			if c.command != "" {
				args = append(args, "--command", c.command)
			}
			o := r.run(args...)
			text, err := os.ReadFile(filepath.Join(r.root, "s.md"))
			if err != nil {
				t.Fatal(err)
			}
			for place, got := range map[string]string{"log": o.stderr, "summary": string(text), "document": o.stdout} {
				if !strings.Contains(got, c.want) {
					t.Errorf("the %s lacks %q:\n%s", place, c.want, got)
				}
			}
		})
	}
}

// A cell without bounds is told by its figures: people watch them before they guard them.
func TestRecordedFigures(t *testing.T) {
	for want, metrics := range map[string]map[string]any{
		"median_tpot_ms 1.914 ms; p99_itl_ms 34.5 ms": {"p99_itl_ms": 34.5, "median_tpot_ms": 1.9138, "gbps": 3},
		"gbps 3.25 GB/s":           {"gbps": 3.25, "of_no_policy": 1},
		"mean_step_time_ms 100 ms": nil,
	} {
		r := one(t, "", "")
		r.leaves("a.yaml", 0, cell("c", metrics))
		if o := r.run("--gpus", "1"); !strings.Contains(o.stderr, "no baseline (record-only); "+want+"\n") {
			t.Errorf("the log lacks %q:\n%s", want, o.stderr)
		}
	}
}

func TestHostileNames(t *testing.T) {
	name := "x|y<img src=q>`[a](b)\n::error::no @all"
	row := Row{Entry: "e", Cell: &name, Verdict: baseline.Fail, Reasons: []string{"a|b\n\n# head <script>"}, Error: &name}
	text := markdown(&Results{Entries: []Row{row}}, "fail")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| fail") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Errorf("the row fell apart: %q", line)
		}
		if strings.HasPrefix(line, "::") || strings.HasPrefix(line, "# ") {
			t.Errorf("a name made a line of its own: %q", line)
		}
	}
	for _, bad := range []string{"<img", "<script", "[a](b)", "@all"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q got through", bad)
		}
	}
	if lines := strings.Count(textTable([]Row{row}), "\n"); lines != 2 {
		t.Errorf("got %d lines of table, want 2", lines)
	}
}

func TestSummaryOfManyRows(t *testing.T) {
	rows := make([]Row, 12000)
	for i := range rows {
		name := fmt.Sprintf("cell-%d-%s", i, strings.Repeat("ü", 60))
		rows[i] = Row{Entry: "e", Cell: &name, Verdict: baseline.Pass, Gated: []string{}}
	}
	rows[11999].Verdict, rows[11999].Reasons = baseline.Fail, []string{"the one that matters"}
	text := markdown(&Results{Entries: rows}, "fail")
	if !strings.Contains(text[:2000], "the one that matters") {
		t.Error("the failure is not among the first rows")
	}
	cut := step.FitSummary(text, summaryLimit)
	if len(text) <= summaryLimit || len(cut) > summaryLimit || !strings.Contains(cut, " rows omitted, see the results file") {
		t.Errorf("got %d of %d bytes ending in %q, want it cut below %d with a count", len(cut), len(text), cut[len(cut)-60:], summaryLimit)
	}
}
