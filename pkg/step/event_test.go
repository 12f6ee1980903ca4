package step

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJob(t *testing.T) {
	dir := t.TempDir()
	payload := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	upstream := payload("run.json", `{"workflow_run": {"event": "schedule", "id": 1, "head_branch": "main", "head_repository": {"full_name": "o/r"}}, "repository": {"default_branch": "main"}}`)
	timer := payload("schedule.json", `{"schedule": "0 3 * * *"}`)
	for name, c := range map[string]struct {
		env  map[string]string
		want Job
	}{
		"no job": {nil, Job{}},
		"night": {
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule", "GITHUB_RUN_ID": "900", "GITHUB_RUN_ATTEMPT": "2", "RUNNER_NAME": "gpu-1", "GITHUB_EVENT_PATH": timer,
				"GITHUB_REF": "refs/heads/trunk", "GITHUB_REPOSITORY": "o/r", "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/night.yml@refs/heads/trunk",
			},
			Job{Running: true, Event: "schedule", RunID: 900, RunAttempt: 2, Runner: "gpu-1", Ref: "refs/heads/trunk", Repository: "o/r", DefaultBranch: "trunk", Workflow: "night.yml"},
		},
		"chained": {
			map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_RUN_ID": "901", "GITHUB_EVENT_PATH": upstream},
			Job{Running: true, Event: "workflow_run", UpstreamEvent: "schedule", HeadRepository: "o/r", HeadBranch: "main", DefaultBranch: "main", RunID: 901},
		},
		"no payload": {
			map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": dir + "/gone"},
			Job{Running: true, Event: "workflow_run", NoPayload: "reading it: open " + dir + "/gone: no such file or directory"},
		},
		"no payload named": {map[string]string{"GITHUB_ACTIONS": "true"}, Job{Running: true, NoPayload: "the job names no file for it"}},
	} {
		s := &Step{Proc: Proc{Getenv: func(k string) string { return c.env[k] }}}
		if got := s.Job(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	s := &Step{Proc: Proc{Getenv: func(k string) string {
		return map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": payload("bad.json", "{")}[k]
	}}}
	if got := s.Job().NoPayload; !strings.HasPrefix(got, "reading it: ") {
		t.Errorf("unreadable payload: got %q, want a reason", got)
	}
}
