package grant

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

const list = `version: 1
lanes:
  - lane: night.yml#eval
    reason: the engine is a sibling container
    signed_off_by: the maintainers
    who_may_trigger: whoever may push
    events: [schedule, workflow_dispatch, workflow_run]
    date: 2026-09-03
`

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	file := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// remote is a repository owner/name whose main has the list, and whose branch "feature" has none.
func remote(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "owner", "name")
	write(t, dir, "README", "x\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "first")
	git(t, dir, "branch", "feature")
	if text != "" {
		write(t, dir, DefaultPath, text)
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "list")
	}
	return dir
}

// clone is a checkout of a branch of the remote, with all of its branches unless args say otherwise.
func clone(t *testing.T, remote, branch string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "checkout")
	git(t, t.TempDir(), append(append([]string{"clone", "-q", "-b", branch}, args...), "file://"+remote, dir)...)
	return dir
}

func scheduled() step.Job {
	return step.Job{Running: true, Event: "schedule", Repository: "owner/name", DefaultBranch: "main", Ref: "refs/heads/main", Workflow: "night.yml"}
}

func chained(edit func(*step.Job)) step.Job {
	j := scheduled()
	j.Event, j.UpstreamEvent, j.HeadRepository, j.HeadBranch = "workflow_run", "schedule", "owner/name", "main"
	edit(&j)
	return j
}

// hold fails unless the error is a refusal that holds the text, or no error where the text is empty.
func hold(t *testing.T, err error, want string) {
	t.Helper()
	var r *Refused
	switch {
	case want == "" && err != nil:
		t.Errorf("got refused: %v, want granted", err)
	case want != "" && err == nil:
		t.Errorf("got granted, want refused: %s", want)
	case want != "" && (!errors.As(err, &r) || !strings.Contains(r.Reason, want)):
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEvents(t *testing.T) {
	repo := gitrepo.At(clone(t, remote(t, list), "main"))
	claim := Claim{Socket: true, Lane: "night.yml#eval"}
	event := func(name string) step.Job { j := scheduled(); j.Event = name; return j }
	tests := map[string]struct {
		job  step.Job
		want string
	}{
		"schedule":              {scheduled(), ""},
		"dispatch on main":      {event("workflow_dispatch"), ""},
		"after a schedule":      {chained(func(*step.Job) {}), ""},
		"after a dispatch":      {chained(func(j *step.Job) { j.UpstreamEvent = "workflow_dispatch" }), ""},
		"after a push":          {chained(func(j *step.Job) { j.UpstreamEvent = "push" }), ""},
		"after a branch's push": {chained(func(j *step.Job) { j.UpstreamEvent, j.HeadBranch = "push", "feature" }), "of the branch feature, not of the default branch main"},
		"after a pull request":  {chained(func(j *step.Job) { j.UpstreamEvent = "pull_request" }), "started by pull_request"},
		"after a target":        {chained(func(j *step.Job) { j.UpstreamEvent = "pull_request_target" }), "started by pull_request_target"},
		"after a chain":         {chained(func(j *step.Job) { j.UpstreamEvent = "workflow_run" }), "started by workflow_run"},
		"after a comment":       {chained(func(j *step.Job) { j.UpstreamEvent = "issue_comment" }), "started by issue_comment"},
		"after nobody knows":    {chained(func(j *step.Job) { j.UpstreamEvent = "" }), "started by (not known)"},
		"of a fork":             {chained(func(j *step.Job) { j.HeadRepository = "stranger/name" }), "of stranger/name, not of this repository"},
		"of no repository":      {chained(func(j *step.Job) { j.HeadRepository = "" }), "of (not known), not of this repository"},
		"no event":              {event(""), "the event (not known) leads to no grant"},
	}
	dispatched := event("workflow_dispatch")
	dispatched.Ref = "refs/heads/feature"
	tests["dispatch on a branch"] = struct {
		job  step.Job
		want string
	}{dispatched, "dispatched on refs/heads/feature, not on the default branch main"}
	for _, name := range []string{
		"push", "pull_request", "pull_request_target", "pull_request_review", "issue_comment", "issues", "merge_group", "release", "repository_dispatch",
		"workflow_call", "create", "delete", "discussion", "fork", "watch", "page_build", "check_run", "deployment", "label", "Schedule", "schedule ",
	} {
		tests[name] = struct {
			job  step.Job
			want string
		}{event(name), "the event " + name + " leads to no grant"}
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) { hold(t, Check(claim, c.job, repo), c.want) })
	}
}

