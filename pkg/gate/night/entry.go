package night

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// entry runs one entry and returns its rows, at least one. Nothing that goes wrong here reaches
// another entry, not even a bug.
func (n *night) entry(ctx context.Context, e *matrix.Entry) (rows []Row) {
	defer func() {
		if r := recover(); r != nil {
			n.Text(string(debug.Stack()))
			rows = []Row{n.row(e, baseline.Fail, errInternal, fmt.Sprintf("internal error: %v", r))}
		}
	}()
	r, err := recipe.Load(n.Path(e.Recipe))
	if err != nil {
		row := n.row(e, baseline.Fail, errBadRecipe)
		for _, p := range step.Problems(err) {
			row.Reasons = append(row.Reasons, p.Error())
		}
		return []Row{row}
	}
	if r.Workload == recipe.Serving && e.Nproc > 0 {
		return []Row{n.row(e, baseline.Fail, errBadRecipe, "nproc is for commands under torchrun, and serve-cell starts a serving recipe's engine itself: say min_gpus instead")}
	}
	if reason := n.cannotRun(ctx, e, r); reason != "" {
		return []Row{n.row(e, baseline.Skip, "", reason)}
	}
	dir := filepath.Join(n.workDir, e.Name)
	release, err := hold(n.workDir, e.Name)
	switch {
	case errors.Is(err, errBusy):
		return []Row{n.row(e, baseline.NoVerdict, errNotStarted, err.Error())}
	case err != nil:
		return []Row{n.row(e, baseline.Fail, errNotStarted, err.Error())}
	}
	defer release()
	if err := freshDir(dir); err != nil {
		return []Row{n.row(e, baseline.Fail, errNotStarted, err.Error())}
	}
	first := n.judge(e, r, n.attempt(ctx, e, r, filepath.Join(dir, "run-1")))
	n.confirm(ctx, e, r, first, filepath.Join(dir, "run-2"))
	for _, j := range first {
		rows = append(rows, j.row)
	}
	return rows
}

// row is a row about an entry as a whole. An empty word is no error.
func (n *night) row(e *matrix.Entry, v baseline.Verdict, word string, reasons ...string) Row {
	return Row{Entry: e.Name, Recipe: &e.Recipe, Verdict: v, Error: text(word), Reasons: reasons}
}

// cannotRun says what this machine lacks for an entry, "" for nothing.
func (n *night) cannotRun(ctx context.Context, e *matrix.Entry, r *recipe.Recipe) string {
	if n.gpus < e.MinGPUs {
		return fmt.Sprintf("needs %d GPU(s), have %d", e.MinGPUs, n.gpus)
	}
	if e.NeedsDocker {
		if reason := n.noDaemon(ctx, r); reason != "" {
			return "needs a docker daemon: " + reason
		}
	}
	return ""
}

// attempt is one run of an entry's command and what it left.
type attempt struct {
	ending
	path     string         // its matrix.json, "" where it left none
	matrix   *report.Matrix // nil where the attempt failed as a whole
	evidence map[string]string
	failed   *failure
}

// failure is why an attempt came to no cells.
type failure struct {
	verdict baseline.Verdict
	word    string
	reason  string
}

// attempt runs an entry once. Its output goes below dir, its log beside it.
func (n *night) attempt(ctx context.Context, e *matrix.Entry, r *recipe.Recipe, dir string) attempt {
	fail := func(a attempt, v baseline.Verdict, word, format string, args ...any) attempt {
		a.failed = &failure{v, word, fmt.Sprintf(format, args...)}
		return a
	}
	if ctx.Err() != nil {
		return fail(attempt{}, baseline.NoVerdict, errCancelled, "not run: the night was cancelled")
	}
	argv, err := n.argv(e, r, dir)
	if err != nil {
		return fail(attempt{}, baseline.Fail, errNotStarted, "the command cannot be started: %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(attempt{}, baseline.Fail, errNotStarted, "making the entry's folder: %v", err)
	}
	log, err := newRing(dir + ".log")
	if err != nil {
		return fail(attempt{}, baseline.Fail, errNotStarted, "making the entry's log: %v", err)
	}
	defer log.Close()
	lines := &quota{w: n.Child(e.Name), left: maxShown, over: func() { n.Say("%s: it prints too much to show: see %s.log", e.Name, dir) }}
	defer lines.Close()

	var document *os.File
	if r.Workload == recipe.Serving {
		document = log.f // serve-cell's JSON says what matrix.json and its text for people say
	}
	n.Say("%s: running %s", e.Name, strings.Join(argv, " "))
	a := attempt{ending: child{
		argv: argv, dir: n.Root(), env: n.Environ, out: io.MultiWriter(lines, log), document: document, limit: e.Timeout, token: rand.Text(), grace: usual,
	}.run(ctx)}
	if a.strays > 0 {
		n.Say("%s: %d processes were left behind and have been ended", e.Name, a.strays)
	}
	if a.outlived > 0 {
		n.Say("%s: %d processes could not be ended", e.Name, a.outlived)
	}
	switch {
	case a.err != nil:
		return fail(a, baseline.Fail, errNotStarted, "the command cannot be started: %v", a.err)
	case a.cancelled:
		return fail(a, baseline.NoVerdict, errCancelled, "cancelled after %s", a.took.Round(time.Second))
	case a.timedOut:
		return fail(a, baseline.Fail, errTimeout, "timed out (%ds)", int(e.Timeout/time.Second))
	}
	return n.harvest(a, dir, fail)
}

// harvest reads what an attempt left below dir.
func (n *night) harvest(a attempt, dir string, fail func(attempt, baseline.Verdict, string, string, ...any) attempt) attempt {
	var err error
	if a.path, err = newest(dir); err != nil {
		return fail(a, baseline.Fail, errCorrupt, "%v", err)
	}
	if a.path == "" {
		return fail(a, baseline.Fail, a.String(), "no matrix.json produced (%s)", a)
	}
	if a.matrix, err = report.Read(a.path); err != nil {
		return fail(a, baseline.Fail, errCorrupt, "unreadable matrix.json: %v", err)
	}
	if len(a.matrix.Cells) == 0 {
		return fail(a, baseline.Fail, errEmpty, "matrix.json produced no cells%s", unclean(a.ending))
	}
	sum, err := digest(a.path)
	if err != nil {
		return fail(a, baseline.Fail, errCorrupt, "unreadable matrix.json: %v", err)
	}
	a.evidence = map[string]string{n.relative(a.path): sum}
	return a
}

// unclean tells of an end that explains what is missing, "" for a clean one.
func unclean(e ending) string {
	if e.exit == 0 && e.signal == 0 {
		return ""
	}
	return " (" + e.String() + ")"
}

// relative is a path from the repository's root where it lies inside.
func (n *night) relative(path string) string {
	if rel, err := filepath.Rel(n.Root(), path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
