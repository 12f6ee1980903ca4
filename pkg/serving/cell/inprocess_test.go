package cell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

func TestSelfTest(t *testing.T) {
	if err := selfTest(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// noteFunc is a progress that calls a function for each note.
type noteFunc func(format string)

func (noteFunc) Set(int64)                      {}
func (n noteFunc) Note(format string, _ ...any) { n(format) }
func (noteFunc) Done()                          {}

// measureHere runs the bench in this process.
func measureHere(ctx context.Context, t *testing.T, b *bench, note func(format string)) *Outcome {
	t.Helper()
	r, err := recipe.Load(b.recipe)
	if err != nil {
		t.Fatal(err)
	}
	done, err := Measure(ctx, Options{Recipe: r, OutDir: filepath.Join(b.dir, "out"), WorkDir: b.work, Environ: os.Environ(), Now: time.Now,
		Say: t.Logf, Progress: func(string, int64) Progress { return noteFunc(note) }})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// A fault of this program in the middle of a trial ends the engine, says so in the results, and leaves the other cells alone.
func TestPanicEndsTheEngine(t *testing.T) {
	t.Parallel()
	b := newBench(t, settings{"serve_args": sim()}, "first", "second")
	thrown := false
	done := measureHere(t.Context(), t, b, func(format string) {
		if strings.HasPrefix(format, "%s step") && !thrown {
			thrown = true
			panic("on purpose")
		}
	})
	b.checkNothingLeft()
	first, second := &done.Matrix.Cells[0], &done.Matrix.Cells[1]
	if !hasFailure(first, ReasonInternal) || Verdict(first) != "no_verdict" {
		t.Errorf("got failures %+v, want %s", first.Failures, ReasonInternal)
	}
	if *second.PassedCount+*second.ErrorCount != 1 || *second.FailedCount != 0 {
		t.Errorf("the second cell: got %+v, want it measured", second.Failures)
	}
	if m, err := report.Read(done.Path); err != nil || len(m.Cells) != 2 {
		t.Errorf("got %v, want both cells in matrix.json", err)
	}
}

// Each trial starts an engine of its own; the second trial's tag is told with its number.
func TestTrialsAreEnginesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, settings{"serve_args": sim()})
	raw, err := os.ReadFile(b.recipe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.recipe, []byte(strings.Replace(string(raw), `"trials":1`, `"trials":2`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	started := 0
	done := measureHere(t.Context(), t, b, func(format string) {
		if format == "starting the engine" {
			started++
		}
	})
	c := &done.Matrix.Cells[0]
	if started != 2 || *c.Trials != 2 || len(c.TrialPaths) != 2 || len(c.StepTimesMS) != 4 {
		t.Errorf("got %d starts, %d trials, %d step times, want 2, 2, 4", started, *c.Trials, len(c.StepTimesMS))
	}
	for _, path := range c.TrialPaths {
		if _, err := os.Stat(filepath.Join(filepath.Dir(done.Path), path)); err != nil {
			t.Error(err)
		}
	}
}

// What an engine leaves behind that cannot be ended keeps the other cells from being measured beside it.
func TestNothingIsMeasuredBesideALeftover(t *testing.T) {
	r := &run{leftover: "first"}
	cell := &recipe.Cell{Name: "second", Serve: &recipe.Serve{}}
	out, _, err := r.measure(t.Context(), cell)
	if err != nil || out.Error == nil || !strings.Contains(*out.Error, "engine of cell first could not be ended") || len(out.NoVerdict) != 1 {
		t.Errorf("got %+v, %v, want the cell not run", out, err)
	}
}
