package night

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

const gate = "alpha::c: {metrics: {median_tpot_ms: {policy: max, value: 2.4}, p99_itl_ms: {policy: max, value: 44.0}}}"

func tpot(tpot, itl float64) map[string]any {
	return cell("c", map[string]any{"median_tpot_ms": tpot, "p99_itl_ms": itl})
}

func TestConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		first, second map[string]any
		status        int
		row           string
		excursions    int
	}{
		"broken twice":             {tpot(3.0, 30), tpot(2.9, 30), 1, "fail: metric 'median_tpot_ms' 3 > max 2.4", 0},
		"broken once":              {tpot(3.0, 30), tpot(1.9, 30), 0, "pass: excursion: median_tpot_ms 3 ms is 25.0 % over its ceiling of 2.4 ms; it held in the confirming run", 1},
		"another bound each time":  {tpot(3.0, 30), tpot(1.9, 50), 0, "pass: excursion: median_tpot_ms", 1},
		"both, one of them again":  {tpot(3.0, 50), tpot(2.9, 30), 1, "fail: metric 'median_tpot_ms' 3 > max 2.4", 1},
		"second run fails":         {tpot(3.0, 30), map[string]any{"name": "c", "failed_count": 1, "error": "engine died"}, 4, "no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the confirming run came to nothing: expected pass but engine died", 0},
		"second run without it":    {tpot(3.0, 30), cell("c", map[string]any{"p99_itl_ms": 30.0}), 4, "no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the confirming run came to nothing: metric 'median_tpot_ms' missing", 0},
		"second run, another cell": {tpot(3.0, 30), cell("d", nil), 4, `no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the confirming run came to nothing: cell "c" of the recipe is not in matrix.json`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := one(t, "", gate)
			r.leaves("a.yaml", 1, c.first)
			r.leaves("a.yaml", 2, c.second)
			o := r.run("--gpus", "8")
			o.want(t, c.status, map[string]string{"alpha::c": c.row})
			row := o.results.Entries[0]
			if len(row.Excursions) != c.excursions || o.results.Summary.Excursions != c.excursions {
				t.Errorf("got excursions %v counted %d, want %d", row.Excursions, o.results.Summary.Excursions, c.excursions)
			}
			if row.Confirmation == nil || row.Confirmation.MatrixPath == nil || row.MatrixPath == nil || *row.Confirmation.MatrixPath == *row.MatrixPath {
				t.Errorf("got confirmation %+v, want both runs kept", row.Confirmation)
			}
			if got := row.Metrics.Summary["median_tpot_ms"]; got != 3.0 {
				t.Errorf("got the night's value %v, want the first run's", got)
			}
		})
	}
}

func TestExcursionBesideABoundOfAnotherStack(t *testing.T) {
	r := one(t, "", `alpha::c: {metrics: {median_tpot_ms: {value: 2.4}, p99_itl_ms: {value: 44.0, provenance: {fingerprint: {driver: "6.10"}}}}}`)
	r.leaves("a.yaml", 1, tpot(3.0, 30))
	r.leaves("a.yaml", 2, tpot(1.9, 30))
	r.run("--gpus", "8").want(t, 0, map[string]string{
		"alpha::c": "record: excursion: median_tpot_ms 3 ms is 25.0 % over its ceiling of 2.4 ms; it held in the confirming run; the bound on p99_itl_ms was not held",
	})
}

