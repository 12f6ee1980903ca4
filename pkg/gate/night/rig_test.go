package night

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// rig is a repository in which a night runs through the real door, with a shell script for the sweep.
type rig struct {
	t    *testing.T
	root string
	fake string
	env  map[string]string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	root := t.TempDir()
	r := &rig{t: t, root: root, fake: filepath.Join(root, ".fake"), env: map[string]string{}}
	bin := filepath.Join(root, ".bin")
	script, err := os.ReadFile("testdata/aorta")
	if err != nil {
		t.Fatal(err)
	}
	r.write(".bin/aorta", string(script))
	if err := os.Chmod(filepath.Join(bin, "aorta"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(r.fake, 0o755); err != nil {
		t.Fatal(err)
	}
	r.env["PATH"] = bin + ":/usr/bin:/bin"
	r.env["FAKE"] = r.fake
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

// recipe writes a recipe of another workload than serving, with these cells.
func (r *rig) recipe(name string, cells ...string) {
	r.t.Helper()
	text := "schema_version: 1\nworkload: gemm\ntrials: 1\nsteps: 1\ncells:\n"
	for _, c := range cells {
		text += fmt.Sprintf("  - {name: %s, mitigations: [none], environment: local}\n", c)
	}
	r.write(name, text)
}

// outcome is what a night left.
type outcome struct {
	status         int
	stdout, stderr string
	results        *Results // nil where no file was written
}

func (r *rig) run(args ...string) outcome { return r.runContext(context.Background(), args...) }

func (r *rig) runContext(ctx context.Context, args ...string) outcome {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	env := []string{}
	for k, v := range r.env {
		env = append(env, k+"="+v)
	}
	status := Run(ctx, step.Proc{
		Args: args, Getenv: func(k string) string { return r.env[k] }, Environ: env, Stdin: strings.NewReader(""),
		Stdout: &stdout, Stderr: &stderr, Dir: r.root, Now: time.Now,
	})
	o := outcome{status: status, stdout: stdout.String(), stderr: stderr.String()}
	text, err := os.ReadFile(filepath.Join(r.root, "nightly-results.json"))
	if err == nil {
		o.results = new(Results)
		if err := json.Unmarshal(text, o.results); err != nil {
			r.t.Fatalf("the results file is no JSON: %v\n%s", err, text)
		}
	}
	if !json.Valid(stdout.Bytes()) {
		r.t.Errorf("stdout is not one JSON document: %q", stdout.String())
	}
	if r.t.Failed() {
		r.t.Logf("stderr:\n%s", stderr.String())
	}
	return o
}

// launched are the sweep's command lines, the output folder as <out>.
func (r *rig) launched() [][]string {
	text, _ := os.ReadFile(filepath.Join(r.fake, "launched"))
	var all [][]string
	for line := range strings.Lines(string(text)) {
		args := strings.Fields(line)
		if i := slices.Index(args, "--output-dir"); i >= 0 {
			args[i+1] = "<out>"
		}
		all = append(all, args)
	}
	return all
}

// rows are the results' rows by key, as "verdict: reasons".
func (o outcome) rows() map[string]string {
	rows := map[string]string{}
	if o.results == nil {
		return rows
	}
	for _, r := range o.results.Entries {
		rows[r.Key()] = strings.TrimSuffix(string(r.Verdict)+": "+strings.Join(r.Reasons, "; "), ": ")
	}
	return rows
}

// want holds the outcome to an exit status and to rows, each by a part of its text.
func (o outcome) want(t *testing.T, status int, rows map[string]string) {
	t.Helper()
	if o.status != status {
		t.Errorf("got exit %d, want %d\n%s", o.status, status, o.stderr)
	}
	got := o.rows()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(rows))) {
		t.Errorf("got rows %v, want %v", got, rows)
	}
	for key, text := range rows {
		if !strings.HasPrefix(got[key], strings.SplitN(text, ":", 2)[0]) || !strings.Contains(got[key], text) {
			t.Errorf("%s: got %q, want %q", key, got[key], text)
		}
	}
}

// cell is a passing cell of a matrix.json.
func cell(name string, metrics map[string]any) map[string]any {
	summary := map[string]any{}
	for k, v := range metrics {
		summary[k] = map[string]any{"mean": v}
	}
	return map[string]any{"name": name, "passed_count": 1, "mean_step_time_ms": 100.0, "step_time_source": "per_step", "metrics_summary": summary}
}

// leaves makes the sweep leave a matrix.json with these cells, in run N of the recipe or (0) in each.
func (r *rig) leaves(recipe string, run int, cells ...map[string]any) {
	r.t.Helper()
	text, err := json.Marshal(map[string]any{"cells": cells})
	if err != nil {
		r.t.Fatal(err)
	}
	name := recipe + ".0.json"
	if run > 0 {
		name = fmt.Sprintf("%s.run-%d/0.json", recipe, run)
	}
	r.write(filepath.Join(".fake", name), string(text))
}

// one is a repository of one entry "alpha" with one cell "c".
func one(t *testing.T, entry, baselines string) *rig {
	t.Helper()
	r := newRig(t)
	r.recipe("a.yaml", "c")
	r.write("config/ci/nightly_eval_matrix.yaml", "version: 1\nentries:\n  - {name: alpha, recipe: a.yaml"+entry+"}\n")
	r.write("config/ci/regression_baselines.yaml", "version: 1\nbaselines: {"+baselines+"}\n")
	return r
}
