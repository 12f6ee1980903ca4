// Artifact-import imports the result of a latency fixture from a downloaded artifact, or fetches it by its run.
//
// Usage:
//
//	artifact-import [BUNDLE] [--run-id N] [--github-repo OWNER/NAME] [--artifact NAME]
//	    [--manifest MANIFEST] [--fixture-id ID] [--metric-prefix WORD] [--force]
//
// Takes the result artifact of one fixture and its raw log out of a bundle, the zip archive that
// GitHub gives for an artifact or the folder it was unpacked to, and puts both in their canonical
// places below bench-results/backend-latency. The result is validated first against the manifest, the
// source, the commit and the raw log, as fixture-check does, but without thresholds. The raw log must be
// ignored by git and stay untracked.
//
//	artifact-import ~/Downloads/backend-latency-cuda_matmul-123.zip --fixture-id cuda_matmul
//	artifact-import --run-id 123 --fixture-id cuda_matmul
//
// Nothing else is written, no link is followed, and either both files are there afterwards or neither
// has changed; an import that was killed is finished or undone by the next one. A file with the same
// bytes is left alone; one with others is replaced only with --force.
//
// An archive is refused as a whole when a name in it is unsafe or there twice, when it is damaged, or
// when it costs too much: over 100000 members, 32 folders deep, 4 GiB a member, 8 GiB in all, or 250 times
// its packed size. Archives within archives are not opened.
//
// --run-id asks GitHub, at GITHUB_API_URL with the token in GITHUB_TOKEN or GH_TOKEN, which needs
// actions: read. Where GitHub states the archive's digest it must match. A download that ends early is
// tried once more; after that the status is 4.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--bundle BUNDLE
//	    The downloaded zip archive, or the folder it was unpacked to, from the working
//	    directory. [INPUT_BUNDLE]
//	--run-id N
//	    The number of the workflow run to fetch the artifact of, in place of a bundle.
//	    [INPUT_RUN_ID]
//	--github-repo OWNER/NAME
//	    The repository of the run; that of the remote origin if it is not given, then
//	    GITHUB_REPOSITORY. [INPUT_GITHUB_REPO]
//	--artifact NAME
//	    The artifact's name in the run; backend-latency-ID-N with --fixture-id, else the only
//	    one there is. [INPUT_ARTIFACT]
//	--manifest MANIFEST
//	    The manifest of latency fixtures, from the top of the repository. Default:
//	    docs/backend-latency-fixtures.json. [INPUT_MANIFEST]
//	--fixture-id ID
//	    The fixture to import, where the bundle holds several. [INPUT_FIXTURE_ID]
//	--metric-prefix WORD
//	    The word that metric lines of the raw log begin with. Default: KILN_LATENCY_METRIC.
//	    [INPUT_METRIC_PREFIX]
//	--force
//	    Replace files that have other bytes. [INPUT_FORCE]
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
//	fixture-id
//	    The fixture that was imported.
//	result-artifact
//	    The path of the result, from the top of the repository.
//	raw-log
//	    The path of the raw log, from the top of the repository.
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

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/bundle"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(bundle.Run)) }
