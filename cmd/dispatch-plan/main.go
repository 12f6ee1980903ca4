// Dispatch-plan plans which latency fixture runs on which runner, checks that one is there, and starts the workflow.
//
// Usage:
//
//	dispatch-plan [MANIFEST] [--fixture-id ID]... [--include-covered]
//	    [--runner-labels-json JSON] [--ref REF] [--workflow FILE] [--check-runners]
//	    [--github-repo OWNER/NAME] [--shell] [--matrix] [--dispatch]
//
// Lists the fixtures of a manifest that still need a run, with the commands for each: start the
// workflow, fetch and import its artifact, lock the limits, check the result. RUN_ID in a command is
// the number that GitHub gives the run.
//
//	dispatch-plan
//	dispatch-plan --check-runners
//	dispatch-plan --fixture-id cuda_matmul --shell | sh
//	dispatch-plan --fixture-id cuda_matmul --dispatch
//
// A job makes a matrix of the plan; an empty one fails in GitHub, so ask for the count first:
//
//	strategy:
//	  matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}
//	if: needs.plan.outputs.count != '0'
//	runs-on: ${{ matrix.runner_labels }}
//
// --check-runners and --dispatch ask GitHub, at GITHUB_API_URL with the token in GITHUB_TOKEN or
// GH_TOKEN. Seeing runners takes administration: read of the repository, and for runners of its
// organisation self-hosted runners: read there; dispatching takes actions: write. The job's own token
// has neither of the first two. What the token cannot see is not taken for absent: where that leaves
// the answer open the status is 4. A runner that is missing, offline or busy is a finding of the plan and
// no failure. A dispatch is sent once and never repeated.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--manifest MANIFEST
//	    The fixture manifest, from the top of the repository. Default:
//	    docs/backend-latency-fixtures.json. [INPUT_MANIFEST]
//	--fixture-id ID
//	    A fixture to plan whatever its state; all that need a run if none is named. May be
//	    repeated. [INPUT_FIXTURE_ID]
//	--include-covered
//	    Plan covered fixtures too. [INPUT_INCLUDE_COVERED]
//	--runner-labels-json JSON
//	    Runner labels in place of the manifest's, as a JSON array. [INPUT_RUNNER_LABELS_JSON]
//	--ref REF
//	    The branch or tag to run; the branch checked out if it is not given. [INPUT_REF]
//	--workflow FILE
//	    The workflow to start, a file name below .github/workflows. It takes the inputs ref,
//	    latency_fixture_id and latency_runner_labels_json. Default: perf-regression-nightly.yml.
//	    [INPUT_WORKFLOW]
//	--check-runners
//	    Ask GitHub which runners have the labels, and whether they are online and idle.
//	    [INPUT_CHECK_RUNNERS]
//	--github-repo OWNER/NAME
//	    The repository on GitHub; that of the remote origin if it is not given, then
//	    GITHUB_REPOSITORY. [INPUT_GITHUB_REPO]
//	--shell
//	    Print the commands that start the workflow, one a line, in place of JSON. [INPUT_SHELL]
//	--matrix
//	    Print a strategy.matrix, one job a fixture, in place of the plan. [INPUT_MATRIX]
//	--dispatch
//	    Start the workflow for each planned fixture and print the address of each run.
//	    [INPUT_DISPATCH]
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
//	count
//	    The number of planned fixtures.
//	matrix
//	    The plan as a strategy.matrix; empty where labels are missing.
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

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/dispatch"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(dispatch.Run)) }
