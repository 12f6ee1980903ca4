// Lane-audit says which workflow lanes can reach the Docker socket, who can trigger them, which image digests moved.
//
// Usage:
//
//	lane-audit [--root DIR] [--lanes FILE] [--digest-hold] [--base REF] [--sarif FILE]
//
// A lane is one job of one workflow that an event starts, written FILE#JOB. Who can talk to the Docker daemon is root on its
// host, so each lane that gets the socket is to be signed off in the list:
//
//	version: 1
//	lanes:
//	  - lane: nightly-eval.yml#eval
//	    reason: the serving entries start their engine as a sibling container
//	    signed_off_by: the maintainers
//	    who_may_trigger: whoever may push to this repository
//	    events: [workflow_run, workflow_dispatch]   # of schedule, workflow_dispatch, workflow_run
//	    date: 2026-09-03
//	digest_hold:
//	  - {images: [ghcr.io/example/engine], since: 2026-09-08, until: 2026-09-17, reason: ten nights}
//
// lane-audit reads .github/workflows, every action.yml, and Dockerfiles, follows reusable workflows and local actions with
// the inputs that each call binds, and judges each job's if: for each event that starts its workflow. A lane gets the socket
// by a docker-socket input (docker_socket too) that is anything but left out or a literal false; by a mount of the socket in
// a container, a service or a command; by a compose file that mounts it; by DOCKER_HOST; by a privileged container. What
// cannot be told counts as granted. Actions and workflows of other repositories are not read, only what is handed to them,
// which is why they are to be pinned. Commands that a self-hosted runner's account runs on its own are not seen: that account
// is trusted or it is not.
//
//	lane-audit
//	lane-audit --digest-hold --base origin/main --sarif lanes.sarif
//
// The run-time check of serve-cell and nightly-eval obeys the same list, as the default branch has it. Both guard against
// mistakes; the boundary is runner groups and branch rules.
//
// The rules:
//
//	unlisted-lane (security)
//	    a lane that reaches the Docker daemon is root on its host, and nobody signed for it.
//	    Remedy: take the socket from the lane, or sign it off in the list of lanes.
//	stale-lane (security)
//	    a sign-off that nothing uses is one that the next lane of that name inherits.
//	    Remedy: remove it from the list.
//	lane-conditions (security)
//	    the sign-off was given for certain events, and the workflow has others by now.
//	    Remedy: remove the event from the workflow, or have the sign-off renewed.
//	lane-claim (security)
//	    a lane that claims another's name would use another's sign-off.
//	    Remedy: write the lane's own name.
//	socket-reach (security)
//	    what a pull request or a stranger starts must not reach the Docker daemon.
//	    Remedy: guard the job with an if:, or take the socket from it.
//	head-checkout (security)
//	    code that others wrote would run with the rights of the repository.
//	    Remedy: check out the default branch, or use pull_request on runners without secrets.
//	dangerous-trigger (security)
//	    pull_request_target runs with secrets and a token that writes, for pull requests of forks too.
//	    Remedy: use pull_request.
//	script-injection (security)
//	    the shell runs whatever the expression brings, a title or an input with a quote in it included.
//	    Remedy: hand it over in env: and write "$NAME" in the script.
//	run-expression (hygiene)
//	    an expression in a script is code generation: harmless today, an injection after the next change.
//	    Remedy: hand it over in env: and write "$NAME" in the script.
//	unpinned-action (security)
//	    a tag or a branch can be moved to other code.
//	    Remedy: write the full commit, with the version in a comment.
//	unpinned-image (security)
//	    a tag can be moved to another image, and measurements before and after do not compare.
//	    Remedy: write NAME@sha256:DIGEST.
//	missing-permissions (security)
//	    the default of the repository may let the token write.
//	    Remedy: write permissions: {} at the top, and what a job needs at the job.
//	wide-permissions (security)
//	    a right that nothing uses helps only who breaks in.
//	    Remedy: state at each job what that job needs, and nothing else.
//	persist-credentials (security)
//	    the token stays on disk for every later step, and for whatever uploads the folder.
//	    Remedy: set persist-credentials: false.
//	digest-hold (measurement)
//	    an image that moves in a window of measurement makes the window worthless.
//	    Remedy: wait until the window is closed, or give the window up by removing it from digest_hold first.
//	unreadable-workflow (security)
//	    of a file that cannot be read nothing can be said.
//	    Remedy: repair the file.
//
// Exit status 1 is a finding; 2 a file that cannot be read, of which nothing can be said; 4 a repository without any
// workflow or action.
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--root DIR
//	    The repository to audit, from the working directory; left out it is the one that the
//	    working directory is in. [INPUT_ROOT]
//	--lanes FILE
//	    The list of socket lanes, from the repository's root. Where the default is absent no
//	    lane is signed off. Default: config/ci/socket_lanes.yaml. [INPUT_LANES]
//	--digest-hold
//	    Also names the pinned image digests that moved since --base, and fails on one for which
//	    a window of the list's digest_hold is open. [INPUT_DIGEST_HOLD]
//	--base REF
//	    What --digest-hold compares with, such as origin/main. [INPUT_BASE]
//	--sarif FILE
//	    Also writes the findings as SARIF 2.1.0, for code scanning, from the repository's root.
//	    [INPUT_SARIF]
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
//	findings
//	    The number of findings.
//	socket-lanes
//	    The lanes that get the socket, one per line.
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

	"github.com/gatehouse-ci/gatehouse/pkg/gate/lane"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(lane.Run)) }
