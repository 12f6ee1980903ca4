// Nightly-eval runs the nightly matrix, judges every cell against its baseline, writes the results.
//
// Usage:
//
//	nightly-eval [--matrix FILE] [--baselines FILE] [--record-only] [--command TEMPLATE]
//	    [--out FILE] [--summary FILE] [--work-dir DIR] [--entry NAME]... [--lane FILE#JOB]
//	    [--lanes FILE] [--gpus N] [--docker-socket] [--no-confirm]
//
// The matrix lists what the night runs, each entry a recipe:
//
//	version: 1
//	entries:
//	  - name: serve_smoke              # letters, digits, _ . -
//	    recipe: recipes/serve-smoke.yaml
//	    min_gpus: 1                    # fewer GPUs skip it; 0 needs none; left out it is nproc, else 1
//	    timeout_sec: 3600              # wall clock of the entry; left out it is 1800
//	    needs_docker_daemon: true      # without the grant or a daemon the entry is skipped; left out it needs none
//	  - name: training_ddp
//	    recipe: recipes/training-ddp.yaml
//	    nproc: 2                       # start the command under torchrun, two processes
//	pending_entries:                   # checked, never run
//	  - {name: serve_load, recipe: recipes/serve-load.yaml, blocked_on: a runner with two GPUs}
//
// A recipe says what to measure, cell by cell:
//
//	schema_version: 1
//	workload: tokenspeed_serve
//	trials: 1
//	steps: 3
//	workload_config: {model: Qwen/Qwen3-0.6B, input_len: 512, output_len: 128, max_concurrency: 8}
//	cells:
//	  - {name: baseline, mitigations: [none], environment: local}
//
// To add an entry, write its recipe, name it in the matrix, and try both before they are merged:
//
//	serve-cell --dry-run --recipe recipes/serve-smoke.yaml --output-dir out/try
//	nightly-eval --entry serve_smoke --record-only
//
// A recipe of the workload tokenspeed_serve is run by serve-cell, found beside nightly-eval or on
// PATH; any other by --command, from the repository's root. Either leaves a matrix.json somewhere
// below the folder it is given, with the recipe's cells in it. This much of one is enough:
//
//	{"cells": [{"name": "baseline", "passed_count": 1, "failed_count": 0, "error": null,
//	    "mean_step_time_ms": 12.5, "metrics_summary": {"latency_ms": {"mean": 3.1}}}]}
//
// The counts are of trials: a cell of which none passed, or one failed, has failed. error says why a
// cell did not run to its end. The step time and the metrics are what bounds can be put on. A command
// of your own is given the recipe's path and that folder:
//
//	nightly-eval --command './measure.sh {recipe} {dir}'
//
// From then on each cell is recorded. It is guarded as soon as the baselines file has a key for it.
// The file must be there from the first night on; without keys its second line is "baselines: {}".
//
//	version: 1
//	baselines:
//	  serve_smoke::baseline:           # entry::cell
//	    passed: true
//	    metrics:
//	      median_tpot_ms: {policy: max, value: 2.3922}
//
// An entry that needs the Docker daemon runs where --docker-socket is given and, in a job, the lane is
// signed off for it in the list of the default branch; everywhere else it is skipped and says why.
//
// Verdicts: pass; fail; record (ran clean, no key); skip (GPUs or daemon missing); no_verdict (ran,
// or should have run, and nothing can be concluded: a cell of the recipe is missing, the load
// generator was the limit, a command failed although its cells look clean). A pass that lists no
// gated bound is recording, not guarded.
//
// A broken bound is measured a second time: the entry runs once more within its own time limit. A
// bound that is broken twice fails. One that is not is an excursion: the cell passes, and both runs
// are in the results. A failed cell, a missing metric or a wrong checksum fails at once. A cell that
// took its measurement back (client_limited, load_not_delivered) is also measured once more, and the
// second run counts.
//
// Exit status 1 is a failed cell or entry. 4 is a night without a failure in which something came to
// no verdict, or in which nothing ran at all. Skipped entries beside others that ran are fine.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--matrix FILE
//	    The entries to run, from the repository's root. Default:
//	    config/ci/nightly_eval_matrix.yaml. [INPUT_MATRIX]
//	--baselines FILE
//	    The blessed bounds, from the repository's root. An absent file is an error, for a night
//	    without bounds guards nothing; see --record-only. Default:
//	    config/ci/regression_baselines.yaml. [INPUT_BASELINES]
//	--record-only
//	    Measure and record; no baselines are read and nothing fails on a number.
//	    [INPUT_RECORD_ONLY]
//	--command TEMPLATE
//	    What runs the entries that serve-cell does not. Split into arguments once, never seen by
//	    a shell; {recipe}, {dir} and {entry} are put in argument by argument. Default: aorta
//	    sweep run --recipe {recipe} --output-dir {dir} --strict. [INPUT_COMMAND]
//	--out FILE
//	    The results file, from the repository's root; written anew after every entry. Default:
//	    nightly-results.json. [INPUT_OUT]
//	--summary FILE
//	    Also write the job summary's Markdown to this file. [INPUT_SUMMARY]
//	--work-dir DIR
//	    Where entries leave their output; an entry's folder below it is emptied before it runs.
//	    Default: .nightly-eval. [INPUT_WORK_DIR]
//	--entry NAME
//	    Run this entry and not the others. May be repeated. [INPUT_ENTRY]
//	--lane FILE#JOB
//	    The socket lane that this job claims to be: the workflow that the event starts and its
//	    job, such as nightly-eval.yml#eval. [INPUT_LANE]
//	--lanes FILE
//	    The list of socket lanes, a file of the repository. In a job it is read from the default
//	    branch as fetched, not from the checkout. Default: config/ci/socket_lanes.yaml.
//	    [INPUT_LANES]
//	--gpus N
//	    The number of GPUs, in place of counting them. [INPUT_GPUS]
//	--docker-socket
//	    Asks for the Docker daemon's socket. In a job the lane must be signed off for it;
//	    outside a job, by hand, this flag is the operator's own grant. [INPUT_DOCKER_SOCKET]
//	--no-confirm
//	    Measure every entry once: the first breach fails, and a disqualified run is no verdict.
//	    [INPUT_NO_CONFIRM]
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
//	results
//	    The path of the results file.
//	verdict
//	    The night's verdict: pass, fail or no_verdict.
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

	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(night.Run)) }
