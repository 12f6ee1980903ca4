package cell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// bin holds serve-cell and engine-sim, built once: what is tested end to end are the programs that users run.
var bin string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "serve-cell-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+"/", "../../../cmd/serve-cell", "../../../cmd/engine-sim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the programs under test: %v\n%s", err, out)
		return 1
	}
	bin = dir
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // the tests wait for engines most of the time
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// bench is one place to run serve-cell in: a recipe, an output folder and a work root of its own.
type bench struct {
	t      *testing.T
	dir    string
	recipe string
	work   string // the work root
}

// settings are keys of a recipe's workload_config, over small ones that make a cell short.
type settings map[string]any

// newBench writes a recipe of two measured steps for the given cells, "only" when none is named. @DIR@ in a setting is the
// bench's folder.
func newBench(t *testing.T, config settings, cells ...string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.work = filepath.Join(b.dir, "work")
	b.recipe = filepath.Join(b.dir, "recipe.json")
	full := settings{
		"driver": "process", "command": []string{filepath.Join(bin, "engine-sim")}, "model": "sim",
		"num_prompts": 8, "max_concurrency": 4, "input_len": 32, "output_len": 8, "num_warmups": 0, "warmup_steps": 1,
		"ready_timeout_sec": 20, "bench_timeout_sec": 20, "teardown_grace_sec": 5,
	}
	steps := 2
	for key, v := range config {
		if key == "steps" {
			steps = v.(int)
			continue
		}
		if full[key] = v; v == nil {
			delete(full, key)
		}
	}
	if cells == nil {
		cells = []string{"only"}
	}
	var list []map[string]any
	for _, name := range cells {
		list = append(list, map[string]any{"name": name, "mitigations": []string{"none"}, "environment": "local"})
	}
	raw, err := json.Marshal(map[string]any{"schema_version": 1, "workload": "tokenspeed_serve", "trials": 1, "steps": steps,
		"workload_config": full, "cells": list})
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte("@DIR@"), []byte(b.dir))
	if err := os.WriteFile(b.recipe, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// sim are serve_args of a quick simulated engine with the given faults.
func sim(faults ...string) []string {
	args := []string{"--ttft", "50ms", "--itl", "10ms"}
	for _, f := range faults {
		args = append(args, "--fault", f)
	}
	return args
}

// command is serve-cell with the bench's recipe and folders.
func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "serve-cell"),
		append([]string{"--recipe", b.recipe, "--output-dir", filepath.Join(b.dir, "out"), "--work-dir", b.work}, args...)...)
	cmd.Dir = b.dir
	return cmd
}

// ran is a finished serve-cell.
type ran struct {
	status         int
	stdout, stderr string
	matrix         *report.Matrix // nil when none was written
}

// serve runs serve-cell to its end.
func (b *bench) serve(args ...string) ran {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	cmd := b.command(ctx, args...)
	stdout, stderr := b.start(cmd)
	return b.finish(cmd, stdout, stderr)
}

// start starts the command with its streams kept.
func (b *bench) start(cmd *exec.Cmd) (stdout, stderr *bytes.Buffer) {
	b.t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return stdout, stderr
}

func (b *bench) finish(cmd *exec.Cmd, stdout, stderr *bytes.Buffer) ran {
	b.t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	r := ran{status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		r.status = -int(ws.Signal())
	}
	paths, _ := filepath.Glob(filepath.Join(b.dir, "out/*/*/*/matrix.json"))
	if len(paths) > 0 {
		if r.matrix, err = report.Read(paths[len(paths)-1]); err != nil {
			b.t.Fatal(err)
		}
	}
	return r
}

// serveUndisturbed runs serve-cell again, a few times, while the client was the limit: other tests may load the machine. A
// run that was still disturbed is told by the second value; its numbers prove nothing.
func (b *bench) serveUndisturbed() (r ran, disturbed bool) {
	b.t.Helper()
	for range 3 {
		r = b.serve()
		if c := r.cell(b.t, "only"); !slices.ContainsFunc(c.Tags, func(t report.Tag) bool { return t.Name == loadgen.TagClientLimited }) {
			return r, false
		}
	}
	b.t.Logf("the machine was too loaded in three runs; stderr of the last:\n%s", r.stderr)
	return r, true
}

// cell is the named cell of the matrix.
func (r ran) cell(t *testing.T, name string) *report.Cell {
	t.Helper()
	if r.matrix != nil {
		for i := range r.matrix.Cells {
			if r.matrix.Cells[i].Name == name {
				return &r.matrix.Cells[i]
			}
		}
	}
	t.Fatalf("matrix.json has no cell %s; stderr:\n%s", name, r.stderr)
	return nil
}

// checkPassed holds a run to exit status 0 and its cells to a pass. On a machine that other tests load, the client may be
// the limit, and it says so: then nothing may have failed all the same, and the exit status says no verdict.
func (r ran) checkPassed(t *testing.T) {
	t.Helper()
	if r.matrix == nil {
		t.Fatalf("got no matrix.json, exit status %d; stderr:\n%s", r.status, r.stderr)
	}
	limited := false
	for i := range r.matrix.Cells {
		c := &r.matrix.Cells[i]
		ours := slices.ContainsFunc(c.NoVerdict, func(why string) bool { return strings.HasPrefix(why, loadgen.TagClientLimited) })
		limited = limited || ours
		if *c.FailedCount != 0 || (!ours && (!c.Passed() || len(c.NoVerdict) > 0)) {
			t.Errorf("cell %s: got failures %+v and no_verdict %q, want a pass; stderr:\n%s", c.Name, c.Failures, c.NoVerdict, r.stderr)
		}
	}
	if r.status != 0 && !(limited && r.status == 4) {
		t.Errorf("got exit status %d, want 0; stderr:\n%s", r.status, r.stderr)
	}
}

func hasTag(c *report.Cell, name string, step int) bool {
	for _, tag := range c.Tags {
		if tag.Name == name && tag.Step != nil && *tag.Step == step {
			return true
		}
	}
	return false
}

func hasFailure(c *report.Cell, class string) bool {
	for _, f := range c.Failures {
		if f.Class == class {
			return true
		}
	}
	return false
}
