// History-publish appends a night's results to the history without losing a concurrent one.
//
// Usage:
//
//	history-publish [FILE]... --history H [--import DIR] [--event EVENT] [--prune N]
//
// A history holds one small file for each attempt of a run, named by the UTC day it started on, its
// number, its attempt and its lane:
//
//	runs/2026/09/08/17203344551-1-gate.json
//
// The file is the night's results and the digests of the results files it was made of. It is never
// changed: publishing the same run again changes nothing, and publishing another one under its name is
// refused. Publish after every night, also after one that failed:
//
//	nightly-eval || status=$?
//	history-publish nightly-results.json --history branch:perf-history
//	exit ${status:-0}
//
// Where machines shared the night, the last job publishes what all of them left:
//
//	history-publish out/*/nightly-results.json --history branch:perf-history
//
// On a branch every publication is one commit on the tip, pushed as a fast-forward. When another
// publisher was quicker, the commit is made again on the new tip and pushed after a pause of random
// length; nothing is ever forced. The work tree, the index and the refs of the checkout are not
// touched. Its credentials are used, and the job needs contents: write.
//
// Results of the reference tool (results/2026-09-08.json) do not say what started their run. Whoever
// imports them states it and answers for it, since only scheduled nights bear witness for a bound. The
// versions in their build block are taken for their stack.
//
//	history-publish --import results --event schedule --history branch:perf-history
//
// A history grows until it is pruned. A bound whose nights were pruned can no longer be derived again,
// so keep more nights than the oldest bound in use.
//
//	history-publish --prune 400 --history branch:perf-history
//
// A run file that cannot be read, is cut short or holds a merge marker stops every program that reads
// the history, with its name and the offset. It is never overwritten: restore it from where it was
// published, or remove it knowingly. A history counts as new only where its folder or branch does not
// exist.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--results FILE
//	    A results file of nightly-eval. Several are merged into one night: those of the machines
//	    that shared it. May be repeated. [INPUT_RESULTS]
//	--history H
//	    A folder, from the repository's root, or branch:NAME of the checkout's remote. One that
//	    does not exist yet is begun. Required. [INPUT_HISTORY]
//	--import DIR
//	    Publishes every results file (*.json) of the reference tool in this folder, each as a
//	    night of its own. [INPUT_IMPORT]
//	--event EVENT
//	    What started the runs whose files do not say: schedule, workflow_dispatch, or a word of
//	    your own. Required with --import. [INPUT_EVENT]
//	--prune N
//	    Takes out all but the newest N run files, and says which went. [INPUT_PRUNE]
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
//	runs
//	    The run files that are in the history now by this step, separated by spaces.
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

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(history.Run)) }
