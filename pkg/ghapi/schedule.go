package ghapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-github/v60/github"
)

// Workflow is what GitHub says of a workflow.
type Workflow struct {
	// Name is its title, Path its file.
	Name, Path string

	// State is "active", "disabled_manually", "disabled_inactivity" and so on.
	State string

	URL string
}

// WorkflowRun is one run of a workflow.
type WorkflowRun struct {
	Run

	// Event is what started it. Status is "queued", "in_progress", "completed" and so on; Conclusion is
	// "success", "failure" and so on once it is completed.
	Event, Status, Conclusion string

	// Created is when it was asked for.
	Created time.Time
}

// Workflow looks at a workflow by its file name, such as "nightly.yml".
func (c *Client) Workflow(ctx context.Context, repo Repo, file string) (Workflow, error) {
	w, _, err := c.rest.Actions.GetWorkflowByFileName(ctx, repo.Owner, repo.Name, file)
	if err != nil {
		return Workflow{}, refused(fmt.Sprintf("looking at the workflow %s of %s", file, repo), "actions: read", err)
	}
	return Workflow{w.GetName(), w.GetPath(), w.GetState(), w.GetHTMLURL()}, nil
}

// WorkflowRuns lists the last runs of a workflow, newest first, at most 100.
func (c *Client) WorkflowRuns(ctx context.Context, repo Repo, file string) ([]WorkflowRun, error) {
	list, _, err := c.rest.Actions.ListWorkflowRunsByFileName(ctx, repo.Owner, repo.Name, file, &github.ListWorkflowRunsOptions{ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		return nil, refused(fmt.Sprintf("listing the runs of %s of %s", file, repo), "actions: read", err)
	}
	runs := make([]WorkflowRun, len(list.WorkflowRuns))
	for i, r := range list.WorkflowRuns {
		runs[i] = WorkflowRun{Run{r.GetID(), r.GetHTMLURL()}, r.GetEvent(), r.GetStatus(), r.GetConclusion(), r.GetCreatedAt().Time}
	}
	return runs, nil
}
