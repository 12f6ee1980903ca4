package bless

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// fromRun runs the matrix once and derives from that.
func (r *refresher) fromRun(ctx context.Context, problems strict.Problems) int {
	recorder, more := night.NewRecorder(r.Step)
	r.matrix = recorder.Matrix()
	problems = append(problems, more...)
	deriving := r.In.Bool("perf-gate")
	for _, name := range []string{"perf-gate-entry", "perf-gate-metric"} {
		if r.In.Given(name) && !deriving {
			problems = append(strict.Problems{usage("--"+name, "add --perf-gate", "it says what to derive, and without --perf-gate nothing is")}, problems...)
		}
	}
	problems = append(problems, r.readScope()...)
	if r.matrix != nil && len(r.matrix.Entries) == 0 {
		problems = append(problems, strict.Problem{Path: r.matrix.Path, Field: "entries", Message: "the matrix has no entries: there is nothing to derive from", Hint: "keep the entries, or edit the baselines by hand"})
	}
	if len(problems) > 0 {
		return r.Finish(step.Usage, nil, problems...)
	}
	if deriving {
		r.unscoped()
		if status, refused := r.namedMustRun(ctx, recorder); refused {
			return status
		}
	}

	bar := r.Progress("refresh", int64(len(r.matrix.Entries)))
	defer bar.Done()
	for i := range r.matrix.Entries {
		e := &r.matrix.Entries[i]
		bar.Note("%s", e.Name)
		r.entry(e, recorder.Record(ctx, e), deriving && r.scope.entry(e.Name))
		bar.Set(int64(i + 1))
	}
	if len(r.incomplete) > 0 {
		r.Say("nothing was written: the run is not whole")
		return r.Finish(step.NoVerdict, nil, r.incomplete...)
	}
	r.orphans()
	return r.conclude(ctx)
}

// namedMustRun refuses before anything runs where an entry that was named cannot run here: its keys would
// be carried over, and the diff would look like a bless.
func (r *refresher) namedMustRun(ctx context.Context, recorder *night.Recorder) (int, bool) {
	var problems strict.Problems
	for _, name := range r.scope.entries {
		if lack := recorder.Lacks(ctx, r.matrix.Entry(name)); lack != "" {
			problems = append(problems, usage("--perf-gate-entry", "run it where it can run, or derive from a window", fmt.Sprintf("entry %s cannot run here: it %s", name, lack)))
		}
	}
	if len(problems) == 0 {
		return 0, false
	}
	return r.Finish(step.CouldNotRun, nil, problems...), true
}

// entry turns the rows of an entry into edits, or into what is incomplete.
func (r *refresher) entry(e *matrix.Entry, rows []night.Row, deriving bool) {
	if len(rows) == 1 && rows[0].Verdict == baseline.Skip {
		r.skipped(e.Name, strings.Join(rows[0].Reasons, "; "))
		return
	}
	for i := range rows {
		row := &rows[i]
		if row.Cell == nil {
			r.lack(row)
			continue
		}
		key := baseline.Key{Entry: e.Name, Cell: *row.Cell}
		r.seen[key] = true
		spec := r.text.Spec(key)
		switch {
		case row.Verdict == baseline.Record:
			r.derive(key, spec, row, deriving)
		case row.Verdict == baseline.Fail && spec.Get("passed") == false:
			r.note(key.String(), "failed, as its baseline expects; its key is kept")
		default:
			r.lack(row)
		}
	}
}

// lack lists what keeps the run from being whole.
func (r *refresher) lack(row *night.Row) {
	text := strings.Join(row.Words(), "; ")
	if row.Cell != nil && row.Verdict == baseline.Fail {
		text = "did not pass: " + text
	}
	r.incomplete = append(r.incomplete, strict.Problem{Field: row.Key(), Message: text, Hint: "a refresh needs every entry whole: mend it, or take it out of the matrix"})
}

func (r *refresher) derive(key baseline.Key, spec baseline.Map, row *night.Row, deriving bool) {
	d := derivation{row: row, margins: r.margins, spec: spec, evidence: r.evidence(row)}
	if deriving {
		d.arm = func(gate string) bool { return len(r.scope.metrics) == 0 || slices.Contains(r.scope.metrics, gate) }
	}
	d.run()
	for _, text := range d.notes {
		r.note(key.String(), text)
	}
	for _, text := range d.faults {
		r.incomplete = append(r.incomplete, strict.Problem{Field: key.String(), Message: text, Hint: "mend what writes matrix.json"})
	}
	r.edits = append(r.edits, baseline.SpecEdit{Key: key, Spec: d.spec})
}

// evidence says which run a bound comes from: its number in a job, and the digest of its matrix.json.
func (r *refresher) evidence(row *night.Row) baseline.Map {
	job := r.Job()
	m := baseline.Map{{Key: "run", Value: job.RunID}}
	if job.RunAttempt > 0 {
		m = m.With("attempt", job.RunAttempt)
	}
	if row.MatrixPath != nil && row.Evidence[*row.MatrixPath] != "" {
		m = m.With("sha256", row.Evidence[*row.MatrixPath])
	}
	return m
}

// skipped keeps the keys of an entry that cannot run here, and says so.
func (r *refresher) skipped(entry, why string) {
	kept := r.text.File().Cells(entry)
	for _, cell := range kept {
		r.seen[baseline.Key{Entry: entry, Cell: cell}] = true
	}
	if len(kept) == 0 {
		r.note(entry, "did not run here, and is still without baselines: "+why)
		return
	}
	r.note(entry, fmt.Sprintf("did not run here, and its %d key(s) are kept: %s", len(kept), why))
}

// orphans tells of keys whose entry or cell is gone, and removes them where that was asked for.
func (r *refresher) orphans() {
	pending := map[string]bool{}
	for _, e := range r.matrix.Pending {
		pending[e.Name] = true
	}
	for _, key := range r.text.File().Keys() {
		why := ""
		switch e := r.matrix.Entry(key.Entry); {
		case r.seen[key] || pending[key.Entry]:
		case e == nil:
			why = "the matrix has no such entry"
		case !r.hasCell(e, key.Cell):
			why = "the recipe has no such cell"
		}
		switch {
		case why == "":
		case r.In.Bool("prune"):
			r.note(key.String(), why+"; its key is removed")
			r.edits = append(r.edits, baseline.SpecEdit{Key: key})
		default:
			r.note(key.String(), why+", so its key guards nothing; it is kept until --prune")
		}
	}
}

// hasCell reports whether an entry's recipe has a cell. A recipe that cannot be read may have any.
func (r *refresher) hasCell(e *matrix.Entry, cell string) bool {
	rec, err := recipe.Load(r.Path(e.Recipe))
	return err != nil || rec.Cell(cell) != nil
}

// unscoped warns where everything would be armed at once: it also arms what was reverted on purpose.
func (r *refresher) unscoped() {
	if len(r.scope.entries) > 0 {
		return
	}
	r.Warn(strict.Problem{Field: "--perf-gate", Message: "without --perf-gate-entry bounds are derived for every entry, also for cells that were reverted to record-only on purpose", Hint: "name the entry that is to be blessed"})
}
