package bless

import (
	"context"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The inputs that both doors of this package have.
var (
	historyInput = step.Input{Name: "history", Kind: step.String, Arg: "HISTORY", Help: "The record of the nights: a folder, from the repository's root, or branch:NAME of its remote."}
	laneInput    = step.Input{Name: "history-lane", Kind: step.String, Arg: "LANE", Default: "gate", Help: "The lane of the history whose nights count."}
)

const defaultBaselines = "config/ci/regression_baselines.yaml"

var refreshDoor = step.Door{
	Name:    "refresh-baselines",
	Summary: "derives bounds from a window of nights, or from one run, and writes them into the baselines file",
	Manual:  refreshManual,
	Needs:   []string{"serve-cell"},
	Inputs: []step.Input{
		{Name: "from", Kind: step.Choice, Choices: []string{"window", "run"}, Arg: "SOURCE", Required: true, Help: "window derives from the nights of the history; run runs the matrix now and derives from that."},
		historyInput,
		laneInput,
		{Name: "nights", Kind: step.Int, Arg: "N", Default: "10", Help: "The length of the window, 5 at least."},
		{Name: "perf-gate", Kind: step.Bool, Help: "With --from run: also derives bounds on speed, not only correctness. A window always does."},
		{Name: "perf-gate-entry", Kind: step.List, Arg: "ENTRY", Help: "Derives for this entry and no other; names may also be separated by commas or blanks."},
		{Name: "perf-gate-metric", Kind: step.List, Arg: "METRIC", Help: "From a window: arms this metric too where the window can bear it, although it is exposed to excursions. From a run: derives this metric and no other. Names may also be separated by commas or blanks; step_time_ms.max is the step time."},
		{Name: "rule", Kind: step.Choice, Choices: []string{string(window.Extremum), string(window.Screened)}, Arg: "RULE", Default: string(window.Extremum), Help: "How a window gives a bound: its worst night with the margins below, or the worst night that is no excursion with --margin."},
		{Name: "step-time-margin", Kind: step.Float, Arg: "SHARE", Default: "0.25", Help: "The headroom of ceilings, the step time among them: 0.25 is a quarter over what was measured."},
		{Name: "throughput-margin", Kind: step.Float, Arg: "SHARE", Default: "0.15", Help: "The headroom of floors, below 1."},
		{Name: "margin", Kind: step.Float, Arg: "SHARE", Default: "0.10", Help: "The headroom under --rule screened."},
		night.MatrixInput,
		{Name: "baselines", Kind: step.Path, Arg: "FILE", Default: defaultBaselines, Help: "The file whose keys are carried over, from the repository's root; absent, it is begun."},
		{Name: "out", Kind: step.Path, Arg: "FILE", Help: "Where to write, in place of the baselines file."},
		night.CommandInput,
		{Name: "work-dir", Kind: step.Path, Arg: "DIR", Default: ".refresh-baselines", Help: "Where entries leave their output; an entry's folder below it is emptied before it runs."},
		night.GPUsInput,
		night.LaneInput,
		night.LanesInput,
		night.SocketInput,
		{Name: "report", Kind: step.Path, Arg: "FILE", Help: "Writes the report, the pull request's text, to this file."},
		{Name: "reason", Kind: step.String, Arg: "TEXT", Help: "Why gates are loosened, changed or lost; without it they are not. It is written beside them."},
		{Name: "prune", Kind: step.Bool, Help: "Removes the keys of entries and cells that are no longer there. They are kept and told otherwise."},
		{Name: "open-pr", Kind: step.Bool, Help: "Opens a pull request with the changed file, by the API, with the token in GITHUB_TOKEN or GH_TOKEN."},
		{Name: "github-repo", Kind: step.String, Arg: "OWNER/NAME", Help: "The repository to open the pull request in; left out, it is that of the remote origin, or of the job."},
		{Name: "dry-run", Kind: step.Bool, Help: "Tells what would change and writes nothing but the report."},
	},
	Outputs: []step.Output{
		{Name: "changed", Help: "true where the baselines file was changed, else false."},
		{Name: "report", Help: "The path of the report, where one was asked for."},
		{Name: "pull-request", Help: "The address of the pull request, where one was opened."},
	},
	SelfTest: selfTest,
}

const refreshManual = `
From a window, the usual way:

    refresh-baselines --from window --history branch:ci-results --dry-run
    refresh-baselines --from window --history branch:ci-results --perf-gate-entry serve_smoke

Each cell's last ten scheduled nights on one stack are looked at, metric by metric: may they bear
a bound, which, and what will it see? The report shows all of it. The first bless of a cell arms
what an excursion before the first token cannot reach; --perf-gate-metric promotes others on their
own evidence. A gate that is armed already is derived anew. Beside each bound stands where it comes
from: the rule, the margin, the stack, and each night with the digest of its file.

From a run, as the reference does it:

    refresh-baselines --from run                          # correctness only, bounds are carried over
    refresh-baselines --from run --perf-gate --perf-gate-entry serve_smoke

The matrix runs once. Nothing is written unless every entry that can run here came to a whole
result; an entry that cannot run keeps its keys, and is an error where it was named. A bound that
the run cannot derive is never removed by it.

Either way, the file is changed key by key: comments, order and all other bytes stay. required and
other keys of a bound stay. What guards less afterwards (a looser bound, another checksum, a lost
key) is refused without --reason. Past a tenth beyond the level first blessed, the reason must say
accept-regression. Keys of entries or cells that are gone are told, and only --prune removes them.

Exit status 1: something was refused for want of a reason. 3: an entry that was named cannot run
here. 4: the run was not whole, or there is no window for what was named.
`

// Refresh is the door of refresh-baselines.
func Refresh(ctx context.Context, p step.Proc) int { return refreshDoor.Run(ctx, p, refresh) }

func refresh(ctx context.Context, s *step.Step) int {
	r, problems := newRefresher(s)
	if s.In.String("from") == "run" {
		return r.fromRun(ctx, problems)
	}
	return r.fromWindow(ctx, problems)
}

func usage(field, hint, message string) strict.Problem {
	return strict.Problem{Field: field, Message: message, Hint: hint}
}