func TestDisqualifiedRunIsMeasuredAgain(t *testing.T) {
	const why = "client_limited in 1 of 3 steps"
	limited := map[string]any{"name": "c", "passed_count": 1, "metrics_summary": map[string]any{"median_tpot_ms": map[string]any{"mean": 9.0}}, "no_verdict": []string{why}}
	for name, c := range map[string]struct {
		first, second map[string]any
		status        int
		row           string
	}{
		"then clean":         {limited, tpot(1.9, 30), 0, "pass: the first run was disqualified: " + why},
		"then broken":        {limited, tpot(3.0, 30), 4, "no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the first run was disqualified: " + why + "; no run was left to confirm what the second one broke"},
		"then failed":        {limited, map[string]any{"name": "c", "failed_count": 1, "error": "engine died"}, 1, "fail: expected pass but engine died; the first run was disqualified: " + why},
		"then limited again": {limited, limited, 4, "no_verdict: " + why + "; the second run came to nothing: " + why},
		"then missing":       {limited, cell("d", nil), 4, "no_verdict: " + why + `; the second run came to nothing: cell "c" of the recipe is not in matrix.json`},
		"after a breach":     {tpot(3.0, 30), limited, 4, "no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the confirming run came to nothing: " + why},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := one(t, "", gate)
			r.leaves("a.yaml", 1, c.first)
			r.leaves("a.yaml", 2, c.second)
			o := r.run("--gpus", "8")
			o.want(t, c.status, map[string]string{"alpha::c": c.row})
			row := o.results.Entries[0]
			if row.Confirmation == nil && row.Disqualified == nil {
				t.Error("the results do not keep both runs")
			}
			if row.Disqualified != nil && (row.Metrics.Summary["median_tpot_ms"] == 9.0 || row.Disqualified.Metrics.Summary["median_tpot_ms"] != 9.0) {
				t.Errorf("got the night's value %v, want the second run's", row.Metrics.Summary["median_tpot_ms"])
			}
		})
	}
}

func TestConfirmationThatTimesOut(t *testing.T) {
	r := one(t, ", timeout_sec: 2", gate)
	r.leaves("a.yaml", 0, tpot(3.0, 30))
	r.write(".fake/a.yaml.sh", `[ "$n" = 2 ] && exec sleep 60`)
	r.run("--gpus", "8").want(t, 4, map[string]string{"alpha::c": "no_verdict: metric 'median_tpot_ms' 3 > max 2.4; the confirming run came to nothing: timed out (2s)"})
}

func TestNoConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		cell map[string]any
		args []string
		row  string
	}{
		"not wanted":       {tpot(3.0, 30), []string{"--no-confirm"}, "fail: metric 'median_tpot_ms' 3 > max 2.4"},
		"a missing metric": {cell("c", map[string]any{"median_tpot_ms": 3.0}), nil, "fail: metric 'median_tpot_ms' 3 > max 2.4; metric 'p99_itl_ms' missing (policy max 44)"},
		"a failed cell":    {map[string]any{"name": "c", "failed_count": 1}, nil, "fail: expected pass but cell did not pass"},
	} {
		t.Run(name, func(t *testing.T) {
			r := one(t, "", gate)
			r.leaves("a.yaml", 0, c.cell)
			r.run(append(c.args, "--gpus", "8")...).want(t, 1, map[string]string{"alpha::c": c.row})
			if n := len(r.launched()); n != 1 {
				t.Errorf("got %d runs, want 1", n)
			}
		})
	}
}

