package night

import (
	"fmt"
	"maps"
	"path/filepath"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// judged is a row with the judgement it came from.
type judged struct {
	row       Row
	judgement baseline.Judgement
}

// judge makes the rows of an attempt: every cell it measured, and every cell that was expected and is
// not there.
func (n *night) judge(e *matrix.Entry, r *recipe.Recipe, a attempt) []judged {
	if a.failed != nil {
		row := n.row(e, a.failed.verdict, a.failed.word, a.failed.reason)
		row.DurationSec = a.took.Seconds()
		if a.path != "" {
			row.MatrixPath = text(n.relative(a.path))
		}
		return []judged{{row: row, judgement: baseline.Judgement{Verdict: a.failed.verdict, Reasons: row.Reasons}}}
	}
	var rows []judged
	found := map[string]bool{}
	clean := true
	for i := range a.matrix.Cells {
		cell := &a.matrix.Cells[i]
		found[cell.Name] = true
		clean = clean && cell.Passed() && len(cell.NoVerdict) == 0
	}
	missing := n.missing(e, r, found)
	for i := range a.matrix.Cells {
		cell := &a.matrix.Cells[i]
		j := n.verdict(e, r, a, cell)
		word := ""
		switch {
		case r.Cell(cell.Name) == nil && j.Verdict != baseline.Fail:
			word = errUnexpected
			j = doubt(j, fmt.Sprintf("cell %q is not in %s: nothing is known of what it measures", cell.Name, e.Recipe))
		// A failing cell or one that is not there explains why the command failed. Clean cells of a
		// command that failed do not.
		case (a.exit != 0 || a.signal != 0) && clean && len(missing) == 0 && j.Verdict != baseline.Fail:
			word = errExit
			j = doubt(j, fmt.Sprintf("the command ended with %s although every cell looks clean", a))
		}
		row := n.cellRow(e, r, a, cell, j)
		if word != "" && row.Error == nil {
			row.Error = &word
		}
		rows = append(rows, judged{row, j})
	}
	for _, m := range missing {
		row := n.row(e, baseline.NoVerdict, errMissing, m.reason)
		row.Cell = &m.cell
		row.MatrixPath = text(n.relative(a.path))
		row.DurationSec = a.took.Seconds()
		rows = append(rows, judged{row, baseline.Judgement{Verdict: baseline.NoVerdict, Reasons: row.Reasons}})
	}
	return rows
}

// verdict holds a cell against its key. A cell that the recipe does not have is never held to one.
func (n *night) verdict(e *matrix.Entry, r *recipe.Recipe, a attempt, cell *report.Cell) baseline.Judgement {
	var spec *baseline.Spec
	if n.baselines != nil && r.Cell(cell.Name) != nil {
		spec = n.baselines.Specs[baseline.Key{Entry: e.Name, Cell: cell.Name}]
	}
	return baseline.Judge(cell, spec, n.fingerprint(r, a, cell))
}

// doubt takes a verdict back.
func doubt(j baseline.Judgement, reason string) baseline.Judgement {
	j.Verdict = baseline.NoVerdict
	j.Reasons = []string{reason}
	return j
}

// fingerprint is the stack a cell ran on: what the run found out, over what the build says.
func (n *night) fingerprint(r *recipe.Recipe, a attempt, cell *report.Cell) report.Fingerprint {
	f := n.results.Build.stack()
	if c := r.Cell(cell.Name); c != nil && c.Digest() != "" {
		f[report.RecipeDigest] = c.Digest()
	}
	maps.Copy(f, a.matrix.Fingerprint)
	maps.Copy(f, cell.Fingerprint)
	return f
}

// gap is a cell that should be there.
type gap struct{ cell, reason string }

// missing lists the cells of the recipe and of the baselines that were not found.
func (n *night) missing(e *matrix.Entry, r *recipe.Recipe, found map[string]bool) []gap {
	var gaps []gap
	for _, c := range r.Cells {
		if !found[c.Name] {
			gaps = append(gaps, gap{c.Name, fmt.Sprintf("cell %q of the recipe is not in matrix.json", c.Name)})
		}
	}
	if n.baselines == nil {
		return gaps
	}
	for _, name := range n.baselines.Cells(e.Name) {
		if r.Cell(name) == nil && !found[name] {
			gaps = append(gaps, gap{name, fmt.Sprintf("the baselines guard a cell %q that the recipe does not have", name)})
		}
	}
	return gaps
}

func (n *night) cellRow(e *matrix.Entry, r *recipe.Recipe, a attempt, cell *report.Cell, j baseline.Judgement) Row {
	row := n.row(e, j.Verdict, "", j.Reasons...)
	row.Cell = &cell.Name
	row.Error = cell.Error
	row.Metrics = metricsOf(cell)
	row.Deltas = j.Deltas
	row.PassedCount, row.FailedCount, row.Trials = cell.PassedCount, cell.FailedCount, cell.Trials
	row.ErrorCount = cell.ErrorCount
	if row.ErrorCount == nil {
		row.ErrorCount = new(0)
	}
	row.MatrixPath = text(n.relative(a.path))
	row.DurationSec = a.took.Seconds()
	if n.baselines != nil && n.baselines.Specs[baseline.Key{Entry: e.Name, Cell: cell.Name}] != nil {
		row.Gated = append([]string{}, j.Gated...)
	}
	row.Breaches = j.Breaches
	if !cell.Passed() {
		row.Failures = cell.Failures
	}
	row.StepTimesMS, row.Pooled, row.Tags = cell.StepTimesMS, cell.Pooled, cell.Tags
	row.Fingerprint = n.fingerprint(r, a, cell)
	row.Evidence = maps.Clone(a.evidence)
	for path, sum := range cell.Digests { // by their paths below the matrix.json
		row.Evidence[filepath.Join(filepath.Dir(n.relative(a.path)), path)] = sum
	}
	return row
}

func metricsOf(cell *report.Cell) Metrics {
	m := Metrics{
		MeanStepTimeMS: cell.StepTime(), MeanWallClockSec: cell.MeanWallClockSec, StepTimeSource: cell.StepTimeSource,
		Summary: map[string]any{},
	}
	for name, s := range cell.MetricsSummary {
		if s.Mean != nil {
			m.Summary[name] = s.Mean
		}
	}
	return m
}
