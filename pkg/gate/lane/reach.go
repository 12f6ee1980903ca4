package lane

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// forkEvents carry the head of a pull request, which may be a fork's.
var forkEvents = []string{"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment"}

// anybodysEvents need no right to push.
var anybodysEvents = []string{"issue_comment", "issues", "discussion", "discussion_comment", "fork", "watch", "gollum"}

// scenarios are the ways in which a workflow can be started, other than by a call.
func (r *Repository) scenarios(f *file) []scenario {
	var all []scenario
	on := f.root.get("on")
	for _, event := range on.texts() {
		switch {
		case event == "workflow_call" || event == "":
		case event == "workflow_run":
			all = append(all, r.upstream(on.at("workflow_run", "workflows"))...)
		case slices.Contains(forkEvents, event):
			all = append(all, scenario{event: event}, scenario{event: event, outsider: true})
		default:
			all = append(all, scenario{event: event, outsider: slices.Contains(anybodysEvents, event)})
		}
	}
	return all
}

// upstream are the ways in which a workflow_run comes about: by each event of the workflows it follows.
// A workflow that is not in the repository starts nothing.
func (r *Repository) upstream(workflows value) []scenario {
	all := []scenario{{event: "workflow_run"}}
	for _, name := range workflows.texts() {
		f := r.named(name)
		if f == nil {
			continue
		}
		for _, event := range f.root.get("on").texts() {
			switch {
			case event == "workflow_call":
			case slices.Contains(forkEvents, event):
				all = append(all, scenario{event: "workflow_run", upstream: event}, scenario{event: "workflow_run", upstream: event, outsider: true})
			default:
				all = append(all, scenario{event: "workflow_run", upstream: event, outsider: slices.Contains(anybodysEvents, event)})
			}
		}
	}
	return all
}

var runsAnyway = regexp.MustCompile(`\b(always|failure|cancelled)\s*\(`)

// reached reports whether a job may run in a scenario: its condition may hold, and so may those of the
// jobs it needs. Known holds the answers so far, for jobs that are being asked about too: a circle of
// needs is GitHub's to refuse.
func reached(f *file, id string, s scope, known map[string]bool) bool {
	if answer, ok := known[id]; ok {
		return answer
	}
	known[id] = true
	job := f.root.at("jobs", id)
	switch condition := job.get("if"); {
	case s.condition(condition).isFalse():
		known[id] = false
	case runsAnyway.MatchString(condition.text):
	default:
		for _, needed := range job.get("needs").texts() {
			known[id] = reached(f, needed, s, known) && known[id]
		}
	}
	return known[id]
}

var hostedLabel = regexp.MustCompile(`^(ubuntu|windows|macos)-[a-z0-9.-]+$`)

// selfHosted reports whether a job runs on a machine that is not GitHub's; what is not known may.
func (s site) selfHosted() bool {
	on := s.at.get("runs-on")
	if s.step || on.kind == absent {
		return false
	}
	if on.kind == mapping {
		on = on.get("labels")
	}
	labels := on.texts()
	return len(labels) == 0 || slices.ContainsFunc(labels, func(label string) bool {
		r := s.resolve(value{kind: scalar, text: label})
		return !r.known || !hostedLabel.MatchString(r.text)
	})
}

// headOf is an expression that names the head of somebody's pull request, or of the run that a
// workflow_run follows.
var headOf = regexp.MustCompile(`github\.head_ref|github\.event\.pull_request\.(head|number)|github\.event\.number|github\.event\.issue\.number|github\.event\.workflow_run\.(head_|pull_requests)|refs/pull/`)

// headCheckout finds where what outsiders wrote meets the rights of the repository itself.
func (s site) headCheckout(lane string, selfHosted bool) strict.Problems {
	if !s.outsider || s.event == "pull_request" || !s.step {
		return nil
	}
	at := s.at.get("run")
	text := at.text
	if strings.HasPrefix(s.uses.text, "actions/checkout@") {
		at = s.uses
		text = s.expand(s.at.at("with", "ref").text + " " + s.at.at("with", "repository").text)
	} else if !strings.Contains(text, "gh pr checkout") && !strings.Contains(text, "git ") {
		return nil
	}
	if !headOf.MatchString(text) && !strings.Contains(text, "gh pr checkout") {
		return nil
	}
	where := "with the repository's own token"
	if selfHosted {
		where = "on self-hosted runners"
	}
	return strict.Problems{s.problem("head-checkout", at, "%s checks out the head of others %s when started by %s", lane, where, s.name())}
}

// claims finds a claim of the socket for another lane than the one that makes it.
func (s site) claims(lane string) strict.Problems {
	at := s.at.at("with", "lane")
	if !s.step || at.kind != scalar || !strings.Contains(at.text, "#") && !strings.Contains(at.text, "${{") {
		return nil
	}
	r := s.resolve(at)
	if !r.known || !strings.Contains(r.text, "#") || r.text == lane {
		return nil
	}
	return strict.Problems{s.problem("lane-claim", at, "the lane %s claims to be %s", lane, r.text)}
}
