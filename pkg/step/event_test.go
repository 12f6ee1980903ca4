package step

import (
	"os"
	"path/filepath"
	"testing"
)

func TestJob(t *testing.T) {
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"workflow_run": {"event": "schedule", "id": 1}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want Job
	}{
		"no job": {nil, Job{}},
		"night":  {map[string]string{"GITHUB_EVENT_NAME": "schedule", "GITHUB_RUN_ID": "900", "GITHUB_RUN_ATTEMPT": "2", "RUNNER_NAME": "gpu-1", "GITHUB_EVENT_PATH": event}, Job{"schedule", "", 900, 2, "gpu-1"}},
		"chained": {map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_RUN_ID": "901", "GITHUB_EVENT_PATH": event},
			Job{"workflow_run", "schedule", 901, 0, ""}},
		"no payload": {map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": event + ".gone"}, Job{Event: "workflow_run"}},
	} {
		s := &Step{Proc: Proc{Getenv: func(k string) string { return c.env[k] }}}
		if got := s.Job(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
