// Package cell measures the cells of a serving recipe, one after the other: for each trial it starts one engine, waits
// for one real streamed token, runs the discarded warm-up steps and the measured ones, audits every step, evaluates the
// recipe's gates, tags what spoils single steps, ends the engine on every path, and writes the reference's matrix.json.
//
// # What makes a verdict, and what does not
//
// A failure counts: requests that were not served, lengths that are not the planned ones, a load that is not the
// recipe's, a metric that is missing, a gate that is breached, an engine that dies or does not come up. A tag does not:
// it says that a step is spoilt by something known (a compile, a stall), changes no key of the reference, and lets the
// clean_* keys leave the step out. Two tags say that nothing can be concluded, client_limited and load_not_delivered:
// they go into the cell's no_verdict list, and such a cell is no pass for anybody.
package cell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// Options say what to measure and where to leave it.
type Options struct {
	// Recipe is the checked recipe; Cells names those to run, all when empty.
	Recipe *recipe.Recipe
	Cells  []string

	// RecipePath is how results name the recipe's file; empty for the path it was read from.
	RecipePath string

	// OutDir is the output folder; the run makes its own folder below it.
	OutDir string

	// WorkDir overrides the recipe's work root when it is not empty.
	WorkDir string

	// Environ is the environment that engines start from.
	Environ []string

	// Socket says why the docker driver may not use the daemon's socket, nil where it may. Asked by [Check] alone.
	Socket func() error

	// Tool names the writer in matrix.json.
	Tool string

	// Now is the wall clock.
	Now func() time.Time

	// Say tells people one line; Progress begins to report on a cell of total requests.
	Say      func(format string, args ...any)
	Progress func(label string, total int64) Progress
}

// Progress tells people how far a cell has come. Its methods are called from one goroutine at a time.
type Progress interface {
	Set(done int64)
	Note(format string, args ...any)
	Done()
}

// Outcome is a finished run.
type Outcome struct {
	// Path is the matrix.json that was written; Matrix is what it holds.
	Path   string
	Matrix *report.Matrix

	// Canceled tells that the run was cut off.
	Canceled bool
}

// run is one run of a recipe.
type run struct {
	Options
	dir      string // the run's own folder
	matrix   *report.Matrix
	host     Host
	progress Progress
	roots    map[string]*workroot.Root
	locks    []*workroot.Lock

	// leftover names the cell whose engine could not be ended: whatever is measured beside it is worth nothing.
	leftover string
}

// Measure runs the cells. The error tells that the run could not begin, or that its results could not be written; cells
// that fail are no error. matrix.json is written after every cell, and for the last time also when the run is cut off.
func Measure(ctx context.Context, o Options) (*Outcome, error) {
	r := &run{Options: o, roots: map[string]*workroot.Root{}}
	defer r.unlock()
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	path := filepath.Join(r.dir, "matrix.json")
	for _, c := range r.selected() {
		done, warnings, err := r.measure(ctx, c)
		r.matrix.Cells = append(r.matrix.Cells, done)
		r.matrix.Warnings = append(r.matrix.Warnings, warnings...)
		confounds(r.matrix)
		if err := errors.Join(err, r.matrix.Write(path)); err != nil {
			return nil, err
		}
	}
	if err := writeFile(filepath.Join(r.dir, "matrix.md"), []byte(Markdown(r.matrix))); err != nil {
		return nil, err
	}
	return &Outcome{Path: path, Matrix: r.matrix, Canceled: ctx.Err() != nil}, nil
}

// lockWait is how long a run waits for another one to end before it gives up.
const lockWait = 3 * time.Second

// begin opens and locks the work roots, ends what earlier runs left behind, and lays the run's folder out.
func (r *run) begin(ctx context.Context) error {
	for _, c := range r.selected() {
		dir := r.workDir(c)
		if r.roots[dir] != nil {
			continue
		}
		root, err := workroot.Open(dir)
		if err != nil {
			return err
		}
		lock, err := root.Lock(ctx, lockWait)
		if err != nil {
			return err
		}
		r.roots[dir], r.locks = root, append(r.locks, lock)
		if err := r.sweep(ctx, root); err != nil {
			return err
		}
	}
	return r.layOut()
}

// sweep ends what killed runs left behind. An engine that cannot be ended would share the accelerator with ours.
func (r *run) sweep(ctx context.Context, root *workroot.Root) error {
	swept, err := engine.Sweep(ctx, root, r.Now(), engine.CancelGrace)
	for _, s := range swept {
		if s.Ended > 0 {
			r.Say("ended %d processes that an earlier run left behind (cell %s, run %s)", s.Ended, s.Record.Cell, s.Record.Token)
		}
	}
	if err != nil {
		return fmt.Errorf("ending what earlier runs left behind: %w", err)
	}
	return nil
}

func (r *run) unlock() {
	for _, l := range r.locks {
		_ = l.Release() // the kernel lets go in any case
	}
}

// measure runs the trials of one cell. A fault of this program fails the cell, not the run.
func (r *run) measure(ctx context.Context, c *recipe.Cell) (out report.Cell, warnings []string, err error) {
	if why := r.obstacle(ctx); why != "" {
		out = unrun(c)
		out.Error, out.NoVerdict = &why, []string{why}
		return out, nil, nil
	}
	requests := c.Trials * (c.Serve.WarmupSteps + c.Steps) * c.Serve.NumPrompts
	r.progress = r.Progress("cell "+c.Name, int64(requests))
	defer r.progress.Done()
	var trials []*trial
	for i := range c.Trials {
		t := &trial{run: r, cell: c, serve: c.Serve, index: i, root: r.roots[r.workDir(c)], token: engine.NewToken(os.Getpid())}
		t.requestsDone = int64(i * requests / c.Trials)
		trials = append(trials, t)
		r.guarded(ctx, t)
		err = errors.Join(err, t.save(r.dir))
		r.tell(t)
		for _, w := range t.warnings {
			warnings = append(warnings, fmt.Sprintf("cell %s, trial %d: %s", c.Name, i, w))
		}
		if r.obstacle(ctx) != "" {
			break
		}
	}
	out = summary(c, trials)
	out.Fingerprint = fingerprint(c, trials)
	return out, warnings, err
}

// obstacle says why nothing more is measured; empty when nothing stands against it.
func (r *run) obstacle(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return "not run: the run was cancelled before this cell"
	case r.leftover != "":
		return "not run: the engine of cell " + r.leftover + " could not be ended, and this one would share the machine with it"
	}
	return ""
}

// guarded runs the trial and turns a panic into a failure of it; its engine has been ended by then.
func (r *run) guarded(ctx context.Context, t *trial) {
	defer func() {
		if p := recover(); p != nil {
			r.Say("internal error: %v\n%s", p, debug.Stack())
			t.fail(&Failure{Reason: ReasonInternal, Message: fmt.Sprint(p), Hint: "this is a fault of serve-cell: please report it"})
		}
	}()
	t.measure(ctx)
}

// selected are the cells to run, in the recipe's order.
func (r *run) selected() []*recipe.Cell {
	var out []*recipe.Cell
	for i := range r.Recipe.Cells {
		if c := &r.Recipe.Cells[i]; len(r.Cells) == 0 || slices.Contains(r.Cells, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func (o Options) workDir(c *recipe.Cell) string {
	if o.WorkDir != "" {
		return o.WorkDir
	}
	return c.Serve.WorkDir
}
