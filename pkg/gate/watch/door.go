package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var door = step.Door{
	Name:    "nightly-watch",
	Summary: "says when the night did not happen: nothing measured, a schedule that is off, runners gone, gates that never ran",
	Manual:  manual,
	Inputs: []step.Input{
		night.MatrixInput,
		{Name: "history", Kind: step.String, Arg: "HISTORY", Required: true, Help: "The record of the nights: a folder, from the repository's root, or branch:NAME of its remote."},
		{Name: "history-lane", Kind: step.String, Arg: "LANE", Default: "gate", Help: "The lane of the history whose nights count."},
		{Name: "baselines", Kind: step.Path, Arg: "FILE", Default: "config/ci/regression_baselines.yaml", Help: "The bounds that nights should hold; absent, none are looked for."},
		{Name: "max-age", Kind: step.Duration, Arg: "D", Default: "36h", Help: "How old the last measured night of an entry may be."},
		{Name: "nights", Kind: step.Int, Arg: "K", Default: "3", Help: "For how many nights in a row a cell may be missing, or a gate not be evaluated."},
		{Name: "workflow", Kind: step.String, Arg: "FILE", Help: "The file name of the nightly workflow, such as nightly.yml: its schedule says when a night is due, and GitHub is asked for its state and runs."},
		{Name: "check-runners", Kind: step.Bool, Help: "Asks GitHub whether a runner can take the night."},
		{Name: "runner-labels-json", Kind: step.String, Arg: "JSON", Default: `["self-hosted","gpu"]`, Help: "The labels of that runner, as a JSON list."},
		{Name: "github-repo", Kind: step.String, Arg: "OWNER/NAME", Help: "The repository; left out, it is that of the remote origin, or of the job."},
	},
	SelfTest: selfTest,
}

const manual = `
Run it on another schedule than the night's, on a runner that GitHub hosts:

    nightly-watch --history branch:ci-results --workflow nightly.yml --check-runners

Findings, exit status 1:

    stale               an entry was not measured for longer than --max-age, although one was due
    schedule            the workflow is off
    nothing-measured    scheduled runs ended, red or green, and left nothing in the history
    waiting-for-runner  a run has waited for a runner for more than an hour
    runner              no runner has the labels, or all that have are offline
    vanished            a cell of a recipe is missing from the last nights, others of it are not
    gate-not-evaluated  a bound of the baselines file was not held in the last nights
    excursion-rate      a gate was saved by its confirming run more than twice in 14 nights
    future              a night lies in the future: a clock is wrong

Only nights that the schedule started count, itself or through the workflow it follows. Where the
workflow file of the checkout has a cron, a night is due by that: a Friday's is fresh on Monday
where there is none at the weekend. GitHub is asked with the token in GITHUB_TOKEN or GH_TOKEN.

Exit status 3: runners may exist that the token cannot see.
`

// Run is the door of nightly-watch.
func Run(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }

func run(ctx context.Context, s *step.Step) int {
	w, problems := newWatch(s)
	if len(problems) > 0 {
		return s.Finish(step.Usage, nil, problems...)
	}
	var err error
	if w.record, err = read(w.history.Runs(ctx), s.In.String("history-lane"), w.nights); err != nil {
		return s.Finish(step.Usage, nil, historyProblem(err))
	}
	found := w.local()
	unseen, err := w.github(ctx, &found)
	if err != nil {
		return s.Finish(step.CouldNotRun, w.doc(), append(found, ghapi.Problem(err))...)
	}
	switch {
	case len(found) > 0:
		return s.Finish(step.Negative, w.doc(), append(found, unseen...)...)
	case len(unseen) > 0:
		return s.Finish(step.CouldNotRun, w.doc(), unseen...)
	}
	s.Say("every entry is fresh")
	return s.Done(w.doc())
}

// watcher is one look.
type watcher struct {
	*step.Step
	matrix    *matrix.File
	baselines *baseline.File
	history   *history.History
	record    *record
	schedule  schedule
	labels    []string
	nights    int
}