func TestCellsAgainstTheRecipe(t *testing.T) {
	for name, c := range map[string]struct {
		baselines string
		cells     []map[string]any
		exit      string
		status    int
		rows      map[string]string
	}{
		"a cell is missing": {"", []map[string]any{cell("c", nil)}, "0", 4,
			map[string]string{"alpha::c": "record", "alpha::d": `no_verdict: cell "d" of the recipe is not in matrix.json`}},
		"a missing cell explains the exit status": {"", []map[string]any{cell("c", nil)}, "1", 4,
			map[string]string{"alpha::c": "record", "alpha::d": "no_verdict"}},
		"a cell nobody knows": {"", []map[string]any{cell("c", nil), cell("d", nil), cell("x", nil)}, "0", 4,
			map[string]string{"alpha::c": "record", "alpha::d": "record", "alpha::x": `no_verdict: cell "x" is not in a.yaml`}},
		"a failing cell nobody knows": {"", []map[string]any{cell("c", nil), cell("d", nil), {"name": "x", "failed_count": 1}}, "0", 1,
			map[string]string{"alpha::c": "record", "alpha::d": "record", "alpha::x": "fail"}},
		"a blessed cell that vanished": {"alpha::gone: {passed: true}", []map[string]any{cell("c", nil), cell("d", nil)}, "0", 4,
			map[string]string{"alpha::c": "record", "alpha::d": "record", "alpha::gone": `no_verdict: the baselines guard a cell "gone" that the recipe does not have`}},
		"clean cells of a command that failed": {"alpha::c: {}", []map[string]any{cell("c", nil), cell("d", nil)}, "3", 4,
			map[string]string{"alpha::c": "no_verdict: the command ended with exit 3 although every cell looks clean", "alpha::d": "no_verdict: the command ended"}},
		"a failing cell explains the exit status": {"alpha::c: {}", []map[string]any{cell("c", nil), {"name": "d", "failed_count": 1}}, "1", 1,
			map[string]string{"alpha::c": "pass", "alpha::d": "fail"}},
		"a blessed cell nobody knows": {"alpha::x: {passed: true}", []map[string]any{cell("c", nil), cell("d", nil), cell("x", nil)}, "0", 4,
			map[string]string{"alpha::c": "record", "alpha::d": "record", "alpha::x": `no_verdict: cell "x" is not in a.yaml`}},
		"a cell without a verdict": {"", []map[string]any{cell("c", nil), {"name": "d", "passed_count": 1, "no_verdict": []string{"client_limited: 97 % of a core"}}}, "4", 4,
			map[string]string{"alpha::c": "record", "alpha::d": "no_verdict: client_limited"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := one(t, "", c.baselines)
			r.recipe("a.yaml", "c", "d")
			r.leaves("a.yaml", 0, c.cells...)
			r.write(".fake/a.yaml.exit", c.exit)
			r.run("--gpus", "8").want(t, c.status, c.rows)
		})
	}
}

func TestEntriesThatComeToNothing(t *testing.T) {
	r := newRig(t)
	hideDocker(t, r)
	r.write("config/ci/nightly_eval_matrix.yaml", `entries:
  - {name: bad, recipe: bad.yaml}
  - {name: silent, recipe: silent.yaml}
  - {name: linked, recipe: linked.yaml}
  - {name: serving, recipe: serving.yaml}
  - {name: many, recipe: serving.yaml, nproc: 2}
  - {name: fine, recipe: fine.yaml}
`)
	r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
	r.write("bad.yaml", "workload: gemm\ncells: 7\n")
	for _, name := range []string{"silent.yaml", "linked.yaml", "fine.yaml"} {
		r.recipe(name, "c")
	}
	r.write("serving.yaml", servingRecipe)
	r.write(".fake/silent.yaml.exit", "5")
	r.write("elsewhere.json", `{"cells": [{"name": "c", "passed_count": 1}]}`)
	r.write(".fake/linked.yaml.sh", `mkdir -p "$out"; ln -s "$PWD/elsewhere.json" "$out/matrix.json"; ln -s "$PWD/.fake" "$out/folder"`)
	r.leaves("fine.yaml", 0, cell("c", nil))
	o := r.run("--gpus", "8")
	o.want(t, 1, map[string]string{
		"bad":     "fail: ",
		"silent":  "fail: no matrix.json produced (exit 5)",
		"linked":  "fail: no matrix.json produced (exit 0)",
		"serving": "fail: the command cannot be started: serve-cell is neither beside nightly-eval nor on PATH",
		"many":    "fail: nproc is for commands under torchrun",
		"fine::c": "record",
	})
	if got := o.rows()["bad"]; !strings.Contains(got, "bad.yaml:2:8: cells") {
		t.Errorf("got %q, want the place in the recipe", got)
	}
	if e := o.results.Entries[1].Error; e == nil || *e != "exit 5" {
		t.Errorf("got error %v, want exit 5", e)
	}
}

const servingRecipe = `schema_version: 1
workload: tokenspeed_serve
trials: 1
steps: 1
workload_config: {driver: process, command: [engine-sim], model: m}
cells:
  - {name: c, mitigations: [none], environment: local}
`

