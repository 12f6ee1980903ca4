package bless

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/google/renameio/v2"
)

// refresher is one refresh.
type refresher struct {
	*step.Step
	text    *baseline.Text // what is carried over
	out     string
	matrix  *matrix.File
	scope   scope
	margins margins
	reason  string

	seen       map[baseline.Key]bool // cells that the source knows, or that could not be looked at
	edits      []baseline.SpecEdit
	incomplete strict.Problems
	notes      []note
	sees       map[baseline.Key]map[string]float64 // by gate, the smallest step its bound can see
	windows    string                              // Markdown of the windows that were looked at
}

// note is something a reviewer should know of a key or an entry.
type note struct {
	About string `json:"about"`
	Text  string `json:"text"`
}

func (r *refresher) note(about, text string) {
	r.notes = append(r.notes, note{about, text})
	r.Say("%s: %s", about, text)
}

// newRefresher reads what both sources need. The problems are everything wrong with it.
func newRefresher(s *step.Step) (*refresher, strict.Problems) {
	r := &refresher{
		Step: s, out: s.Path(s.In.String("baselines")), reason: strings.TrimSpace(s.In.String("reason")),
		seen: map[baseline.Key]bool{}, sees: map[baseline.Key]map[string]float64{},
	}
	var problems strict.Problems
	r.margins, problems = readMargins(s)
	var err error
	if r.text, err = baseline.ReadText(r.out); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	if s.In.Given("out") {
		r.out = s.Path(s.In.String("out"))
	}
	if s.In.Given("reason") && r.reason == "" {
		problems = append(problems, usage("--reason", "say in a sentence why", "is blank"))
	}
	if s.In.Bool("open-pr") && s.In.Bool("dry-run") {
		problems = append(problems, usage("--open-pr", "leave one of them out", "does nothing in a dry run"))
	}
	return r, problems
}

func (r *refresher) readScope() (problems strict.Problems) {
	r.scope, problems = readScope(r.Step, r.matrix)
	return problems
}

// conclude makes the edits, tells what they change, and writes them where nothing speaks against it.
func (r *refresher) conclude(ctx context.Context) int {
	head, err := r.text.Edit(r.edits)
	if err != nil {
		return r.Finish(step.CouldNotRun, nil, step.Problems(err)...)
	}
	changes := baseline.Compare(r.text.File(), head.File())
	var refused strict.Problems
	for _, c := range changes {
		if why := objection(c, r.reason); why != "" {
			refused = append(refused, strict.Problem{Path: r.text.File().Path, Field: c.Key.String(), Message: c.String() + ": " + why, Hint: "look into what moved; if it is to be so, say why with --reason"})
		}
	}
	if r.reason != "" && len(refused) == 0 {
		if head, err = head.Edit(r.reasons(head, changes)); err != nil {
			return r.Finish(step.CouldNotRun, nil, step.Problems(err)...)
		}
	}
	markdown := r.markdown(changes, refused)
	if err := r.publish(markdown); err != nil {
		return r.Finish(step.CouldNotRun, nil, strict.Problem{Field: "--report", Message: err.Error()})
	}
	if r.In.Bool("dry-run") {
		r.Text(markdown)
	}
	doc := outcome{Out: r.out, Counts: countChanges(changes), Changes: told(changes), Notes: r.notes}
	if len(refused) > 0 {
		r.Say("nothing was written: gates would guard less than before")
		return r.Finish(step.Negative, doc, refused...)
	}
	return r.write(ctx, head, markdown, doc)
}

// outcome is the door's document.
type outcome struct {
	Changed     bool           `json:"changed"`
	Out         string         `json:"out"`
	DryRun      bool           `json:"dry_run,omitempty"`
	Counts      map[string]int `json:"counts"`
	Changes     []change       `json:"changes"`
	Notes       []note         `json:"notes,omitempty"`
	PullRequest string         `json:"pull_request,omitempty"`
}

// change is a gate that is not as before.
type change struct {
	Key    string `json:"key"`
	Gate   string `json:"gate"`
	Became string `json:"became"`
	Old    any    `json:"old"`
	New    any    `json:"new"`
}

func told(changes []baseline.Change) []change {
	list := []change{}
	for _, c := range changes {
		if c.Became != baseline.Unchanged {
			list = append(list, change{c.Key.String(), c.Gate, string(c.Became), c.Old, c.New})
		}
	}
	return list
}

func countChanges(changes []baseline.Change) map[string]int {
	counts := map[string]int{}
	for _, c := range changes {
		counts[string(c.Became)]++
	}
	return counts
}

// reasons put the reason beside what it is about. A key that is removed leaves no place for it: there it
// is in the report alone.
func (r *refresher) reasons(head *baseline.Text, changes []baseline.Change) []baseline.SpecEdit {
	var edits []baseline.SpecEdit
	told := map[baseline.Key]bool{}
	for _, c := range changes {
		spec := head.Spec(c.Key)
		if !c.WantsReason() || spec == nil || told[c.Key] {
			continue
		}
		told[c.Key] = true
		edits = append(edits, baseline.SpecEdit{Key: c.Key, Spec: spec.With("reason", r.reason)})
	}
	return edits
}

// publish hands the report to whoever reads it.
func (r *refresher) publish(markdown string) error {
	r.Summary(markdown)
	if !r.In.Given("report") {
		return nil
	}
	path := r.Path(r.In.String("report"))
	if err := renameio.WriteFile(path, []byte(markdown), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	r.Output("report", path)
	return nil
}

func (r *refresher) write(ctx context.Context, head *baseline.Text, markdown string, doc outcome) int {
	before, err := os.ReadFile(r.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r.Finish(step.CouldNotRun, nil, strict.Problem{Path: r.out, Message: err.Error()})
	}
	doc.Changed = err != nil || !bytes.Equal(before, head.Bytes())
	if r.In.Bool("dry-run") {
		doc.DryRun = true
		r.Output("changed", "false")
		return r.Done(doc)
	}
	if doc.Changed {
		if err := head.Store(r.out); err != nil {
			return r.Finish(step.CouldNotRun, nil, strict.Problem{Path: r.out, Message: err.Error()})
		}
	}
	r.Output("changed", fmt.Sprint(doc.Changed))
	r.Say("%s; %s", summary(doc.Counts), map[bool]string{true: "written to " + r.out, false: "the file is as it was"}[doc.Changed])
	if r.In.Bool("open-pr") && doc.Changed {
		url, err := r.openPull(ctx, head.Bytes(), markdown)
		if err != nil {
			return r.Finish(step.CouldNotRun, doc, pullProblem(err))
		}
		doc.PullRequest = url
		r.Output("pull-request", url)
		r.Say("opened %s", url)
	}
	return r.Done(doc)
}
