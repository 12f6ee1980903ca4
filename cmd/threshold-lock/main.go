// Threshold-lock locks the limits of latency fixtures from their reviewed results.
//
// Usage:
//
//	threshold-lock [MANIFEST] [--fixture-id ID]... [--headroom SHARE] [--output FILE] [--check]
//	    [--metric-prefix WORD]
//
// For each selected fixture (all of them without --fixture-id) the artifact and its raw log are validated
// as the strict gate does, but for limits; the log must exist and be ignored by git. Each metric then gets the
// observed value and a headroom on its far side as its max:
//
//	<=  observed + headroom x |observed|
//	>=  observed - headroom x |observed|
//
// rounded to six decimals. Where that would refuse the observation itself or take the whole headroom, the
// limit gets the decimals it needs, and that is said. The fixture becomes locked_threshold.
//
// The manifest becomes covered when every fixture is locked and its artifact validates against its limits;
// otherwise it stays fixture_required, and what is in the way is listed.
//
//	threshold-lock --fixture-id rocm_mi300x_matmul --headroom 0.05
//	threshold-lock --check
//
// Only limits, states and the status change: order, layout and every other byte of the manifest stay. It
// is replaced whole or not at all. Commit it together with the artifacts; fixture-check --require-covered
// judges what is committed.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--manifest MANIFEST
//	    The manifest of latency fixtures, from the top of the repository. Default:
//	    docs/backend-latency-fixtures.json. [INPUT_MANIFEST]
//	--fixture-id ID
//	    A fixture to lock; all of them when absent. May be repeated. [INPUT_FIXTURE_ID]
//	--headroom SHARE
//	    The share of the observation to add or take away; at least 0, less than 1. Default:
//	    0.10. [INPUT_HEADROOM]
//	--output FILE
//	    Write the manifest there, from the top of the repository, and leave the original as it
//	    is. [INPUT_OUTPUT]
//	--check
//	    Say what would be done and write nothing. [INPUT_CHECK]
//	--metric-prefix WORD
//	    The word that metric lines of the raw log begin with. Default: KILN_LATENCY_METRIC.
//	    [INPUT_METRIC_PREFIX]
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
//	status
//	    The status of the manifest: covered or fixture_required.
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

func main() { os.Exit(step.Main(evidence.Lock)) }