func TestServingRecipesRunByServeCell(t *testing.T) {
	r := one(t, "", "")
	r.write("a.yaml", servingRecipe)
	r.write(".bin/serve-cell", "#!/bin/sh\n"+filepath.Join(r.root, ".bin", "aorta")+" serve cell \"$@\"; echo '{\"the\": \"document\"}'\n")
	if err := os.Chmod(filepath.Join(r.root, ".bin", "serve-cell"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.leaves("a.yaml", 0, cell("c", nil))
	o := r.run("--gpus", "1", "--lane", "nightly.yml#gpu")
	o.want(t, 0, map[string]string{"alpha::c": "record"})
	log, err := os.ReadFile(filepath.Join(r.root, ".nightly-eval", "alpha", "run-1.log"))
	if err != nil || !strings.Contains(string(log), `{"the": "document"}`) || strings.Contains(o.stderr, "document") {
		t.Errorf("got log %q, %v; want serve-cell's document there, and not among people's text:\n%s", log, err, o.stderr)
	}
	if got, want := strings.Join(r.launched()[0], " "), "serve cell --recipe a.yaml --output-dir <out> --strict --lane nightly.yml#gpu"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommandTemplate(t *testing.T) {
	r := one(t, ", nproc: 2", "")
	r.write(".bin/torchrun", "#!/bin/sh\necho torchrun \"$@\" >> $FAKE/torchrun\nshift 3\nexec \"$@\"\n")
	os.Chmod(filepath.Join(r.root, ".bin", "torchrun"), 0o755)
	r.leaves("a.yaml", 0, cell("c", nil))
	r.run("--gpus", "2", "--command", `aorta sweep run --recipe {recipe} --output-dir {dir} --note 'two words; $(rm -rf x)'`).
		want(t, 0, map[string]string{"alpha::c": "record"})
	text, _ := os.ReadFile(filepath.Join(r.fake, "torchrun"))
	if !strings.HasPrefix(string(text), "torchrun --standalone --nproc_per_node=2 --no-python aorta sweep run --recipe a.yaml --output-dir ") ||
		!strings.HasSuffix(string(text), " --note two words; $(rm -rf x)\n") {
		t.Errorf("got %q", text)
	}
}

func TestParseTemplate(t *testing.T) {
	for line, want := range map[string]string{
		"a {recipe} {dir}":                  "a|{recipe}|{dir}",
		`a "b c" 'd"e' {recipe} x={dir}\ y`: `a|b c|d"e|{recipe}|x={dir} y`,
		`a '' {recipe} {dir}`:               "a||{recipe}|{dir}",
	} {
		got, err := parseTemplate(line)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: got %q, %v, want %q", line, got, err, want)
		}
	}
	for _, line := range []string{"", "  ", "a {recipe}", "a {dir}", "a 'b {recipe} {dir}", "a {recipe} {dir} $HOME", "a {recipe} {dir} | tee log", "a {recipe} {dir} {recipes}"} {
		if got, err := parseTemplate(line); err == nil {
			t.Errorf("%q: got %q, want a refusal", line, got)
		}
	}
}

func TestRefusedBeforeAnythingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		write map[string]string
		want  string
	}{
		"unknown entry":        {[]string{"--entry", "beta"}, nil, "--entry: the matrix has no entry named beta"},
		"template":             {[]string{"--command", "aorta"}, nil, "--command: the command must name {recipe} and {dir}"},
		"negative GPUs":        {[]string{"--gpus", "-1"}, nil, "--gpus: must not be negative"},
		"matrix":               {nil, map[string]string{"config/ci/nightly_eval_matrix.yaml": "entries:\n  - {name: ../x, recipe: a.yaml}\n"}, "nightly_eval_matrix.yaml:2:12: entries[0].name"},
		"no matrix":            {[]string{"--matrix", "absent.yaml"}, nil, "absent.yaml: cannot be read"},
		"baselines":            {nil, map[string]string{"config/ci/regression_baselines.yaml": "baselines: {alpha::c: {metrics: {m: {value: 1}}}}\n"}, "metric m has no policy of its own"},
		"somebody's folder":    {[]string{"--work-dir", "."}, map[string]string{"alpha/keep": "me"}, "alpha: --work-dir: an entry's folder would be emptied, and it was not made by a night"},
		"somebody's file":      {[]string{"--work-dir", "."}, map[string]string{"alpha": "me"}, "an entry's folder would go where something else is"},
		"two at once":          {[]string{"--entry", "beta", "--command", "aorta"}, nil, "--entry: the matrix has no entry named beta"},
		"no flag of that name": {[]string{"--entrys", "alpha"}, nil, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			r := one(t, "", gate)
			for file, text := range c.write {
				r.write(file, text)
			}
			r.write("nightly-results.json", `{"generated_at": "yesterday", "summary": {"pass": 9}}`)
			o := r.run(c.args...)
			if o.status != 2 || !strings.Contains(o.stderr, c.want) {
				t.Errorf("got exit %d, want 2 and %q\n%s", o.status, c.want, o.stderr)
			}
			if len(r.launched()) != 0 {
				t.Error("something was run")
			}
			if name != "no flag of that name" && (o.results.Summary.Fail != 1 || *o.results.Entries[0].Error != errBadInput) {
				t.Errorf("got rows %v, want yesterday's results replaced", o.rows())
			}
			if text, err := os.ReadFile(filepath.Join(r.root, "alpha", "keep")); name == "somebody's folder" && (err != nil || string(text) != "me") {
				t.Error("the folder was touched")
			}
		})
	}
}

