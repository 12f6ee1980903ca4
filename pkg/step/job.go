package step

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
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

// commandFiles are the variables that name a job's command files. They are this step's to write.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"}

// ChildEnviron is the environment for a child process: this process's without its own inputs, which
// another door would read as its own, and without the job's command files; with add over it.
func (s *Step) ChildEnviron(add ...string) []string {
	var env []string
	for _, entry := range s.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "INPUT_") && !slices.Contains(commandFiles, name) {
			env = append(env, entry)
		}
	}
	return append(env, add...)
}
