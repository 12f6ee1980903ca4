package night

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The inputs of every door that runs entries.
var (
	MatrixInput  = step.Input{Name: "matrix", Kind: step.Path, Arg: "FILE", Default: "config/ci/nightly_eval_matrix.yaml", Help: "The entries to run, from the repository's root."}
	CommandInput = step.Input{Name: "command", Kind: step.String, Arg: "TEMPLATE", Default: defaultCommand, Help: "What runs the entries that serve-cell does not. Split into arguments once, never seen by a shell; {recipe}, {dir} and {entry} are put in argument by argument."}
	LaneInput    = grant.LaneInput
	LanesInput   = grant.LanesInput
	GPUsInput    = step.Input{Name: "gpus", Kind: step.Int, Arg: "N", Help: "The number of GPUs, in place of counting them."}
	SocketInput  = grant.SocketInput
)

var door = step.Door{
	Name:    "nightly-eval",
	Summary: "runs the nightly matrix, judges every cell against its baseline, writes the results",
	Manual:  manual,
	Needs:   []string{"serve-cell"},
	Inputs: []step.Input{
		MatrixInput,
		{Name: "baselines", Kind: step.Path, Arg: "FILE", Default: "config/ci/regression_baselines.yaml", Help: "The blessed bounds, from the repository's root. An absent file is an error, for a night without bounds guards nothing; see --record-only."},
		{Name: "record-only", Kind: step.Bool, Help: "Measure and record; no baselines are read and nothing fails on a number."},
		CommandInput,
		{Name: "out", Kind: step.Path, Arg: "FILE", Default: "nightly-results.json", Help: "The results file, from the repository's root; written anew after every entry."},
		{Name: "summary", Kind: step.Path, Arg: "FILE", Help: "Also write the job summary's Markdown to this file."},
		{Name: "work-dir", Kind: step.Path, Arg: "DIR", Default: ".nightly-eval", Help: "Where entries leave their output; an entry's folder below it is emptied before it runs."},
		{Name: "entry", Kind: step.List, Arg: "NAME", Help: "Run this entry and not the others."},
		LaneInput,
		LanesInput,
		GPUsInput,
		SocketInput,
		{Name: "no-confirm", Kind: step.Bool, Help: "Measure every entry once: the first breach fails, and a disqualified run is no verdict."},
	},
	Outputs: []step.Output{
		{Name: "results", Help: "The path of the results file."},
		{Name: "verdict", Help: "The night's verdict: pass, fail or no_verdict."},
	},
	SelfTest: selfTest,
}

const manual = `
The matrix lists what the night runs, each entry a recipe:

    version: 1
    entries:
      - name: serve_smoke              # letters, digits, _ . -
        recipe: recipes/serve-smoke.yaml
        min_gpus: 1                    # fewer GPUs skip it; 0 needs none; left out it is nproc, else 1
        timeout_sec: 3600              # wall clock of the entry; left out it is 1800
        needs_docker_daemon: true      # without the grant or a daemon the entry is skipped; left out it needs none
      - name: training_ddp
        recipe: recipes/training-ddp.yaml
        nproc: 2                       # start the command under torchrun, two processes
    pending_entries:                   # checked, never run
      - {name: serve_load, recipe: recipes/serve-load.yaml, blocked_on: a runner with two GPUs}

A recipe says what to measure, cell by cell:

    schema_version: 1
    workload: tokenspeed_serve
    trials: 1
    steps: 3
    workload_config: {model: Qwen/Qwen3-0.6B, input_len: 512, output_len: 128, max_concurrency: 8}
    cells:
      - {name: baseline, mitigations: [none], environment: local}

To add an entry, write its recipe, name it in the matrix, and try both before they are merged:

    serve-cell --dry-run --recipe recipes/serve-smoke.yaml --output-dir out/try
    nightly-eval --entry serve_smoke --record-only

A recipe of the workload tokenspeed_serve is run by serve-cell, found beside nightly-eval or on
PATH; any other by --command, from the repository's root. Either leaves a matrix.json somewhere
below the folder it is given, with the recipe's cells in it. This much of one is enough:

    {"cells": [{"name": "baseline", "passed_count": 1, "failed_count": 0, "error": null,
        "mean_step_time_ms": 12.5, "metrics_summary": {"latency_ms": {"mean": 3.1}}}]}

The counts are of trials: a cell of which none passed, or one failed, has failed. error says why a
cell did not run to its end. The step time and the metrics are what bounds can be put on. A command
of your own is given the recipe's path and that folder:

    nightly-eval --command './measure.sh {recipe} {dir}'

From then on each cell is recorded. It is guarded as soon as the baselines file has a key for it.
The file must be there from the first night on; without keys its second line is "baselines: {}".

    version: 1
    baselines:
      serve_smoke::baseline:           # entry::cell
        passed: true
        metrics:
          median_tpot_ms: {policy: max, value: 2.3922}

An entry that needs the Docker daemon runs where --docker-socket is given and, in a job, the lane is
signed off for it in the list of the default branch; everywhere else it is skipped and says why.

Verdicts: pass; fail; record (ran clean, no key); skip (GPUs or daemon missing); no_verdict (ran,
or should have run, and nothing can be concluded: a cell of the recipe is missing, the load
generator was the limit, a command failed although its cells look clean). A pass that lists no
gated bound is recording, not guarded.

A broken bound is measured a second time: the entry runs once more within its own time limit. A
bound that is broken twice fails. One that is not is an excursion: the cell passes, and both runs
are in the results. A failed cell, a missing metric or a wrong checksum fails at once. A cell that
took its measurement back (client_limited, load_not_delivered) is also measured once more, and the
second run counts.

Exit status 1 is a failed cell or entry. 4 is a night without a failure in which something came to
no verdict, or in which nothing ran at all. Skipped entries beside others that ran are fine.`