// A slip of the tongue must not cost the matrix, the baselines or a recipe, not even by the refusal of another input.
func TestInputsAreNotOverwritten(t *testing.T) {
	for _, flag := range []string{"--out", "--summary"} {
		for _, file := range []string{"config/ci/nightly_eval_matrix.yaml", "config/ci/regression_baselines.yaml", "a.yaml"} {
			r := one(t, "", gate)
			before, err := os.ReadFile(filepath.Join(r.root, file))
			if err != nil {
				t.Fatal(err)
			}
			o := r.run(flag, file, "--gpus", "-1")
			if o.status != 2 || !strings.Contains(o.stderr, flag+": would be written over a file that the night reads") {
				t.Errorf("%s %s: got exit %d, want 2 and why\n%s", flag, file, o.status, o.stderr)
			}
			if after, _ := os.ReadFile(filepath.Join(r.root, file)); string(after) != string(before) {
				t.Errorf("%s %s: the file was changed", flag, file)
			}
		}
	}
}

func TestResultsThatCannotBeWritten(t *testing.T) {
	r := one(t, "", gate)
	r.leaves("a.yaml", 0, tpot(1.9, 30))
	r.write("file", "")
	for _, out := range []string{"file/results.json", "config", "/dev/full"} {
		o := r.run("--gpus", "8", "--out", out)
		if o.status != step.CouldNotRun || !strings.Contains(o.stderr, "writ") && !strings.Contains(o.stderr, "making the folder") {
			t.Errorf("--out %s: got exit %d, want 3 and why\n%s", out, o.status, o.stderr)
		}
	}
	if len(r.launched()) != 0 {
		t.Error("an entry was run although its results could not be kept")
	}
}

func TestResultsAreWrittenAfterEveryEntry(t *testing.T) {
	r := newRig(t)
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml}, {name: beta, recipe: b.yaml}]\n")
	r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
	r.recipe("a.yaml", "c")
	r.recipe("b.yaml", "c")
	r.leaves("a.yaml", 0, cell("c", nil))
	r.leaves("b.yaml", 0, cell("c", nil))
	r.write(".fake/b.yaml.sh", `cp nightly-results.json "$FAKE/meanwhile.json"`)
	r.run("--gpus", "1").want(t, 0, map[string]string{"alpha::c": "record", "beta::c": "record"})
	text, err := os.ReadFile(filepath.Join(r.fake, "meanwhile.json"))
	if err != nil {
		t.Fatal(err)
	}
	var meanwhile Results
	if err := json.Unmarshal(text, &meanwhile); err != nil {
		t.Fatal(err)
	}
	if len(meanwhile.Entries) != 1 || meanwhile.Complete {
		t.Errorf("while beta ran: got %d rows, complete %v, want alpha's and not complete", len(meanwhile.Entries), meanwhile.Complete)
	}
}

