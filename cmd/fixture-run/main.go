// Fixture-run runs a latency fixture's command, keeps the raw log, and writes the result artifact.
//
// Usage:
//
//	fixture-run [MANIFEST] [FIXTURE_ID] [--from-log LOG] [--log-dir DIR] [--output FILE]
//	    [--status STATUS] [--timeout DURATION] [--metric-prefix WORD] [--quiet]
//
// The command of the fixture runs by /bin/sh at the top of the repository. All it prints goes, byte for
// byte, to a new raw log, and as text to standard error. Its metric lines
//
//	KILN_LATENCY_METRIC <metric> <value> <unit>
//
// make the artifact, together with the digests of the log, the source and the fixture, and with the
// state of the checkout. What can be known before is checked before the command runs: the fixture is
// complete, its source is there, its result has a canonical place, and git ignores the raw log.
//
//	fixture-run rocm_mi300x_matmul
//	fixture-run docs/backend-latency-fixtures.json rocm_mi300x_matmul --timeout 30m
//	fixture-run rocm_mi300x_matmul --from-log ~/captured.log --output /tmp/scratch.json
//
// With --from-log nothing runs: the artifact is made from a log that was captured before, with the
// checkout as it is now.
//
// The command has its own process group, which ends with the command, with --timeout, or with the step.
// Its standard input is empty. A log is never overwritten: a second one of the same second gets a number.
//
// An artifact says whether the checkout was clean. Changed and untracked files make it dirty, but not the
// results of the fixtures in this manifest: otherwise the first fixture's result would spoil the second's.
// Those that are passed over are listed.
//
// A value that is missing, has another unit, or cannot be read makes no artifact: that is no verdict
// (exit status 4), as are a time limit and a cancelled step. A command that fails is exit status 1. The log
// stays in every case.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--manifest MANIFEST
//	    The manifest of latency fixtures, from the top of the repository. Default:
//	    docs/backend-latency-fixtures.json. [INPUT_MANIFEST]
//	--fixture-id FIXTURE_ID
//	    The fixture to run. Given alone, it may stand without the manifest before it.
//	    [INPUT_FIXTURE_ID]
//	--from-log LOG
//	    Make the artifact from this log instead of running the command; from the working
//	    directory. [INPUT_FROM_LOG]
//	--log-dir DIR
//	    The folder for the raw log, from the top of the repository. Default:
//	    bench-results/backend-latency/raw. [INPUT_LOG_DIR]
//	--output FILE
//	    Where to write the artifact, from the top of the repository; the fixture's
//	    result_artifact when absent. [INPUT_OUTPUT]
//	--status STATUS
//	    The status to write. The strict gate wants passed. One of passed, failed. Default:
//	    passed. [INPUT_STATUS]
//	--timeout DURATION
//	    The time limit of the command; none when absent. [INPUT_TIMEOUT]
//	--metric-prefix WORD
//	    The word that metric lines of the raw log begin with. Default: KILN_LATENCY_METRIC.
//	    [INPUT_METRIC_PREFIX]
//	--quiet
//	    Do not repeat the command's output on standard error. [INPUT_QUIET]
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
//	raw-log
//	    The path of the raw log.
//	artifact
//	    The path of the artifact.
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

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/evidence"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(evidence.Capture)) }