func TestClaims(t *testing.T) {
	repo := gitrepo.At(clone(t, remote(t, list), "main"))
	edited := func(edit func(*step.Job)) step.Job { j := scheduled(); edit(&j); return j }
	for name, c := range map[string]struct {
		claim Claim
		job   step.Job
		want  string
	}{
		"no claim":             {Claim{Lane: "night.yml#eval"}, scheduled(), "docker-socket is not true"},
		"no claim by hand":     {Claim{}, step.Job{}, "docker-socket is not true"},
		"by hand":              {Claim{Socket: true}, step.Job{}, ""},
		"no lane":              {Claim{Socket: true}, scheduled(), `the lane "", which is none`},
		"a lane without a job": {Claim{Socket: true, Lane: "night.yml"}, scheduled(), "which is none"},
		"another workflow":     {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.Workflow = "bump.yml" }), "its run was started from bump.yml"},
		"an unknown workflow":  {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.Workflow = "" }), "started from (not known)"},
		"an unlisted job":      {Claim{Socket: true, Lane: "night.yml#other"}, scheduled(), "night.yml#other is not listed in config/ci/socket_lanes.yaml of the branch main"},
		"no payload":           {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.NoPayload = "reading it: gone" }), "payload is missing: reading it: gone"},
		"no default branch":    {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.DefaultBranch = "" }), "default branch"},
		"no such branch":       {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.DefaultBranch = "trunk" }), "no commit of the default branch trunk"},
		"another list":         {Claim{Socket: true, Lane: "night.yml#eval", Lanes: "lanes.yaml"}, scheduled(), "the branch main has no lanes.yaml"},
		"a list elsewhere":     {Claim{Socket: true, Lane: "night.yml#eval", Lanes: "../lanes.yaml"}, scheduled(), "not inside the repository"},
		"a list of the host":   {Claim{Socket: true, Lane: "night.yml#eval", Lanes: "/tmp/lanes.yaml"}, scheduled(), "not inside the repository"},
		"a fork's checkout":    {Claim{Socket: true, Lane: "night.yml#eval"}, edited(func(j *step.Job) { j.Repository = "stranger/name" }), "owner/name, not stranger/name"},
	} {
		t.Run(name, func(t *testing.T) { hold(t, Check(c.claim, c.job, repo), c.want) })
	}
}

func TestTheHeadsListCountsForNothing(t *testing.T) {
	claim := Claim{Socket: true, Lane: "night.yml#eval"}
	from := remote(t, "")
	dir := clone(t, from, "feature")
	write(t, dir, DefaultPath, list)
	hold(t, Check(claim, scheduled(), gitrepo.At(dir)), "the branch main has no config/ci/socket_lanes.yaml")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "list ourselves")
	git(t, dir, "branch", "-f", "main") // a local main is not what was fetched
	hold(t, Check(claim, scheduled(), gitrepo.At(dir)), "the branch main has no config/ci/socket_lanes.yaml")
	git(t, dir, "push", "-q", "origin", "HEAD:feature")
	hold(t, Check(claim, scheduled(), gitrepo.At(dir)), "the branch main has no config/ci/socket_lanes.yaml")

	listed := clone(t, remote(t, list), "main")
	write(t, listed, DefaultPath, "version: 1\nlanes: []\n")
	hold(t, Check(claim, scheduled(), gitrepo.At(listed)), "")
}

func TestCheckouts(t *testing.T) {
	claim := Claim{Socket: true, Lane: "night.yml#eval"}
	from := remote(t, list)
	t.Run("shallow, the default branch", func(t *testing.T) {
		hold(t, Check(claim, scheduled(), gitrepo.At(clone(t, from, "main", "--depth=1"))), "")
	})
	t.Run("shallow, without the default branch", func(t *testing.T) {
		err := Check(claim, scheduled(), gitrepo.At(clone(t, from, "feature", "--depth=1")))
		hold(t, err, "the checkout has no commit of the default branch main")
		var r *Refused
		if errors.As(err, &r); r == nil || !strings.Contains(r.Hint, "git fetch --depth=1 origin +refs/heads/main:refs/remotes/origin/main") {
			t.Errorf("got %+v, want the command that fetches it", r)
		}
	})
	t.Run("no checkout", func(t *testing.T) {
		hold(t, Check(claim, scheduled(), gitrepo.At(t.TempDir())), "remote origin is (not known)")
	})
	t.Run("no such folder", func(t *testing.T) { hold(t, Check(claim, scheduled(), gitrepo.At("/nonexistent")), "remote origin") })
	t.Run("an invalid list", func(t *testing.T) {
		bad := clone(t, remote(t, strings.Replace(list, "reason:", "reson:", 1)), "main")
		hold(t, Check(claim, scheduled(), gitrepo.At(bad)), "the list of lanes is invalid: main:config/ci/socket_lanes.yaml:3:5")
	})
	t.Run("an event without sign-off", func(t *testing.T) {
		some := clone(t, remote(t, strings.Replace(list, "[schedule, workflow_dispatch, ", "[", 1)), "main")
		hold(t, Check(claim, scheduled(), gitrepo.At(some)), "covers workflow_run, not the event schedule")
	})
}

func TestRemoteURLs(t *testing.T) {
	for url, want := range map[string]bool{
		"https://github.com/owner/name": true, "https://github.com/Owner/Name.git": true, "git@github.com:owner/name.git": true, "ssh://git@h/owner/name/": true,
		"https://github.com/other/name": false, "https://github.com/xowner/name": false, "owner/name": false, "": false,
	} {
		if got := names(url, "owner/name"); got != want {
			t.Errorf("%s: got %v, want %v", url, got, want)
		}
	}
}