func TestCancelledNight(t *testing.T) {
	r := newRig(t)
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml}, {name: beta, recipe: b.yaml}, {name: gamma, recipe: a.yaml}]\n")
	r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
	r.recipe("a.yaml", "c")
	r.recipe("b.yaml", "c")
	r.leaves("a.yaml", 0, cell("c", nil))
	r.write(".fake/b.yaml.sh", `echo $$ > "$FAKE/pid"; sleep 60 & echo $! > "$FAKE/child"; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(r.fake, "child")); err == nil {
				cancel()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	o := r.runContext(ctx, "--gpus", "1")
	o.want(t, 4, map[string]string{"alpha::c": "record", "beta": "no_verdict: cancelled after", "gamma": "no_verdict: not run: the night was cancelled"})
	gone(t, r.fake, "pid")
	gone(t, r.fake, "child")
}

func TestABugLosesOneEntry(t *testing.T) {
	r := one(t, "", gate)
	s := &step.Step{}
	n := &night{Step: s, matrix: &matrix.File{}, workDir: r.root}
	s.Proc = step.Proc{Stderr: &lockedBuffer{}, Getenv: func(string) string { return "" }, Dir: r.root}
	// No template: its first word is not there, which no check expects.
	rows := n.entry(t.Context(), &matrix.Entry{Name: "alpha", Recipe: "a.yaml", Timeout: time.Minute})
	if len(rows) != 1 || rows[0].Verdict != baseline.Fail || *rows[0].Error != errInternal {
		t.Errorf("got %+v, want one failed row", rows)
	}
}

func TestNewestMatrixJSON(t *testing.T) {
	r := one(t, "", gate)
	r.write(".fake/a.yaml.0.json", `{"cells": [{"name": "c", "passed_count": 1, "metrics_summary": {"median_tpot_ms": {"mean": 9}, "p99_itl_ms": {"mean": 9}}}]}`)
	r.write(".fake/a.yaml.1.json", `{"cells": [{"name": "c", "passed_count": 1, "metrics_summary": {"median_tpot_ms": {"mean": 1.9}, "p99_itl_ms": {"mean": 30}}}]}`)
	// The first in name was written last, so it is the newest; the second is made older.
	r.write(".fake/a.yaml.sh", `touch -d "2020-01-01" "$out/_no_ticket_/w/0/matrix.json"`)
	r.run("--gpus", "8").want(t, 0, map[string]string{"alpha::c": "pass"})
}

func TestRecordOnlyReadsNoBaselines(t *testing.T) {
	r := one(t, "", gate)
	r.leaves("a.yaml", 0, tpot(9.9, 99))
	o := r.run("--gpus", "8", "--record-only")
	o.want(t, 0, map[string]string{"alpha::c": "record: no baseline (record-only)"})
}

func TestOneEntryOfMany(t *testing.T) {
	r := newRig(t)
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml}, {name: beta, recipe: b.yaml}]\n")
	r.write("config/ci/regression_baselines.yaml", "baselines: {alpha::c: {}, gone::c: {}}\n")
	r.recipe("a.yaml", "c")
	r.recipe("b.yaml", "c")
	r.leaves("b.yaml", 0, cell("c", nil))
	o := r.run("--gpus", "8", "--entry", "beta")
	o.want(t, 0, map[string]string{"beta::c": "record"})
	if !strings.Contains(o.stderr, "gone::c: the matrix has no such entry, so this key guards nothing") || strings.Contains(o.stderr, "alpha::c") {
		t.Errorf("got %q, want a warning for the orphaned key alone", o.stderr)
	}
}
