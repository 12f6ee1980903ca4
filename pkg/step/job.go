package step

import (
	"encoding/json"
	"os"
	"strconv"
)

// Job is what a step knows of the workflow run it belongs to; all zero outside a job.
type Job struct {
	// Event is what started the run: "schedule", "workflow_dispatch", "workflow_run" …
	Event string

	// UpstreamEvent is what started the run that a "workflow_run" event reports on, as far as
	// the event's payload says so.
	UpstreamEvent string

	// RunID and RunAttempt tell this run from every other of the repository.
	RunID      int64
	RunAttempt int

	// Runner is the runner's name.
	Runner string
}

// Job reads the job's variables and its event's payload.
func (s *Step) Job() Job {
	j := Job{Event: s.Getenv("GITHUB_EVENT_NAME"), Runner: s.Getenv("RUNNER_NAME")}
	j.RunID, _ = strconv.ParseInt(s.Getenv("GITHUB_RUN_ID"), 10, 64)
	j.RunAttempt, _ = strconv.Atoi(s.Getenv("GITHUB_RUN_ATTEMPT"))
	if j.Event != "workflow_run" {
		return j
	}
	var payload struct {
		Run struct {
			Event string `json:"event"`
		} `json:"workflow_run"`
	}
	text, err := os.ReadFile(s.Getenv("GITHUB_EVENT_PATH"))
	if err == nil && json.Unmarshal(text, &payload) == nil {
		j.UpstreamEvent = payload.Run.Event
	}
	return j
}
