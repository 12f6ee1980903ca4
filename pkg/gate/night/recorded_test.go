package night

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// better lists the recorded cases that end otherwise here, how, and why. All other cases give the
// recorded rows.
var better = map[string]struct {
	exit int
	rows map[string]string // nil: the recorded rows
	why  string
}{
	"e07": {exit: 4, why: "nothing was measured, so nothing regressed: zero work is no verdict"},
	"e08": {exit: 4, why: "nothing was measured, so nothing regressed: zero work is no verdict"},
	"e18": {exit: 4, why: "as e07, and the reason names the capability that was missing"},
	"e19": {exit: 2, rows: map[string]string{"_nightly_eval": "fail: "}, why: "an absent baselines file is an error unless --record-only"},
	"e21": {exit: 2, rows: map[string]string{"_nightly_eval": "fail: "}, why: "a null baseline guards nothing"},
	"e25": {exit: 1, rows: map[string]string{"alpha": "fail: unreadable matrix.json", "beta::c": "record"}, why: "one bad matrix.json fails its own entry"},
	"e26": {exit: 1, rows: map[string]string{"alpha::c": "fail: metric 'median_tpot_ms' is 'fast', not a number", "beta::c": "record"}, why: "one bad metric fails its own cell"},
}

func TestRecordedEval(t *testing.T) {
	for _, c := range evalCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			other, isBetter := better[c.ID]
			if c.Quirk != "" && !isBetter {
				t.Fatalf("quirk %q is not in the table of better behaviour", c.Quirk)
			}
			r := c.rig(t)
			args := []string{"--docker-socket", "--gpus", strconv.Itoa(c.gpus())}
			o := r.run(args...)
			if c.ID == "e19" {
				if again := r.run(append(args, "--record-only")...); again.status != 0 {
					t.Errorf("--record-only: got exit %d, want 0", again.status)
				}
			}
			want := c.Expect.Exit
			if isBetter {
				want = other.exit
			}
			if other.rows != nil {
				o.want(t, want, other.rows)
				return
			}
			if o.status != want {
				t.Errorf("got exit %d, want %d\n%s", o.status, want, o.stderr)
			}
			c.compare(t, r, o)
		})
	}
}

// compare holds the results file to the recorded one: more keys are ours to add, none may be missing.
func (c evalCase) compare(t *testing.T, r *rig, o outcome) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.root, "nightly-results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range c.Expect.TopKeys {
		if _, ok := got[key]; !ok {
			t.Errorf("the results lack %s", key)
		}
	}
	for key, want := range c.Expect.Summary {
		if n := got["summary"].(map[string]any)[key]; n != want {
			t.Errorf("summary %s: got %v, want %v", key, n, want)
		}
	}
	rows := got["entries"].([]any)
	if len(rows) != len(c.Expect.Entries) {
		t.Fatalf("got %d rows, want %d: %v", len(rows), len(c.Expect.Entries), o.rows())
	}
	for i, want := range c.Expect.Entries {
		row := rows[i].(map[string]any)
		for _, key := range want.Keys {
			if _, ok := row[key]; !ok {
				t.Errorf("row %d lacks %s", i, key)
			}
		}
		var reasons []map[string]any
		for _, reason := range row["reasons"].([]any) {
			reasons = append(reasons, tagged(reason.(string)))
		}
		summary, _ := row["metrics"].(map[string]any)["summary"].(map[string]any)
		have := evalRow{
			Entry: row["entry"].(string), Cell: row["cell"], Verdict: row["verdict"].(string), Error: row["error"],
			Reasons: reasons, Deltas: row["deltas"].(map[string]any), Metrics: summary, Keys: want.Keys,
		}
		if d := cmp.Diff(want, have, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("row %d, reasons %v (-want +got):\n%s", i, row["reasons"], d)
		}
	}
	// A broken bound is measured once more, so an entry may be launched twice.
	if d := cmp.Diff(c.Expect.Launched, slices.CompactFunc(r.launched(), slices.Equal), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("launched (-want +got):\n%s", d)
	}
}

