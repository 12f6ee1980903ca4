package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v4"
)

// waitLimit is how long a run may wait for a runner.
const waitLimit = time.Hour

// waiting are the states of a run that no runner has taken yet.
var waiting = []string{"queued", "waiting", "pending", "requested"}

// readCrons takes the schedules out of a workflow file of the checkout. None are found where the file
// is not there or has none: the night follows another workflow then.
func readCrons(root, workflow string) (schedule, error) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", workflow))
	if err != nil {
		return nil, nil
	}
	var file struct {
		On struct {
			Schedule []struct {
				Cron string `yaml:"cron"`
			} `yaml:"schedule"`
		} `yaml:"on"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, nil // such as on: push
	}
	var all schedule
	for _, entry := range file.On.Schedule {
		c, err := cron.ParseStandard(entry.Cron)
		if err != nil {
			return nil, fmt.Errorf("the cron %q of %s: %w", entry.Cron, workflow, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// workflowState finds a schedule that is off.
func workflowState(w ghapi.Workflow) *strict.Problem {
	if w.State == "active" || w.State == "" {
		return nil
	}
	hint := "enable it at " + w.URL
	if w.State == "disabled_inactivity" {
		hint += "; GitHub switches schedules off after 60 days without a commit"
	}
	p := finding(RuleSchedule, w.Path, hint, "the workflow is off (%s), so no night is scheduled", w.State)
	return &p
}

// workflowRuns finds runs that no runner takes, and runs that ended since the last measured night and
// left nothing in the history, be they red or green.
func workflowRuns(runs []ghapi.WorkflowRun, r *record, now time.Time) (found strict.Problems) {
	var stuck, empty []ghapi.WorkflowRun
	last := r.newest()
	for _, run := range runs {
		switch {
		case run.Event != "schedule" && run.Event != "workflow_run", run.Conclusion == "skipped":
		case slices.Contains(waiting, run.Status) && now.Sub(run.Created) > waitLimit:
			stuck = append(stuck, run)
		case run.Status == "completed" && run.Created.After(last) && !r.runs[run.ID]:
			empty = append(empty, run)
		}
	}
	if n := len(stuck); n > 0 {
		found = append(found, finding(RuleWaiting, stuck[n-1].URL, "start the runner, or mend its labels", "%d run(s) wait for a runner, the oldest for %s", n, span(now.Sub(stuck[n-1].Created))))
	}
	if n := len(empty); n > 0 {
		var words []string
		for _, run := range empty {
			words = append(words, fmt.Sprintf("%d (%s)", run.ID, run.Conclusion))
		}
		found = append(found, finding(RuleMeasured, empty[0].URL, "look at the first step that failed, and at the step that publishes", "%d scheduled run(s) since the last measured night ended and left nothing in the history: %s", n, strings.Join(words, ", ")))
	}
	return found
}

// runners finds that no runner can take the night. unseen is told where the token cannot see all of them,
// so that absence cannot be concluded.
func runners(f *ghapi.Fleet, labels []string) (found, unseen strict.Problems) {
	matching, online := 0, 0
	for _, r := range f.Runners {
		if _, ok := r.Match(labels); ok {
			matching++
			if r.Online() {
				online++
			}
		}
	}
	list := strings.Join(labels, ", ")
	switch {
	case online > 0:
	case len(f.Unseen) > 0:
		for _, text := range f.Unseen {
			unseen = append(unseen, finding(RuleRunner, list, "use a token that may see them", "no runner with these labels is online as far as this token sees: %s", text))
		}
	case matching > 0:
		found = append(found, finding(RuleRunner, list, "start it", "all %d runner(s) with these labels are offline", matching))
	default:
		found = append(found, finding(RuleRunner, list, "register one, or mend the labels", "no runner has these labels: of %d runner(s) none can ever take the night", len(f.Runners)))
	}
	return found, unseen
}

// parseLabels reads a JSON list of labels.
func parseLabels(text string) ([]string, error) {
	var labels []string
	if err := json.Unmarshal([]byte(text), &labels); err != nil || len(labels) == 0 || slices.Contains(labels, "") {
		return nil, fmt.Errorf(`%q is no list of labels: write one such as ["self-hosted", "gpu"]`, text)
	}
	return labels, nil
}
