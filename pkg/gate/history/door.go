package history

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var door = step.Door{
	Name:    "history-publish",
	Summary: "appends a night's results to the history without losing a concurrent one",
	Manual:  manual,
	Inputs: []step.Input{
		{Name: "results", Kind: step.List, Arg: "FILE", Positional: true, Help: "A results file of nightly-eval. Several are merged into one night: those of the machines that shared it."},
		{Name: "history", Kind: step.String, Arg: "H", Required: true, Help: "A folder, from the repository's root, or branch:NAME of the checkout's remote. One that does not exist yet is begun."},
		{Name: "import", Kind: step.Path, Arg: "DIR", Help: "Publishes every results file (*.json) of the reference tool in this folder, each as a night of its own."},
		{Name: "event", Kind: step.String, Arg: "EVENT", Help: "What started the runs whose files do not say: schedule, workflow_dispatch, or a word of your own. Required with --import."},
		{Name: "prune", Kind: step.Int, Arg: "N", Help: "Takes out all but the newest N run files, and says which went."},
	},
	Outputs: []step.Output{
		{Name: "runs", Help: "The run files that are in the history now by this step, separated by spaces."},
	},
	SelfTest: selfTest,
}

const manual = `
A history holds one small file for each attempt of a run, named by the UTC day it started on, its
number, its attempt and its lane:

    runs/2026/09/08/17203344551-1-gate.json

The file is the night's results and the digests of the results files it was made of. It is never
changed: publishing the same run again changes nothing, and publishing another one under its name is
refused. Publish after every night, also after one that failed:

    nightly-eval || status=$?
    history-publish nightly-results.json --history branch:perf-history
    exit ${status:-0}

Where machines shared the night, the last job publishes what all of them left:

    history-publish out/*/nightly-results.json --history branch:perf-history

On a branch every publication is one commit on the tip, pushed as a fast-forward. When another
publisher was quicker, the commit is made again on the new tip and pushed after a pause of random
length; nothing is ever forced. The work tree, the index and the refs of the checkout are not
touched. Its credentials are used, and the job needs contents: write.

Results of the reference tool (results/2026-09-08.json) do not say what started their run. Whoever
imports them states it and answers for it, since only scheduled nights bear witness for a bound. The
versions in their build block are taken for their stack.

    history-publish --import results --event schedule --history branch:perf-history

A history grows until it is pruned. A bound whose nights were pruned can no longer be derived again,
so keep more nights than the oldest bound in use.

    history-publish --prune 400 --history branch:perf-history

A run file that cannot be read, is cut short or holds a merge marker stops every program that reads
the history, with its name and the offset. It is never overwritten: restore it from where it was
published, or remove it knowingly. A history counts as new only where its folder or branch does not
exist.`

// Run is the door of history-publish.
func Run(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }

func run(ctx context.Context, s *step.Step) int {
	h, problems := inputs(s)
	if len(problems) > 0 {
		return s.Finish(step.Usage, nil, problems...)
	}
	if s.In.Given("prune") {
		return prune(ctx, s, h)
	}
	runs, problems := read(s)
	if len(problems) > 0 {
		return s.Finish(step.Usage, nil, problems...)
	}
	return publish(ctx, s, h, runs)
}

// inputs checks what was asked for, and opens the history.
func inputs(s *step.Step) (*History, strict.Problems) {
	var problems strict.Problems
	refuse := func(field, hint, message string) {
		problems = append(problems, strict.Problem{Field: field, Message: message, Hint: hint})
	}
	given := 0
	for _, name := range []string{"results", "import", "prune"} {
		if s.In.Given(name) {
			given++
		}
	}
	if given != 1 {
		refuse("--results", "name results files, or a folder with --import, or a number with --prune", "one of --results, --import and --prune is needed, and no more than one")
	}
	if s.In.Given("import") && !s.In.Given("event") {
		refuse("--event", "say --event schedule where all of these nights were scheduled; import others from another folder", "is needed with --import: the files do not say what started their runs")
	}
	if s.In.Given("prune") && s.In.Int("prune") < 1 {
		refuse("--prune", "", "must keep 1 run or more")
	}
	h, err := Open(s.Root(), s.In.String("history"))
	if err != nil {
		refuse("--history", "name a folder, or branch:NAME", err.Error())
	}
	return h, problems
}

// read reads the files that are to be published, and tells everything that is wrong with them at once.
func read(s *step.Step) ([]*Attempt, strict.Problems) {
	paths := s.In.List("results")
	for i := range paths {
		paths[i] = s.Path(paths[i])
	}
	if s.In.Given("import") {
		var err error
		dir := s.Path(s.In.String("import"))
		if paths, err = filepath.Glob(filepath.Join(escape(dir), "*.json")); err != nil || len(paths) == 0 {
			return nil, strict.Problems{{Path: dir, Message: "holds no results file (*.json)", Hint: "name the folder that the reference calls results"}}
		}
	}
	var problems strict.Problems
	var docs []Document
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, strict.Problem{Path: path, Message: "cannot be read: " + err.Error()})
		}
		docs = append(docs, Document{path, data})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if !s.In.Given("import") {
		r, err := FromResults(s.In.String("event"), docs...)
		if err != nil {
			return nil, step.Problems(err)
		}
		return []*Attempt{r}, nil
	}
	runs := make([]*Attempt, len(docs))
	for i, d := range docs {
		var err error
		if runs[i], err = Import(s.In.String("event"), d); err != nil {
			problems = append(problems, step.Problems(err)...)
		}
	}
	return runs, problems
}

// escape keeps a folder's name from being read as a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func publish(ctx context.Context, s *step.Step, h *History, runs []*Attempt) int {
	done, err := h.Publish(ctx, runs...)
	if err != nil {
		return s.Finish(status(err), nil, step.Problems(err)...)
	}
	var names []string
	for i, d := range done {
		names = append(names, d.Path)
		word := "published"
		if d.There {
			word = "already there"
		}
		s.Say("%s: %s, %s", join(h.String(), d.Path), word, runs[i].Summary)
		if !runs[i].Complete {
			s.Warn(strict.Problem{Path: join(h.String(), d.Path), Message: "the night did not come to its end; what it measured until then is published"})
		}
	}
	s.Output("runs", strings.Join(names, " "))
	return s.Done(struct {
		History string      `json:"history"`
		Runs    []Published `json:"runs"`
	}{h.String(), done})
}

// status tells what the operator can mend in the files from what keeps a sound history from being reached.
func status(err error) int {
	if p := step.Problems(err); p[0].Path != "" {
		return step.Usage
	}
	return step.CouldNotRun
}

func prune(ctx context.Context, s *step.Step, h *History) int {
	gone, err := h.Prune(ctx, s.In.Int("prune"))
	if err != nil {
		return s.Finish(status(err), nil, step.Problems(err)...)
	}
	for _, path := range gone {
		s.Say("%s: taken out", join(h.String(), path))
	}
	s.Say("%s went", count(len(gone), "run"))
	return s.Done(struct {
		History string   `json:"history"`
		Pruned  []string `json:"pruned"`
	}{h.String(), append([]string{}, gone...)})
}