type evalCase struct {
	ID, Title, Quirk string
	Input            struct {
		Matrix    map[string]any
		Behaviour map[string]struct {
			MatrixJSON []map[string]any `json:"matrix_json"`
			Sleep      float64
		}
		Baselines map[string]any
		GPUs      *int
	}
	Expect struct {
		Exit     int
		Launched [][]string
		Summary  map[string]any
		Entries  []evalRow
		TopKeys  []string `json:"top_keys"`
		Crash    string
	}
}

type evalRow struct {
	Entry   string
	Cell    any
	Verdict string
	Error   any
	Reasons []map[string]any
	Deltas  map[string]any
	Metrics map[string]any `json:"metrics_summary"`
	Keys    []string
}

func evalCases(t *testing.T) []evalCase {
	t.Helper()
	text, err := os.ReadFile("testdata/eval.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []evalCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 19 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	return file.Cases
}

func (c evalCase) gpus() int {
	if c.Input.GPUs == nil {
		return 8
	}
	return *c.Input.GPUs
}

// rig lays the case out: recipes with the cells that the sweep will leave, and the sweep's behaviour.
func (c evalCase) rig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.env["PATH"] = filepath.Join(r.root, ".bin") + ":/bin:/usr/bin"
	hideDocker(t, r)
	document := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	r.write("config/ci/nightly_eval_matrix.yaml", document(c.Input.Matrix))
	if c.Input.Baselines != nil {
		r.write("config/ci/regression_baselines.yaml", document(map[string]any{"version": 1, "baselines": c.Input.Baselines}))
	} else if c.ID != "e19" {
		// The other cases without baselines are about something else.
		r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
	}
	for name, b := range c.Input.Behaviour {
		cells := []string{}
		for i, m := range b.MatrixJSON {
			text, isText := m["text"].(string)
			if !isText {
				text = document(m)
				for _, cell := range m["cells"].([]any) {
					cells = append(cells, cell.(map[string]any)["name"].(string))
				}
			}
			r.write(fmt.Sprintf(".fake/%s.%d.json", name, i), text)
		}
		if len(cells) == 0 {
			cells = []string{"c"}
		}
		r.recipe(name, cells...)
		if b.Sleep > 0 {
			r.write(fmt.Sprintf(".fake/%s.sleep", name), strconv.FormatFloat(b.Sleep, 'f', -1, 64))
		}
	}
	return r
}

// hideDocker takes docker off the PATH of a machine that has it, and leaves the shell its tools.
func hideDocker(t *testing.T, r *rig) {
	t.Helper()
	bin := filepath.Join(r.root, ".bin")
	for _, tool := range []string{"sh", "cat", "cp", "mkdir", "sleep", "echo", "git", "setsid", "env", "touch", "ln", "kill"} {
		for _, dir := range []string{"/usr/bin", "/bin"} {
			if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
				os.Symlink(filepath.Join(dir, tool), filepath.Join(bin, tool))
			}
		}
	}
	r.env["PATH"] = bin
}

// tagged reads a reason back into the recorded tag and its figures.
func tagged(reason string) map[string]any {
	for _, form := range []struct {
		tag, pattern string
		fields       []string
	}{
		{"no_baseline", `^no baseline \(record-only\)$`, nil},
		{"needs_gpus", `^needs (\d+) GPU\(s\), have (\d+)$`, []string{"#need", "#have"}},
		{"needs_docker_daemon", `^needs a docker daemon: (.*)$`, []string{"detail"}},
		{"timed_out", `^timed out \((\d+)s\)$`, []string{"#timeout_sec"}},
		{"no_cells", `^matrix.json produced no cells$`, nil},
		{"unreadable_matrix_json", `^unreadable matrix.json: `, nil},
		{"zero_work", `^no entry ran`, nil},
		{"step_time_above_max", `^mean_step_time_ms (\S+) > max (\S+)$`, []string{"#observed", "#bound"}},
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
	panic("no form for " + reason)
}
