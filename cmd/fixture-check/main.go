// Fixture-check validates the manifest of latency fixtures; with --require-covered it is the strict gate.
//
// Usage:
//
//	fixture-check [MANIFEST] [--require-covered] [--metric-prefix WORD]
//
// Without a flag the manifest itself is checked: its keys, its fixtures and metrics, that sources
// exist, and that status and states agree. A new manifest, at docs/backend-latency-fixtures.json:
//
//	{
//	  "schema_version": 1,
//	  "status": "fixture_required",
//	  "policy": {"covered_gate_requires": ["A result is reviewed before it is locked."]},
//	  "required_backends": ["cuda"],
//	  "fixtures": [{
//	    "id": "cuda_matmul", "backend": "cuda", "hardware": "H100 SXM",
//	    "runner_labels": ["self-hosted", "h100"],
//	    "source": "bench/matmul.py", "command": "python3 bench/matmul.py",
//	    "threshold_state": "pending_fixture_result",
//	    "result_artifact": "bench-results/backend-latency/cuda_matmul.json",
//	    "metrics": [{"name": "p50_ms", "unit": "ms", "comparison": "<=", "max": null}]
//	  }],
//	  "missing_fixture_slots": []
//	}
//
// From there: fixture-run measures, threshold-lock sets each max, and both files are committed.
//
// With --require-covered every fixture must have been measured, reviewed and locked. What is judged is
// what is committed: manifest, artifacts and sources must be at HEAD as they are in the work tree. Each
// artifact must be clean, of a known commit, of the same source bytes there and now, of the same fixture,
// and within the fixture's limits. A raw log may be absent; one that is present must not be tracked, must
// match its digest, and must hold the same values.
//
//	fixture-check
//	fixture-check docs/backend-latency-fixtures.json --require-covered
//
// Also findings: a pending fixture with a limit, a manifest that requires fixtures while none is pending, a
// command that names a path of one machine (/home, /Users, /root, ~) or holds a placeholder.
//
// All findings are reported, each with its place in the manifest; the exit status is then 1. A checkout
// for --require-covered needs its whole history (actions/checkout with fetch-depth: 0), since artifacts name
// older commits.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--manifest MANIFEST
//	    The manifest of latency fixtures, from the top of the repository. Default:
//	    docs/backend-latency-fixtures.json. [INPUT_MANIFEST]
//	--require-covered
//	    Be the strict gate. [INPUT_REQUIRE_COVERED]
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

func main() { os.Exit(step.Main(evidence.Check)) }
