package step

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Job is what a step knows of the workflow run it belongs to; all zero outside a job.
type Job struct {
	// Running says that there is a job at all.
	Running bool

	// Event is what started the run: "schedule", "workflow_dispatch", "workflow_run" …
	Event string

	// UpstreamEvent is what started the run that a "workflow_run" event reports on, as far as
	// the event's payload says so; HeadRepository ("owner/name") and HeadBranch are where that
	// run's commit came from.
	UpstreamEvent  string
	HeadRepository string
	HeadBranch     string

	// Repository is the repository of the run, as "owner/name", and DefaultBranch its default
	// branch: as the event's payload has it, or, for a schedule, whose payload does not say, the
	// branch that the schedule runs on.
	Repository    string
	DefaultBranch string

	// Ref is what the run runs on, such as "refs/heads/main".
	Ref string

	// Workflow is the file name of the workflow that the run was started from, such as
	// "nightly-eval.yml", also inside a workflow that it calls.
	Workflow string

	// NoPayload says why the event's payload cannot be read; "" when it was.
	NoPayload string

	// RunID and RunAttempt tell this run from every other of the repository.
	RunID      int64
	RunAttempt int

	// Runner is the runner's name.
	Runner string
}

// Job reads the job's variables and its event's payload.
func (s *Step) Job() Job {
	j := Job{Event: s.Getenv("GITHUB_EVENT_NAME"), Repository: s.Getenv("GITHUB_REPOSITORY"), Ref: s.Getenv("GITHUB_REF"), Runner: s.Getenv("RUNNER_NAME")}
	j.RunID, _ = strconv.ParseInt(s.Getenv("GITHUB_RUN_ID"), 10, 64)
	j.RunAttempt, _ = strconv.Atoi(s.Getenv("GITHUB_RUN_ATTEMPT"))
	j.Workflow = workflowFile(s.Getenv("GITHUB_WORKFLOW_REF"))
	j.Running = s.InJob() || j.Event != "" || j.RunID != 0
	if j.Running {
		j.readPayload(s.Getenv("GITHUB_EVENT_PATH"))
	}
	return j
}

// workflowFile is the file of a reference such as
// "owner/name/.github/workflows/nightly-eval.yml@refs/heads/main".
func workflowFile(ref string) string {
	path, _, _ := strings.Cut(ref, "@")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (j *Job) readPayload(path string) {
	var payload struct {
		Repository struct {
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
		Run struct {
			Event          string `json:"event"`
			HeadBranch     string `json:"head_branch"`
			HeadRepository struct {
				FullName string `json:"full_name"`
			} `json:"head_repository"`
		} `json:"workflow_run"`
	}
	if path == "" {
		j.NoPayload = "the job names no file for it"
		return
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &payload)
	}
	if err != nil {
		j.NoPayload = fmt.Sprintf("reading it: %v", err)
		return
	}
	j.DefaultBranch = payload.Repository.DefaultBranch
	if j.Event == "schedule" && j.DefaultBranch == "" {
		j.DefaultBranch = strings.TrimPrefix(j.Ref, "refs/heads/") // github/codeql-action#1211
	}
	if j.Event == "workflow_run" {
		j.UpstreamEvent, j.HeadBranch, j.HeadRepository = payload.Run.Event, payload.Run.HeadBranch, payload.Run.HeadRepository.FullName
	}
}
