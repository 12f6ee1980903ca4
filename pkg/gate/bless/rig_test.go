package bless

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

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

const (
	matrixPath    = "config/ci/nightly_eval_matrix.yaml"
	baselinesPath = "config/ci/regression_baselines.yaml"
)

// rig is a repository in which a door of this package runs.
type rig struct {
	t    *testing.T
	root string
	env  map[string]string
	door func(context.Context, step.Proc) int
}

func newRig(t *testing.T, door func(context.Context, step.Proc) int) *rig {
	t.Helper()
	root := t.TempDir()
	r := &rig{t: t, root: root, door: door, env: map[string]string{"FAKE": filepath.Join(root, ".fake")}}
	script, err := os.ReadFile("../night/testdata/aorta")
	if err != nil {
		t.Fatal(err)
	}
	r.write(".bin/aorta", string(script))
	r.write(".fake/none", "")
	if err := os.Chmod(filepath.Join(root, ".bin/aorta"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.env["PATH"] = filepath.Join(root, ".bin") + ":/usr/bin:/bin"
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

// read is a file's text, "" where there is none.
func (r *rig) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.root, name))
	return string(text)
}

// recipe writes a recipe of another workload than serving, with these cells.
func (r *rig) recipe(name string, cells ...string) {
	text := "schema_version: 1\nworkload: gemm\ntrials: 1\nsteps: 1\ncells:\n"
	for _, c := range cells {
		text += fmt.Sprintf("  - {name: %s, mitigations: [none], environment: local}\n", c)
	}
	r.write(name, text)
}

// leaves makes the sweep of a recipe leave a matrix.json with one passing cell "c".
func (r *rig) leaves(recipe string, metrics map[string]any) {
	summary := map[string]any{}
	for k, v := range metrics {
		summary[k] = map[string]any{"mean": v}
	}
	r.write(".fake/"+recipe+".0.json", document(r.t, map[string]any{"cells": []any{map[string]any{
		"name": "c", "passed_count": 1, "mean_step_time_ms": 100.0, "step_time_source": "per_step", "metrics_summary": summary,
	}}}))
}

func document(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer is what a door left.
type answer struct {
	status int
	doc    struct {
		OK          bool
		Changed     bool
		Counts      map[string]int
		Changes     []change
		Notes       []note
		PullRequest string `json:"pull_request"`
		Errors      []struct {
			Path, Field, Message, Hint, Rule string
			Line, Col                        int
		}
	}
	stderr string
}

func (r *rig) run(args ...string) answer {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	env := []string{}
	for k, v := range r.env {
		env = append(env, k+"="+v)
	}
	a := answer{}
	a.status = r.door(context.Background(), step.Proc{
		Args: args, Getenv: func(k string) string { return r.env[k] }, Environ: env, Stdin: strings.NewReader(""),
		Stdout: &stdout, Stderr: &stderr, Dir: r.root, Now: time.Now,
	})
	a.stderr = stderr.String()
	if err := json.Unmarshal(stdout.Bytes(), &a.doc); err != nil {
		r.t.Errorf("stdout is not one JSON document: %v: %q", err, stdout.String())
	}
	return a
}

// want holds an answer to an exit status and to texts that people were told.
func (a answer) want(t *testing.T, status int, says ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("got exit %d, want %d\n%s", a.status, status, a.stderr)
	}
	for _, text := range says {
		if !strings.Contains(a.stderr, text) {
			t.Errorf("stderr lacks %q:\n%s", text, a.stderr)
		}
	}
}
