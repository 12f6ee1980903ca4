package step

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/google/go-cmp/cmp"
)

// run runs a door with arguments and an environment, and gives back what it wrote.
func run(t *testing.T, d *Door, args []string, env map[string]string, do func(context.Context, *Step) int) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := Proc{
		Args:   args,
		Getenv: func(name string) string { return env[name] },
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &errs,
		Dir:    t.TempDir(),
		Now:    time.Now,
	}
	if do == nil {
		do = func(_ context.Context, s *Step) int { return s.Done(nil) }
	}
	status = d.Run(t.Context(), p, do)
	return status, out.String(), errs.String()
}

func demo() *Door {
	return &Door{
		Name:    "demo",
		Summary: "shows what a door is",
		Manual:  "A paragraph.",
		Inputs: []Input{
			{Name: "manifest", Kind: Path, Default: "docs/m.json", Arg: "MANIFEST", Help: "The manifest.", Positional: true},
			{Name: "fixture-id", Kind: List, Arg: "ID", Help: "A fixture.", Positional: true},
			{Name: "headroom", Kind: Float, Default: "0.10", Help: "Headroom."},
			{Name: "count", Kind: Int, Help: "A count."},
			{Name: "timeout", Kind: Duration, Help: "A limit."},
			{Name: "mode", Kind: Choice, Choices: []string{"run", "reap"}, Default: "run", Help: "What to do."},
			{Name: "check", Kind: Bool, Help: "Only check."},
		},
		Outputs: []Output{{Name: "result", Help: "The result."}},
	}
}

func TestInputs(t *testing.T) {
	type want struct {
		Manifest string
		IDs      []string
		Headroom float64
		Count    int
		Timeout  time.Duration
		Mode     string
		Check    bool
	}
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want want
	}{
		{"defaults", nil, nil, want{Manifest: "docs/m.json", Headroom: 0.10, Mode: "run"}},
		{"flags", []string{"--manifest", "a", "--fixture-id=x", "--fixture-id", "y", "--headroom", "2.5e-1", "--count", "-3", "--timeout", "90s", "--mode", "reap", "--check"}, nil,
			want{"a", []string{"x", "y"}, 0.25, -3, 90 * time.Second, "reap", true}},
		{"flags after positionals", []string{"a", "x", "--check", "y"}, nil,
			want{Manifest: "a", IDs: []string{"x", "y"}, Headroom: 0.10, Mode: "run", Check: true}},
		{"variables", nil, map[string]string{"INPUT_MANIFEST": "e", "INPUT_FIXTURE_ID": " x \n\ny\n", "INPUT_CHECK": "true", "INPUT_COUNT": "7"},
			want{Manifest: "e", IDs: []string{"x", "y"}, Headroom: 0.10, Count: 7, Mode: "run", Check: true}},
		{"an empty variable is unset", nil, map[string]string{"INPUT_MANIFEST": "", "INPUT_CHECK": ""},
			want{Manifest: "docs/m.json", Headroom: 0.10, Mode: "run"}},
		{"a flag beats a variable", []string{"--check=false", "--mode", "run"}, map[string]string{"INPUT_CHECK": "true", "INPUT_MODE": "reap"},
			want{Manifest: "docs/m.json", Headroom: 0.10, Mode: "run"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got want
			status, _, stderr := run(t, demo(), tt.args, tt.env, func(_ context.Context, s *Step) int {
				in := s.In
				got = want{in.String("manifest"), in.List("fixture-id"), in.Float("headroom"), in.Int("count"),
					in.Duration("timeout"), in.String("mode"), in.Bool("check")}
				return s.Done(nil)
			})
			if status != OK {
				t.Fatalf("got status %d, want %d\n%s", status, OK, stderr)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("inputs (-want +got):\n%s", d)
			}
		})
	}
}

