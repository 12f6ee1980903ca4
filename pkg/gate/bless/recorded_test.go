package bless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// better lists the recorded cases that end otherwise here, how, and why. All others end as recorded.
var better = map[string]struct {
	// refused is what the refusal says where a reason is missing; with one the case ends as stated.
	refused string
	// args are added to the case's own.
	args []string
	exit int
	// baselines is the file's contents, "" for the recorded ones.
	baselines string
	says      string
	why       string
}{
	"r05": {refused: "logits_checksum changed from old to fresh", why: "another checksum is blessed with a reason only"},
	"r06": {refused: "logits_checksum changed from old to fresh", why: "another checksum is blessed with a reason only"},
	"r07": {refused: "median_tpot_ms loosened from 0.001 to 2.425 (+242400.0 %)", args: []string{"--reason", "accept-regression: the old bounds were placeholders"}, why: "a bound is loosened with a reason only"},
	"r15": {
		baselines: `{"alpha::c": {"passed": true, "step_time_ms": {"max": 1375}, "metrics": {"median_tpot_ms": {"policy": "max", "value": 2.425}, "median_ttft_ms": {"policy": "max", "value": 57.875}, "output_throughput": {"policy": "min", "value": 3007.3}, "p99_itl_ms": {"policy": "max", "value": 26.75, "required": false}}}}`,
		why:       "the other keys of a bound stay",
	},
	"r16": {exit: 2, says: `the matrix has no entry named "alhpa"`, why: "bad usage, as everywhere"},
	"r18": {exit: 2, says: "the value is empty", why: "bad usage, as everywhere"},
	"r20": {exit: 2, says: "it says what to derive, and without --perf-gate nothing is", why: "bad usage, as everywhere"},
	"r21": {exit: 2, says: "it says what to derive, and without --perf-gate nothing is", why: "bad usage, as everywhere"},
	"r29": {exit: 4, why: "nothing can be concluded from a run that is not whole"},
	"r30": {baselines: `{"alpha::c": {"passed": false}}`, says: "failed, as its baseline expects; its key is kept", why: "an expected failure that fails is whole"},
	"r31": {says: "was an expected failure and passes now", why: "the rewrite is told"},
	"r35": {
		baselines: `{"gone::c": {"passed": true, "metrics": {"median_tpot_ms": {"policy": "max", "value": 2.4}}}, "alpha::c": {"passed": true}}`,
		says:      "gone::c: the matrix has no such entry, so its key guards nothing; it is kept until --prune", why: "no gate vanishes without being asked for",
	},
	"r36": {
		baselines: `{"alpha::old-cell": {"passed": true, "metrics": {"median_tpot_ms": {"policy": "max", "value": 2.4}}}, "alpha::c": {"passed": true}}`,
		says:      "alpha::old-cell: the recipe has no such cell, so its key guards nothing", why: "a renamed cell does not lose its gate without a word",
	},
	"r38": {baselines: `{"alpha::c": {"passed": true, "step_time_ms": {"max": 125}}}`, says: "p99_itl_ms measured 0 ms, which is about zero", why: "near zero is decided by value, not by name"},
	"r40": {baselines: `{"alpha::c": {"passed": true}}`, says: "no step time was measured", why: "0.0 of source missing is no observation"},
	"r42": {exit: 2, says: "--step-time-margin: must lie between 0 and 10", why: "margins are range-checked"},
	"r45": {baselines: `{"alpha::c": {"passed": true, "step_time_ms": {"max": 1462}, "metrics": {"median_tpot_ms": {"policy": "max", "value": 2.4}}}}`, why: "what is carried over is read from the committed file"},
	"r48": {refused: "median_tpot_ms loosened from 2 to 5 (+150.0 %)", args: []string{"--reason", "accept-regression: ROCm 10"}, why: "a bound is loosened with a reason only, and by how much is told"},
	"r49": {refused: "logits_checksum changed from 7 to 8", why: "another checksum is blessed with a reason only"},
	"r50": {exit: 2, says: "the matrix has no entries", why: "all gates would vanish"},
}

func TestRecordedRefreshes(t *testing.T) {
	cases := refreshCases(t)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			other, isBetter := better[c.ID]
			if c.Quirk != "" && !isBetter {
				t.Fatalf("quirk %q is not in the table of better behaviour", c.Quirk)
			}
			r, args := c.rig(t)
			before := r.read(c.out())
			if other.refused != "" {
				r.run(args...).want(t, 1, other.refused, "there is no reason for it")
				if got := r.read(c.out()); got != before {
					t.Errorf("a refused refresh wrote %q", got)
				}
				if len(other.args) == 0 {
					other.args = []string{"--reason", "kernels were replaced"}
				}
			}
			os.Remove(filepath.Join(r.root, ".fake", "launched"))
			a := r.run(append(args, other.args...)...)
			want := c.Expect.Exit
			if isBetter {
				want = other.exit
			}
			a.want(t, want, other.says)
			c.compare(t, r, a, before, other.baselines)
		})
	}
	for id := range better {
		if !slices.ContainsFunc(cases, func(c refreshCase) bool { return c.ID == id }) {
			t.Errorf("there is no case %s", id)
		}
	}
}