// Run is the door of nightly-eval.
func Run(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }

func run(ctx context.Context, s *step.Step) int {
	n, problems := newNight(s)
	if lost := n.overwritten(); len(lost) > 0 { // and so not even a refusal may be written there
		return s.Finish(step.Usage, nil, append(lost, problems...)...)
	}
	if len(problems) > 0 {
		n.refused(problems)
		return s.Finish(step.Usage, nil, problems...)
	}
	if err := n.save(); err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error(), Hint: "the results must be writable before anything is run; see --out"})
	}
	if err := n.run(ctx); err != nil {
		n.Text(textTable(n.results.Entries)) // what was measured is at least in the log
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error(), Hint: "free some space, or write to another place with --out"})
	}
	return n.finish()
}

// newNight reads everything that can be wrong before the first entry runs, and tells it all at once.
func newNight(s *step.Step) (*night, strict.Problems) {
	n := &night{Step: s, out: s.Path(s.In.String("out")), noConfirm: s.In.Bool("no-confirm")}
	problems := n.prepare()
	if n.matrix != nil {
		problems = append(problems, n.choose(s.In.List("entry"))...)
	}
	if !s.In.Bool("record-only") {
		path := s.Path(s.In.String("baselines"))
		var err error
		if n.baselines, err = baseline.Load(path); err != nil {
			problems = append(problems, absent(path, step.Problems(err))...)
		}
	}
	return n, append(problems, n.checkWorkDir()...)
}

// overwritten finds inputs that the results or the summary would be written over.
func (n *night) overwritten() strict.Problems {
	inputs := []string{n.Path(n.In.String("matrix")), n.Path(n.In.String("baselines"))}
	if n.matrix != nil {
		for _, e := range slices.Concat(n.matrix.Entries, n.matrix.Pending) {
			inputs = append(inputs, n.Path(e.Recipe))
		}
	}
	var problems strict.Problems
	for _, name := range []string{"out", "summary"} {
		path := n.Path(n.In.String(name))
		info, err := os.Stat(path)
		if err != nil || n.In.String(name) == "" {
			continue
		}
		if slices.ContainsFunc(inputs, func(input string) bool {
			other, err := os.Stat(input)
			return err == nil && os.SameFile(info, other)
		}) {
			problems = append(problems, strict.Problem{Path: path, Field: "--" + name, Message: "would be written over a file that the night reads", Hint: "name another file"})
		}
	}
	return problems
}

// prepare reads what running an entry takes: the matrix, the commands and the machine.
func (n *night) prepare() strict.Problems {
	n.begin()
	n.workDir = n.Path(n.In.String("work-dir"))
	var problems strict.Problems
	refuse := func(field, hint, message string) {
		problems = append(problems, strict.Problem{Field: field, Message: message, Hint: hint})
	}
	var err error
	if n.command, err = parseTemplate(n.In.String("command")); err != nil {
		refuse("--command", "see -help for the template", err.Error())
	}
	if n.In.Given("gpus") {
		if n.gpus = n.In.Int("gpus"); n.gpus < 0 {
			refuse("--gpus", "", "must not be negative")
		}
	} else {
		n.gpus = matrix.ThisMachine(n.Getenv).GPUs()
	}
	n.serveArgs = serveArgs(n.Step)
	if exe, err := os.Executable(); err == nil {
		n.beside = filepath.Dir(exe)
	}
	if n.matrix, err = matrix.Load(n.Root(), n.Path(n.In.String("matrix"))); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	return problems
}

// absent turns the refusal of a file that is not there into the choice it leaves.
func absent(path string, problems strict.Problems) strict.Problems {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return strict.Problems{{Path: path, Message: "the baselines file does not exist", Hint: "name it with --baselines, or begin one with the two lines \"version: 1\" and \"baselines: {}\"; --record-only measures without judging"}}
	}
	return problems
}

// choose keeps the entries that were asked for, all of them when none was.
func (n *night) choose(names []string) strict.Problems {
	n.entries = n.matrix.Entries
	if len(names) == 0 {
		return nil
	}
	var problems strict.Problems
	n.entries = nil
	for _, name := range names {
		if n.matrix.Entry(name) == nil {
			problems = append(problems, strict.Problem{
				Field: "--entry", Message: "the matrix has no entry named " + name,
				Hint: "its entries are " + strings.Join(n.matrix.Names(), ", "),
			})
		}
	}
	for _, e := range n.matrix.Entries {
		if slices.Contains(names, e.Name) {
			n.entries = append(n.entries, e)
		}
	}
	return problems
}

// serveArgs are the inputs that serve-cell obeys in our place.
func serveArgs(s *step.Step) []string {
	var args []string
	for _, name := range []string{"lane", "lanes"} {
		if s.In.Given(name) {
			args = append(args, "--"+name, s.In.String(name))
		}
	}
	if s.In.Bool("docker-socket") {
		args = append(args, "--docker-socket")
	}
	return args
}
