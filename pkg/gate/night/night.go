package night

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Words in a row's error for what became of an entry; a cell's own error is its text.
const (
	errTimeout    = "timeout"
	errCorrupt    = "corrupt_matrix"
	errEmpty      = "empty_matrix"
	ZeroWork      = "zero_work" // exported: a merge of results knows the row by it
	errBadInput   = "bad_input"
	errBadRecipe  = "bad_recipe"
	errNotStarted = "not_started"
	errMissing    = "missing_cell"
	errUnexpected = "unexpected_cell"
	errExit       = "unexplained_exit"
	errCancelled  = "cancelled"
	errInternal   = "internal"
)

// night is one run of the matrix.
type night struct {
	*step.Step
	matrix    *matrix.File
	entries   []matrix.Entry // those asked for
	baselines *baseline.File // nil: record only
	command   template
	serveArgs []string
	beside    string // the folder of this program
	gpus      int
	noConfirm bool
	docker    daemon
	out       string
	workDir   string
	results   Results
}

// begin notes when and where the night runs.
func (n *night) begin() {
	j := n.Job()
	n.results = Results{
		StartedAt: stamp(n.Now()), Event: j.Event, UpstreamEvent: j.UpstreamEvent, RunID: j.RunID, RunAttempt: j.RunAttempt, Runner: j.Runner,
		Build: readBuild(n.Getenv, rocmVersions),
	}
}

func (n *night) save() error { return n.results.write(n.out, n.Now()) }

// refused leaves a results file that says so, lest yesterday's be taken for tonight's. That it cannot be
// written is told by the caller's refusal already failing the step.
func (n *night) refused(problems strict.Problems) {
	row := n.self(baseline.Fail, errBadInput)
	for _, p := range problems {
		row.Reasons = append(row.Reasons, p.Error())
	}
	n.results.Entries = []Row{row}
	n.results.Complete = true
	if err := n.save(); err != nil {
		n.Say("%v", err)
	}
}

// self is a row about the night as a whole.
func (n *night) self(v baseline.Verdict, word string, reasons ...string) Row {
	return Row{Entry: matrix.Self, Verdict: v, Error: &word, Reasons: reasons}
}

// run runs the entries in the order of the file. The results are written after each; an error means
// that they no longer can be, and nothing more is run.
func (n *night) run(ctx context.Context) error {
	n.orphans()
	bar := n.Progress("night", int64(len(n.entries)))
	defer bar.Done()
	for i := range n.entries {
		e := &n.entries[i]
		bar.Note("%s", e.Name)
		start := time.Now()
		rows := n.entry(ctx, e)
		n.results.Entries = append(n.results.Entries, rows...)
		n.Say("%s: %s after %s", e.Name, verdicts(rows), time.Since(start).Round(100*time.Millisecond))
		bar.Set(int64(i + 1))
		if err := n.save(); err != nil {
			return err
		}
	}
	n.zeroWork()
	n.results.Complete = true
	return n.save()
}

// zeroWork adds the row that keeps a night in which nothing ran from looking fine.
func (n *night) zeroWork() {
	skipped := func(r Row) bool { return r.Verdict == baseline.Skip }
	if slices.ContainsFunc(n.results.Entries, func(r Row) bool { return !skipped(r) }) {
		return
	}
	reason := "no entry ran: the matrix has none"
	if len(n.results.Entries) > 0 {
		var why []string
		for _, r := range n.results.Entries {
			why = append(why, r.Entry+" "+strings.Join(r.Reasons, "; "))
		}
		reason = "no entry ran, all were skipped: " + strings.Join(why, "; ")
	}
	n.results.Entries = append(n.results.Entries, n.self(baseline.Fail, ZeroWork, reason))
}

// orphans tells of keys that guard no entry of the matrix.
func (n *night) orphans() {
	if n.baselines == nil {
		return
	}
	known := map[string]bool{}
	for _, e := range slices.Concat(n.matrix.Entries, n.matrix.Pending) {
		known[e.Name] = true
	}
	for _, key := range n.baselines.Keys() {
		if !known[key.Entry] {
			n.Warn(strict.Problem{Path: n.baselines.Path, Field: key.String(), Message: "the matrix has no such entry, so this key guards nothing", Hint: "remove the key, or mend the entry's name"})
		}
	}
}

// status is the night's exit status. The zero-work row is no regression: nothing was measured.
func (n *night) status() int {
	status := step.OK
	for _, r := range n.results.Entries {
		switch {
		case r.Verdict == baseline.Fail && r.Entry != matrix.Self:
			return step.Negative
		case r.Verdict == baseline.Fail || r.Verdict == baseline.NoVerdict:
			status = step.NoVerdict
		}
	}
	return status
}

// finish tells the outcome to people and to the job.
func (n *night) finish() int {
	status := n.status()
	word := map[int]string{step.OK: "pass", step.Negative: "fail", step.NoVerdict: "no_verdict"}[status]
	n.Text(textTable(n.results.Entries))
	n.Say("%s: %s; results in %s", spoken(word), n.results.Summary, n.out)
	n.publish(word)
	var problems strict.Problems
	for i := range n.results.Entries {
		problems = append(problems, n.tell(&n.results.Entries[i])...)
	}
	n.Output("results", n.out)
	n.Output("verdict", word)
	doc := struct {
		Verdict string `json:"verdict"`
		Results string `json:"results"`
		Summary Counts `json:"summary"`
	}{word, n.out, n.results.Summary}
	return n.Finish(status, doc, problems...)
}

// tell returns what is wrong with a row, one finding for each reason, and warns of what is not wrong but
// must not be overlooked.
func (n *night) tell(r *Row) strict.Problems {
	var problems strict.Problems
	for _, words := range r.Words() {
		p := strict.Problem{Field: r.Key(), Message: words}
		switch {
		case r.Verdict == baseline.Fail:
			problems = append(problems, p)
		case r.Verdict == baseline.NoVerdict:
			p.Message = "no verdict: " + words
			problems = append(problems, p)
		case r.Verdict == baseline.Pass, r.Verdict == baseline.Record && r.Gated != nil:
			n.Warn(p)
		}
	}
	if len(problems) > 0 {
		problems[len(problems)-1].Hint = r.hint()
	}
	return problems
}

// hint is what to do about a row, "" where its reasons say all.
func (r *Row) hint() string {
	tagged := func(name string) bool {
		return slices.ContainsFunc(r.Tags, func(t report.Tag) bool { return t.Name == name })
	}
	switch {
	case r.Verdict == baseline.NoVerdict && tagged(clientLimited):
		return "the load client had to wait for a core, so its figures are not the engine's: keep other work off the machine and run the night again"
	case r.Error != nil && *r.Error == errNotStarted:
		return "an entry whose workload is not " + recipe.Serving + " is run by the command of --command"
	case r.Verdict == baseline.Fail && r.Cell != nil && r.Error == nil && none(r.PassedCount) && none(r.FailedCount) && none(r.ErrorCount):
		return "its matrix.json counts no passed trial: passed_count must be 1 or more; nightly-eval -help shows the format"
	}
	return ""
}

// clientLimited is the tag of a step in which the load client was the limit.
const clientLimited = "client_limited"

func none(count *int) bool { return count == nil || *count == 0 }

// String lists the counts that are not zero.
func (c Counts) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{c.Fail, "fail"}, {c.NoVerdict, "no verdict"}, {c.Pass, "pass"}, {c.Record, "record"}, {c.Skip, "skip"}, {c.Excursions, "excursion"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

func verdicts(rows []Row) string { return Count(rows).String() }
