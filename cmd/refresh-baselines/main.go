// Refresh-baselines derives bounds from a window of nights, or from one run, and writes them into the baselines file.
//
// Usage:
//
//	refresh-baselines --from SOURCE [--history HISTORY] [--history-lane LANE] [--nights N]
//	    [--perf-gate] [--perf-gate-entry ENTRY]... [--perf-gate-metric METRIC]... [--rule RULE]
//	    [--step-time-margin SHARE] [--throughput-margin SHARE] [--margin SHARE] [--matrix FILE]
//	    [--baselines FILE] [--out FILE] [--command TEMPLATE] [--work-dir DIR] [--gpus N]
//	    [--lane FILE#JOB] [--lanes FILE] [--docker-socket] [--report FILE] [--reason TEXT]
//	    [--prune] [--open-pr] [--github-repo OWNER/NAME] [--dry-run]
//
// From a window, the usual way:
//
//	refresh-baselines --from window --history branch:ci-results --dry-run
//	refresh-baselines --from window --history branch:ci-results --perf-gate-entry serve_smoke
//
// Each cell's last ten scheduled nights on one stack are looked at, metric by metric: may they bear
// a bound, which, and what will it see? The report shows all of it. The first bless of a cell arms
// what an excursion before the first token cannot reach; --perf-gate-metric promotes others on their
// own evidence. A gate that is armed already is derived anew. Beside each bound stands where it comes
// from: the rule, the margin, the stack, and each night with the digest of its file.
//
// From a run, as the reference does it:
//
//	refresh-baselines --from run                          # correctness only, bounds are carried over
//	refresh-baselines --from run --perf-gate --perf-gate-entry serve_smoke
//
// The matrix runs once. Nothing is written unless every entry that can run here came to a whole
// result; an entry that cannot run keeps its keys, and is an error where it was named. A bound that
// the run cannot derive is never removed by it.
//
// Either way, the file is changed key by key: comments, order and all other bytes stay. required and
// other keys of a bound stay. What guards less afterwards (a looser bound, another checksum, a lost
// key) is refused without --reason. Past a tenth beyond the level first blessed, the reason must say
// accept-regression. Keys of entries or cells that are gone are told, and only --prune removes them.
//
// Exit status 1: something was refused for want of a reason. 3: an entry that was named cannot run
// here. 4: the run was not whole, or there is no window for what was named.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--from SOURCE
//	    window derives from the nights of the history; run runs the matrix now and derives from
//	    that. One of window, run. Required. [INPUT_FROM]
//	--history HISTORY
//	    The record of the nights: a folder, from the repository's root, or branch:NAME of its
//	    remote. [INPUT_HISTORY]
//	--history-lane LANE
//	    The lane of the history whose nights count. Default: gate. [INPUT_HISTORY_LANE]
//	--nights N
//	    The length of the window, 5 at least. Default: 10. [INPUT_NIGHTS]
//	--perf-gate
//	    With --from run: also derives bounds on speed, not only correctness. A window always
//	    does. [INPUT_PERF_GATE]
//	--perf-gate-entry ENTRY
//	    Derives for this entry and no other; names may also be separated by commas or blanks.
//	    May be repeated. [INPUT_PERF_GATE_ENTRY]
//	--perf-gate-metric METRIC
//	    From a window: arms this metric too where the window can bear it, although it is exposed
//	    to excursions. From a run: derives this metric and no other. Names may also be separated
//	    by commas or blanks; step_time_ms.max is the step time. May be repeated.
//	    [INPUT_PERF_GATE_METRIC]
//	--rule RULE
//	    How a window gives a bound: its worst night with the margins below, or the worst night
//	    that is no excursion with --margin. One of extremum, screened. Default: extremum.
//	    [INPUT_RULE]
//	--step-time-margin SHARE
//	    The headroom of ceilings, the step time among them: 0.25 is a quarter over what was
//	    measured. Default: 0.25. [INPUT_STEP_TIME_MARGIN]
//	--throughput-margin SHARE
//	    The headroom of floors, below 1. Default: 0.15. [INPUT_THROUGHPUT_MARGIN]
//	--margin SHARE
//	    The headroom under --rule screened. Default: 0.10. [INPUT_MARGIN]
//	--matrix FILE
//	    The entries to run, from the repository's root. Default:
//	    config/ci/nightly_eval_matrix.yaml. [INPUT_MATRIX]
//	--baselines FILE
//	    The file whose keys are carried over, from the repository's root; absent, it is begun.
//	    Default: config/ci/regression_baselines.yaml. [INPUT_BASELINES]
//	--out FILE
//	    Where to write, in place of the baselines file. [INPUT_OUT]
//	--command TEMPLATE
//	    What runs the entries that serve-cell does not. Split into arguments once, never seen by
//	    a shell; {recipe}, {dir} and {entry} are put in argument by argument. Default: aorta
//	    sweep run --recipe {recipe} --output-dir {dir} --strict. [INPUT_COMMAND]
//	--work-dir DIR
//	    Where entries leave their output; an entry's folder below it is emptied before it runs.
//	    Default: .refresh-baselines. [INPUT_WORK_DIR]
//	--gpus N
//	    The number of GPUs, in place of counting them. [INPUT_GPUS]
//	--lane FILE#JOB
//	    The socket lane that this job claims to be: the workflow that the event starts and its
//	    job, such as nightly-eval.yml#eval. [INPUT_LANE]
//	--lanes FILE
//	    The list of socket lanes, a file of the repository. In a job it is read from the default
//	    branch as fetched, not from the checkout. Default: config/ci/socket_lanes.yaml.
//	    [INPUT_LANES]
//	--docker-socket
//	    Asks for the Docker daemon's socket. In a job the lane must be signed off for it;
//	    outside a job, by hand, this flag is the operator's own grant. [INPUT_DOCKER_SOCKET]
//	--report FILE
//	    Writes the report, the pull request's text, to this file. [INPUT_REPORT]
//	--reason TEXT
//	    Why gates are loosened, changed or lost; without it they are not. It is written beside
//	    them. [INPUT_REASON]
//	--prune
//	    Removes the keys of entries and cells that are no longer there. They are kept and told
//	    otherwise. [INPUT_PRUNE]
//	--open-pr
//	    Opens a pull request with the changed file, by the API, with the token in GITHUB_TOKEN
//	    or GH_TOKEN. [INPUT_OPEN_PR]
//	--github-repo OWNER/NAME
//	    The repository to open the pull request in; left out, it is that of the remote origin,
//	    or of the job. [INPUT_GITHUB_REPO]
//	--dry-run
//	    Tells what would change and writes nothing but the report. [INPUT_DRY_RUN]
//	-h, -help
//	    Print this manual.
//	--version
//	    Print the version.
//	--self-test
//	    Prove offline, without hardware and in under a second, that the binary works here.
//	--describe
//	    Print the tables of this manual as JSON.
//
// Outputs of the step, in a job:
//
//	changed
//	    true where the baselines file was changed, else false.
//	report
//	    The path of the report, where one was asked for.
//	pull-request
//	    The address of the pull request, where one was opened.
//
// Exit status:
//
//	0  done, or pass
//	1  a negative result: a regression, a finding, a failed cell, an invalid file
//	2  bad usage or unreadable input
//	3  could not run: something needed is not there
//	4  no verdict: it ran, and nothing can be concluded
//
// Standard output carries one JSON document; text for people goes to standard error.
package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/bless"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(bless.Refresh)) }
