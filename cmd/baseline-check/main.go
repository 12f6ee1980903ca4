// Baseline-check holds a changed baselines file to its base, to the matrix and to the history its bounds come from.
//
// Usage:
//
//	baseline-check --base FILE [--head FILE] [--history HISTORY] [--history-lane LANE]
//	    [--reason-file FILE] [--matrix FILE]
//
// On a pull request:
//
//	git show origin/main:config/ci/regression_baselines.yaml > base.yaml
//	baseline-check --base base.yaml --history branch:ci-results --reason-file body.md
//
// Findings, each with its place in the file:
//
//	file       the file is not valid
//	reason     a gate is lost or loosened, a checksum is another, and no reason says why
//	drift      a bound is more than a tenth past the level first blessed
//	evidence   a bound is not what its nights give, or they are not what the history has
//	orphan     a key that no cell of the matrix and its recipes has
//
// A reason is the key reason: of the cell, new in this change, or a line of the reason file:
//
//	reason serve_smoke::baseline median_tpot_ms: ROCm 10 costs 4 % of decode
//
// without the gate it is about the whole cell. Past the drift budget it must say accept-regression.
// Going back to record-only (metrics and step_time_ms deleted, passed: true kept) is always allowed
// with its reason.
//
// With --history each window is read again as of its last night: the same nights must be admitted,
// with the same digests, values and stack, and give the same number. Without it a bound is only held
// to the nights that stand beside it. A bound without any is told as a warning.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--base FILE
//	    The baselines file as it was, from the repository's root. An empty file is none.
//	    Required. [INPUT_BASE]
//	--head FILE
//	    The baselines file as it shall be. Default: config/ci/regression_baselines.yaml.
//	    [INPUT_HEAD]
//	--history HISTORY
//	    The record of the nights: a folder, from the repository's root, or branch:NAME of its
//	    remote. [INPUT_HISTORY]
//	--history-lane LANE
//	    The lane of the history whose nights count. Default: gate. [INPUT_HISTORY_LANE]
//	--reason-file FILE
//	    A text with reasons, such as that of the pull request. [INPUT_REASON_FILE]
//	--matrix FILE
//	    The entries to run, from the repository's root. Default:
//	    config/ci/nightly_eval_matrix.yaml. [INPUT_MATRIX]
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

	"github.com/gatehouse-ci/gatehouse/pkg/gate/bless"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(bless.Check)) }
