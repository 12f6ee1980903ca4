package grant

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Claim is what a run says of itself.
type Claim struct {
	// Socket says that it asks for the socket, Lane which lane it is, as FILE#JOB.
	Socket bool
	Lane   string

	// Lanes is the list's path from the top of the repository; "" is [DefaultPath].
	Lanes string
}

// Refused says in plain words why the socket is not granted.
type Refused struct {
	// Reason is what is missing, Hint what to do next, "" where there is nothing to do.
	Reason, Hint string
}

// Error is the reason.
func (r *Refused) Error() string { return r.Reason }

func refused(hint, format string, args ...any) error {
	return &Refused{Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// Check returns nil where the claim is granted and a [Refused] where it is not. The list is read from
// the default branch as it was fetched from the remote origin, never from what is checked out.
//
// Outside a job there is nobody but the operator to ask: there the claim is the grant.
func Check(c Claim, job step.Job, repo gitrepo.Repo) error {
	if !c.Socket {
		return refused("say --docker-socket, where the lane is signed off for it", "docker-socket is not true")
	}
	if !job.Running {
		return nil
	}
	if !laneGrammar.MatchString(c.Lane) {
		return refused("name the lane with --lane, such as nightly-eval.yml#eval", "the job claims the socket for the lane %q, which is none", c.Lane)
	}
	if job.NoPayload != "" {
		return refused("hand the job's own variables on, also into a container", "the event's payload is missing: %s", job.NoPayload)
	}
	if file, _, _ := strings.Cut(c.Lane, "#"); file != job.Workflow {
		return refused("claim the lane of the workflow that the event starts", "the job claims the lane %s, but its run was started from %s", c.Lane, orUnknown(job.Workflow))
	}
	if job.DefaultBranch == "" || job.Repository == "" {
		return refused("", "the event does not say what the repository and its default branch are")
	}
	if err := checkEvent(job); err != nil {
		return err
	}
	lanes, err := fetched(c, job, repo)
	if err != nil {
		return err
	}
	one := lanes.Lane(c.Lane)
	if one == nil {
		return refused("sign it off there first; a list in a branch or a pull request does not count",
			"the lane %s is not listed in %s of the branch %s", c.Lane, c.path(), job.DefaultBranch)
	}
	if !slices.Contains(one.Events, job.Event) {
		return refused("", "the sign-off of %s covers %s, not the event %s", c.Lane, strings.Join(one.Events, ", "), job.Event)
	}
	return nil
}

// checkEvent says why an event leads to no grant, whatever the list says.
func checkEvent(job step.Job) error {
	branch := "refs/heads/" + job.DefaultBranch
	switch job.Event {
	case "schedule":
		return nil
	case "workflow_dispatch":
		if job.Ref != branch {
			return refused("dispatch it on "+job.DefaultBranch, "the run was dispatched on %s, not on the default branch %s", orUnknown(job.Ref), job.DefaultBranch)
		}
		return nil
	case "workflow_run":
		return checkUpstream(job)
	}
	return refused("", "the event %s leads to no grant; only %s do", orUnknown(job.Event), strings.Join(Events, ", "))
}

// upstreamEvents need the right to push. A workflow_run is not among them: what began that chain is not
// known.
var upstreamEvents = []string{"schedule", "workflow_dispatch", "push", "release", "repository_dispatch"}

func checkUpstream(job step.Job) error {
	switch {
	case !strings.EqualFold(job.HeadRepository, job.Repository):
		return refused("", "the run before this one was of %s, not of this repository", orUnknown(job.HeadRepository))
	case !slices.Contains(upstreamEvents, job.UpstreamEvent):
		return refused("", "the run before this one was started by %s, which may come from somebody who may not push", orUnknown(job.UpstreamEvent))
	case job.UpstreamEvent != "schedule" && job.HeadBranch != job.DefaultBranch:
		return refused("", "the run before this one was of the branch %s, not of the default branch %s", orUnknown(job.HeadBranch), job.DefaultBranch)
	}
	return nil
}

// fetched reads the list as the default branch has it.
func fetched(c Claim, job step.Job, repo gitrepo.Repo) (*Lanes, error) {
	if !filepath.IsLocal(c.path()) {
		return nil, refused("name a file of the repository", "the list of lanes %s is not inside the repository", c.path())
	}
	if url := repo.RemoteURL("origin"); !names(url, job.Repository) {
		return nil, refused("check out the repository of the run", "the checkout's remote origin is %s, not %s", orUnknown(url), job.Repository)
	}
	ref := "refs/remotes/origin/" + job.DefaultBranch
	if has, err := repo.HasCommit(ref); err != nil {
		return nil, refused("", "asking for the default branch: %v", err)
	} else if !has {
		return nil, refused("fetch it before this step: git fetch --depth=1 origin +refs/heads/"+job.DefaultBranch+":"+ref,
			"the checkout has no commit of the default branch %s", job.DefaultBranch)
	}
	text, err := repo.Blob(ref, c.path(), strict.MaxYAML)
	if errors.Is(err, gitrepo.ErrNotFound) {
		return nil, refused("", "the branch %s has no %s", job.DefaultBranch, c.path())
	}
	if err != nil {
		return nil, refused("", "reading the list of lanes: %v", err)
	}
	lanes, err := Parse(job.DefaultBranch+":"+c.path(), text)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, refused("lane-audit checks the list in a pull request", "the list of lanes is invalid: %s", first)
	}
	return lanes, nil
}

func (c Claim) path() string {
	if c.Lanes == "" {
		return DefaultPath
	}
	return path.Clean(filepath.ToSlash(c.Lanes))
}

// names reports whether a remote's URL ends with the repository's owner and name.
func names(url, repository string) bool {
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	rest := len(url) - len(repository)
	return rest > 0 && strings.EqualFold(url[rest:], repository) && strings.ContainsRune("/:", rune(url[rest-1]))
}

func orUnknown(text string) string {
	if text == "" {
		return "(not known)"
	}
	return text
}
