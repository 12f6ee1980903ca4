package lane

import (
	"fmt"
	"strings"
)

// Rule is one kind of finding.
type Rule struct {
	// ID is the name in findings, Type is "security" or "hygiene".
	ID, Type string

	// Reason says why it matters, Remedy what to do. Both are sentences without a full stop.
	Reason, Remedy string
}

// Rules are all kinds of findings.
var Rules = []Rule{
	{"unlisted-lane", "security", "a lane that reaches the Docker daemon is root on its host, and nobody signed for it", "take the socket from the lane, or sign it off in the list of lanes"},
	{"stale-lane", "security", "a sign-off that nothing uses is one that the next lane of that name inherits", "remove it from the list"},
	{"lane-conditions", "security", "the sign-off was given for certain events, and the workflow has others by now", "remove the event from the workflow, or have the sign-off renewed"},
	{"lane-claim", "security", "a lane that claims another's name would use another's sign-off", "write the lane's own name"},
	{"socket-reach", "security", "what a pull request or a stranger starts must not reach the Docker daemon", "guard the job with an if:, or take the socket from it"},
	{"head-checkout", "security", "code that others wrote would run with the rights of the repository", "check out the default branch, or use pull_request on runners without secrets"},
	{"dangerous-trigger", "security", "pull_request_target runs with secrets and a token that writes, for pull requests of forks too", "use pull_request"},
	{"script-injection", "security", "the shell runs whatever the expression brings, a title or an input with a quote in it included", "hand it over in env: and write \"$NAME\" in the script"},
	{"run-expression", "hygiene", "an expression in a script is code generation: harmless today, an injection after the next change", "hand it over in env: and write \"$NAME\" in the script"},
	{"unpinned-action", "security", "a tag or a branch can be moved to other code", "write the full commit, with the version in a comment"},
	{"unpinned-image", "security", "a tag can be moved to another image, and measurements before and after do not compare", "write NAME@sha256:DIGEST"},
	{"missing-permissions", "security", "the default of the repository may let the token write", "write permissions: {} at the top, and what a job needs at the job"},
	{"wide-permissions", "security", "a right that nothing uses helps only who breaks in", "state at each job what that job needs, and nothing else"},
	{"persist-credentials", "security", "the token stays on disk for every later step, and for whatever uploads the folder", "set persist-credentials: false"},
	{"digest-hold", "measurement", "an image that moves in a window of measurement makes the window worthless", "wait until the window is closed, or give the window up by removing it from digest_hold first"},
	{"unreadable-workflow", "security", "of a file that cannot be read nothing can be said", "repair the file"},
}

func remedy(rule string) string {
	for _, r := range Rules {
		if r.ID == rule {
			return r.Remedy
		}
	}
	return ""
}

// manualOfRules is the rules as the manual prints them.
func manualOfRules() string {
	var b strings.Builder
	for _, r := range Rules {
		fmt.Fprintf(&b, "    %s (%s)\n        %s.\n        Remedy: %s.\n", r.ID, r.Type, r.Reason, r.Remedy)
	}
	return strings.TrimRight(b.String(), "\n")
}