func (c refreshCase) compare(t *testing.T, r *rig, a answer, before, wanted string) {
	t.Helper()
	if d := cmp.Diff(c.Expect.Launched, launched(r), cmpopts.EquateEmpty()); d != "" && a.status != 2 {
		t.Errorf("launched (-want +got):\n%s", d)
	}
	if a.status != 0 {
		if got := r.read(c.out()); got != before {
			t.Errorf("a refused refresh wrote %q", got)
		}
		var incomplete []string
		for _, key := range c.Expect.Incomplete {
			incomplete = append(incomplete, strings.Fields(key)[0])
		}
		var got []string
		for _, e := range a.doc.Errors {
			got = append(got, e.Field)
		}
		if d := cmp.Diff(incomplete, got, cmpopts.EquateEmpty()); d != "" && incomplete != nil {
			t.Errorf("incomplete (-want +got):\n%s", d)
		}
		return
	}
	want := map[string]any{}
	if wanted == "" {
		want = c.Expect.Baselines
	} else if err := json.Unmarshal([]byte(wanted), &want); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version   int            `json:"version"`
		Baselines map[string]any `json:"baselines"`
	}
	if _, err := strict.YAML("b.yaml", []byte(r.read(c.out())), &file); err != nil {
		t.Fatal(err)
	}
	bare(file.Baselines)
	if d := cmp.Diff(want, file.Baselines); d != "" || file.Version != 1 {
		t.Errorf("version %d, baselines (-want +got):\n%s", file.Version, d)
	}
	kept := 0
	for _, n := range a.doc.Notes {
		if strings.Contains(n.Text, "did not run here, and its") {
			kept++
		}
	}
	if kept != c.Expect.CarriedNotes {
		t.Errorf("got %d notes of what is carried over, want %d", kept, c.Expect.CarriedNotes)
	}
}

// bare takes out what the reference does not have: where a bound comes from, and why one was given up.
func bare(v any) {
	m, _ := v.(map[string]any)
	delete(m, "provenance")
	delete(m, "reason")
	for _, sub := range m {
		bare(sub)
	}
}

func launched(r *rig) []string {
	var all []string
	for line := range strings.Lines(r.read(".fake/launched")) {
		all = append(all, strings.Fields(line)[3])
	}
	return all
}

type refreshCase struct {
	ID, Title, Quirk string
	Input            struct {
		Matrix    map[string]any
		Behaviour map[string]struct {
			MatrixJSON []map[string]any `json:"matrix_json"`
			Sleep      float64
			Exit       int
		}
		Baselines map[string]any
		Flags     []string
	}
	Expect struct {
		Exit         int
		Launched     []string `json:"launched_recipes"`
		Incomplete   []string
		Baselines    map[string]any
		CarriedNotes int `json:"carried_notes"`
	}
}

func refreshCases(t *testing.T) []refreshCase {
	t.Helper()
	text, err := os.ReadFile("testdata/refresh.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []refreshCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 26 {
		t.Fatalf("got %d cases, want 26", len(file.Cases))
	}
	return file.Cases
}

// out is the file that the case writes.
func (c refreshCase) out() string {
	if slices.Contains(c.Input.Flags, "--out") {
		return "elsewhere.yaml"
	}
	return baselinesPath
}

func (c refreshCase) rig(t *testing.T) (*rig, []string) {
	t.Helper()
	r := newRig(t, Refresh)
	r.write(matrixPath, document(t, c.Input.Matrix))
	if c.Input.Baselines != nil {
		r.write(baselinesPath, document(t, map[string]any{"version": 1, "baselines": c.Input.Baselines}))
	}
	for name, b := range c.Input.Behaviour {
		cells := []string{}
		for i, m := range b.MatrixJSON {
			text, isText := m["text"].(string)
			if !isText {
				text = document(t, m)
				for _, cell := range m["cells"].([]any) {
					cells = append(cells, cell.(map[string]any)["name"].(string))
				}
			}
			r.write(".fake/"+name+"."+strconv.Itoa(i)+".json", text)
		}
		if len(cells) == 0 {
			cells = []string{"c"}
		}
		r.recipe(name, cells...)
		if b.Sleep > 0 {
			r.write(".fake/"+name+".sleep", strconv.FormatFloat(b.Sleep, 'f', -1, 64))
		}
		if b.Exit > 0 {
			r.write(".fake/"+name+".exit", strconv.Itoa(b.Exit))
		}
	}
	args := []string{"--from", "run", "--gpus", "8"}
	for _, f := range c.Input.Flags {
		args = append(args, strings.ReplaceAll(f, "<repo>/", ""))
	}
	return r, args
}