func TestBadInputs(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		env    map[string]string
		fields []string // of the errors, in order
	}{
		{"unknown flag", []string{"--nope"}, nil, []string{""}},
		{"flag without its value", []string{"--count"}, nil, []string{""}},
		{"too many positionals are refused only without a list", []string{"a", "b", "c"}, nil, nil},
		{"odd numbers", []string{"--count", "010", "--headroom", "0x1p-2"}, nil, []string{"--headroom", "--count"}},
		{"more odd numbers", []string{"--count", "1_000", "--headroom", "nan"}, nil, []string{"--headroom", "--count"}},
		{"infinite", []string{"--headroom", "1e999"}, nil, []string{"--headroom"}},
		{"duration without unit", []string{"--timeout", "90"}, nil, []string{"--timeout"}},
		{"negative duration", []string{"--timeout", "-1s"}, nil, []string{"--timeout"}},
		{"bool spelt otherwise", nil, map[string]string{"INPUT_CHECK": "yes"}, []string{"INPUT_CHECK"}},
		{"choice", []string{"--mode", "Reap"}, nil, []string{"--mode"}},
		{"empty value", []string{"--manifest", ""}, nil, []string{"--manifest"}},
		{"given twice", []string{"--mode", "run", "--mode", "reap"}, nil, []string{"--mode"}},
		{"positional and flag", []string{"a", "--manifest", "b"}, nil, []string{"--manifest"}},
		{"NUL in a path", []string{"a\x00b"}, nil, []string{"--manifest"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := run(t, demo(), tt.args, tt.env, nil)
			var doc struct {
				OK     bool
				Errors strict.Problems
			}
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
				t.Fatalf("stdout is not one JSON document: %v\n%s", err, stdout)
			}
			var fields []string
			for _, p := range doc.Errors {
				fields = append(fields, p.Field)
			}
			if d := cmp.Diff(tt.fields, fields); d != "" {
				t.Errorf("fields in error (-want +got):\n%s\n%s", d, stderr)
			}
			wantStatus := Usage
			if tt.fields == nil {
				wantStatus = OK
			}
			if status != wantStatus || doc.OK != (wantStatus == OK) {
				t.Errorf("got status %d and ok %v, want %d", status, doc.OK, wantStatus)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	d := &Door{Name: "demo", Inputs: []Input{{Name: "recipe", Kind: Path, Required: true, Arg: "R", Help: "The recipe."}}}
	status, stdout, stderr := run(t, d, nil, nil, nil)
	if status != Usage || !strings.Contains(stdout, `"field":"--recipe"`) {
		t.Errorf("got status %d and %s, want %d and the field", status, stdout, Usage)
	}
	if !strings.Contains(stderr, "demo: hint: give --recipe R, or set INPUT_RECIPE") {
		t.Errorf("stderr has no hint:\n%s", stderr)
	}
}

func TestBuiltins(t *testing.T) {
	for _, flag := range []string{"-help", "--help", "-h"} {
		status, stdout, _ := run(t, demo(), []string{flag}, nil, nil)
		if status != OK || !strings.HasPrefix(stdout, "demo: shows what a door is\n\nUsage:\n\n    demo [MANIFEST] [ID]...") {
			t.Errorf("%s: got status %d and\n%s", flag, status, stdout)
		}
	}
	if status, stdout, _ := run(t, demo(), []string{"--self-test"}, nil, nil); status != OK || stdout != "{\"ok\":true,\"self_test\":\"demo\"}\n" {
		t.Errorf("--self-test: got status %d and %s", status, stdout)
	}
	if status, stdout, _ := run(t, demo(), []string{"--version"}, nil, nil); status != OK || !strings.HasPrefix(stdout, "demo ") {
		t.Errorf("--version: got status %d and %s", status, stdout)
	}
	var doc description
	_, stdout, _ := run(t, demo(), []string{"--describe"}, nil, nil)
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Inputs) != 7 || doc.Inputs[1].Env != "INPUT_FIXTURE_ID" {
		t.Errorf("--describe: %v\n%s", err, stdout)
	}
}

func TestSelfTestFails(t *testing.T) {
	d := demo()
	d.SelfTest = func(context.Context, *Step) error { return os.ErrInvalid }
	status, stdout, _ := run(t, d, []string{"--self-test"}, nil, nil)
	if status != Negative || !strings.Contains(stdout, `"ok":false`) || !strings.Contains(stdout, "self-test: invalid argument") {
		t.Errorf("got status %d and %s", status, stdout)
	}
}

func TestPanicIsNotAVerdict(t *testing.T) {
	status, stdout, stderr := run(t, demo(), nil, nil, func(context.Context, *Step) int { panic("boom") })
	if status != CouldNotRun || !strings.Contains(stdout, `"ok":false`) || !strings.Contains(stderr, "step_test.go") {
		t.Errorf("got status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
}

func TestFinish(t *testing.T) {
	type doc struct {
		B string   `json:"b"`
		A []string `json:"a"`
	}
	tests := []struct {
		status   int
		doc      any
		problems []strict.Problem
		want     string
	}{
		{OK, nil, nil, `{"ok":true}`},
		{OK, doc{"<&>", nil}, nil, `{"ok":true,"b":"<&>","a":null}`},
		{OK, map[string]int{}, nil, `{"ok":true}`},
		{Negative, doc{B: "x"}, []strict.Problem{{Path: "f", Line: 1, Col: 2, Field: "x", Message: "bad", Rule: "r"}},
			`{"ok":false,"errors":[{"path":"f","line":1,"col":2,"field":"x","message":"bad","rule":"r"}],"b":"x","a":null}`},
		{NoVerdict, nil, nil, `{"ok":false}`},
	}
	for _, tt := range tests {
		status, stdout, _ := run(t, demo(), nil, nil, func(_ context.Context, s *Step) int {
			return s.Finish(tt.status, tt.doc, tt.problems...)
		})
		if status != tt.status || stdout != tt.want+"\n" {
			t.Errorf("got %d %s, want %d %s", status, stdout, tt.status, tt.want)
		}
	}
}

func TestPathsResolve(t *testing.T) {
	run(t, demo(), nil, nil, func(_ context.Context, s *Step) int {
		if got, want := s.Path("a/../b"), filepath.Join(s.Root(), "b"); got != want {
			t.Errorf("Path: got %s, want %s", got, want)
		}
		if got, want := s.DirPath("/x/../y"), "/y"; got != want {
			t.Errorf("DirPath: got %s, want %s", got, want)
		}
		return OK
	})
}

func TestChildrenDoNotInheritInputs(t *testing.T) {
	got := childEnviron([]string{"A=1", "INPUT_WORK_DIR=/x", "INPUT_WITH-DASH=y", "B=INPUT_C=2", "GITHUB_STEP_SUMMARY=/s", "GITHUB_OUTPUT=/o", "GITHUB_RUN_ID=1"})
	if d := cmp.Diff([]string{"A=1", "B=INPUT_C=2", "GITHUB_RUN_ID=1"}, got); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}