func newWatch(s *step.Step) (*watcher, strict.Problems) {
	w := &watcher{Step: s, baselines: &baseline.File{}, nights: s.In.Int("nights")}
	var problems strict.Problems
	refuse := func(field string, err error) {
		problems = append(problems, strict.Problem{Field: field, Message: err.Error()})
	}
	var err error
	if w.matrix, err = matrix.Load(s.Root(), s.Path(s.In.String("matrix"))); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	path := s.Path(s.In.String("baselines"))
	if _, err := os.Stat(path); s.In.Given("baselines") || !errors.Is(err, fs.ErrNotExist) {
		if w.baselines, err = baseline.Load(path); err != nil {
			problems = append(problems, step.Problems(err)...)
		}
	}
	if w.history, err = history.Open(s.Root(), s.In.String("history")); err != nil {
		refuse("--history", err)
	}
	if file := s.In.String("workflow"); file != filepath.Base(file) && file != "" {
		refuse("--workflow", fmt.Errorf("%q is no file name: write it without its folder, such as nightly.yml", file))
	} else if w.schedule, err = readCrons(s.Root(), file); err != nil {
		refuse("--workflow", err)
	}
	if w.labels, err = parseLabels(s.In.String("runner-labels-json")); err != nil {
		refuse("--runner-labels-json", err)
	}
	if s.In.Duration("max-age") <= 0 {
		refuse("--max-age", errors.New("must be above 0"))
	}
	if w.nights < 1 || w.nights > 1000 {
		refuse("--nights", errors.New("must lie between 1 and 1000"))
	}
	return w, problems
}

// local finds what the history shows.
func (w *watcher) local() (found strict.Problems) {
	for i := range w.matrix.Entries {
		e := &w.matrix.Entries[i]
		if p := age(e.Name, w.record.entry(e.Name), w.Now(), w.In.Duration("max-age"), w.schedule); p != nil {
			found = append(found, *p)
		}
		rec, err := recipe.Load(w.Path(e.Recipe))
		if err != nil {
			found = append(found, finding(RuleVanished, e.Name, "mend the recipe", "its recipe cannot be read, so its cells are not known: %s", step.Problems(err)[0].Error()))
			continue
		}
		found = append(found, w.record.vanished(e, rec, w.nights)...)
	}
	found = append(found, w.record.gates(w.baselines, w.nights)...)
	return append(found, w.record.excursions().Sort()...)
}

// github finds what only GitHub knows, where it was asked for.
func (w *watcher) github(ctx context.Context, found *strict.Problems) (unseen strict.Problems, err error) {
	if w.In.String("workflow") == "" && !w.In.Bool("check-runners") {
		return nil, nil
	}
	options := ghapi.FromEnvironment(w.Getenv)
	if token := ghapi.TokenFrom(w.Getenv); token != "" {
		w.Mask(token)
	}
	options.Note = func(text string) { w.Say("%s", text) }
	repo, err := options.Find(w.In.String("github-repo"), gitrepo.At(w.Root()).RemoteURL("origin"))
	if err != nil {
		return nil, err
	}
	client, err := ghapi.New(options)
	if err != nil {
		return nil, err
	}
	if file := w.In.String("workflow"); file != "" {
		flow, err := client.Workflow(ctx, repo, file)
		if err != nil {
			return nil, err
		}
		if p := workflowState(flow); p != nil {
			*found = append(*found, *p)
		}
		runs, err := client.WorkflowRuns(ctx, repo, file)
		if err != nil {
			return nil, err
		}
		*found = append(*found, workflowRuns(runs, w.record, w.Now())...)
	}
	if w.In.Bool("check-runners") {
		fleet, err := client.Fleet(ctx, repo)
		if err != nil {
			return nil, err
		}
		more, hidden := runners(fleet, w.labels)
		*found = append(*found, more...)
		unseen = hidden
	}
	return unseen, nil
}

// doc tells when each entry was last measured.
func (w *watcher) doc() any {
	type entry struct {
		Entry string `json:"entry"`
		// LastMeasured is null where the entry never was.
		LastMeasured *string `json:"last_measured"`
	}
	entries := []entry{}
	for _, e := range w.matrix.Entries {
		one := entry{Entry: e.Name}
		if at := w.record.entry(e.Name); !at.IsZero() {
			one.LastMeasured = new(at.UTC().Format(time.RFC3339))
		}
		entries = append(entries, one)
	}
	return struct {
		Entries []entry `json:"entries"`
		Nights  int     `json:"nights"`
	}{entries, len(w.record.nights)}
}

func historyProblem(err error) strict.Problem {
	var p strict.Problem
	if errors.As(err, &p) {
		return p
	}
	return strict.Problem{Field: "--history", Message: err.Error()}
}

// selfTest finds an entry that is a week old, and lets one of yesterday pass.
func selfTest(context.Context, *step.Step) error {
	now := time.Date(2031, 3, 10, 9, 0, 0, 0, time.UTC)
	for hours, want := range map[int]bool{24: false, 168: true} {
		p := age("e", now.Add(-time.Duration(hours)*time.Hour), now, 36*time.Hour, nil)
		if (p != nil) != want {
			return fmt.Errorf("a night %d hours old: got finding %v, want %v", hours, p != nil, want)
		}
	}
	return nil
}
