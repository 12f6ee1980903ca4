// Nightly-watch says when the night did not happen: nothing measured, a schedule that is off, runners gone, gates that never ran.
//
// Usage:
//
//	nightly-watch [--matrix FILE] --history HISTORY [--history-lane LANE] [--baselines FILE]
//	    [--max-age D] [--nights K] [--workflow FILE] [--check-runners]
//	    [--runner-labels-json JSON] [--github-repo OWNER/NAME]
//
// Run it on another schedule than the night's, on a runner that GitHub hosts:
//
//	nightly-watch --history branch:ci-results --workflow nightly.yml --check-runners
//
// Findings, exit status 1:
//
//	stale               an entry was not measured for longer than --max-age, although one was due
//	schedule            the workflow is off
//	nothing-measured    scheduled runs ended, red or green, and left nothing in the history
//	waiting-for-runner  a run has waited for a runner for more than an hour
//	runner              no runner has the labels, or all that have are offline
//	vanished            a cell of a recipe is missing from the last nights, others of it are not
//	gate-not-evaluated  a bound of the baselines file was not held in the last nights
//	excursion-rate      a gate was saved by its confirming run more than twice in 14 nights
//	future              a night lies in the future: a clock is wrong
//
// Only nights that the schedule started count, itself or through the workflow it follows. Where the
// workflow file of the checkout has a cron, a night is due by that: a Friday's is fresh on Monday
// where there is none at the weekend. GitHub is asked with the token in GITHUB_TOKEN or GH_TOKEN.
//
// Exit status 3: runners may exist that the token cannot see.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--matrix FILE
//	    The entries to run, from the repository's root. Default:
//	    config/ci/nightly_eval_matrix.yaml. [INPUT_MATRIX]
//	--history HISTORY
//	    The record of the nights: a folder, from the repository's root, or branch:NAME of its
//	    remote. Required. [INPUT_HISTORY]
//	--history-lane LANE
//	    The lane of the history whose nights count. Default: gate. [INPUT_HISTORY_LANE]
//	--baselines FILE
//	    The bounds that nights should hold; absent, none are looked for. Default:
//	    config/ci/regression_baselines.yaml. [INPUT_BASELINES]
//	--max-age D
//	    How old the last measured night of an entry may be. Default: 36h. [INPUT_MAX_AGE]
//	--nights K
//	    For how many nights in a row a cell may be missing, or a gate not be evaluated. Default:
//	    3. [INPUT_NIGHTS]
//	--workflow FILE
//	    The file name of the nightly workflow, such as nightly.yml: its schedule says when a
//	    night is due, and GitHub is asked for its state and runs. [INPUT_WORKFLOW]
//	--check-runners
//	    Asks GitHub whether a runner can take the night. [INPUT_CHECK_RUNNERS]
//	--runner-labels-json JSON
//	    The labels of that runner, as a JSON list. Default: ["self-hosted","gpu"].
//	    [INPUT_RUNNER_LABELS_JSON]
//	--github-repo OWNER/NAME
//	    The repository; left out, it is that of the remote origin, or of the job.
//	    [INPUT_GITHUB_REPO]
//	-h, -help
//	    Print this manual.
//	--version
//	    Print the version.
//	--self-test
//	    Prove offline, without hardware and in under a second, that the binary works here.
//	--describe
//	    Print the tables of this manual as JSON.
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

	"github.com/gatehouse-ci/gatehouse/pkg/gate/watch"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(watch.Run)) }
