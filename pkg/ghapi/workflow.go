package ghapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// Dispatch is a request to start a workflow by hand.
type Dispatch struct {
	// Workflow is the workflow's file name, such as "fixture.yml".
	Workflow string

	// Ref is the branch or tag to run.
	Ref string

	Inputs map[string]string
}

// Run is a workflow run.
type Run struct {
	ID  int64
	URL string
}

// Started is what a dispatch answers: the run with its details, or, from a server that does not give
// them, no run at all (its ID is 0) and the page where it will show.
type Started struct {
	Run

	// Listed is the page that lists the workflow's runs.
	Listed string
}

// Dispatch starts a workflow and returns the run it became. The request is never repeated: a second run
// would take the runner for nothing. An older server, which gives no run details, is asked for the one
// run that appeared since; where that is not plain, the answer has no run.
func (c *Client) Dispatch(ctx context.Context, repo Repo, d Dispatch) (Started, error) {
	doing := fmt.Sprintf("dispatching %s of %s", d.Workflow, repo)
	out := Started{Listed: fmt.Sprintf("%s/%s/actions/workflows/%s", c.Server(), repo, url.PathEscape(d.Workflow))}
	before, err := c.newestRun(ctx, repo, d)
	if err != nil {
		return out, refused(doing, "actions: read", err)
	}
	body := map[string]any{"ref": d.Ref, "return_run_details": true}
	if len(d.Inputs) > 0 {
		body["inputs"] = d.Inputs
	}
	err = c.dispatch(ctx, repo, d, body, &out)
	if err != nil && strings.Contains(err.Error(), "return_run_details") {
		// A server older than the key refuses it by name, and has started nothing.
		delete(body, "return_run_details")
		err = c.dispatch(ctx, repo, d, body, &out)
	}
	if err != nil {
		return out, refused(doing, "actions: write", err)
	}
	if out.ID == 0 {
		c.findRun(ctx, repo, d, before, &out)
	}
	return out, nil
}

func (c *Client) dispatch(ctx context.Context, repo Repo, d Dispatch, body map[string]any, out *Started) error {
	path := fmt.Sprintf("repos/%s/%s/actions/workflows/%s/dispatches", repo.Owner, repo.Name, url.PathEscape(d.Workflow))
	req, err := c.rest.NewRequest(http.MethodPost, path, body)
	if err != nil {
		return err
	}
	var details struct {
		ID   int64  `json:"workflow_run_id"`
		Page string `json:"html_url"`
	}
	_, err = c.rest.Do(ctx, req, &details)
	out.Run = Run{details.ID, details.Page}
	return err
}

// findTries and findWait bound the search for a run that a dispatch did not name: GitHub lists it some
// seconds later.
const (
	findTries = 5
	findWait  = 2 * time.Second
)

// findRun looks for the one run newer than before.
func (c *Client) findRun(ctx context.Context, repo Repo, d Dispatch, before int64, out *Started) {
	for range findTries {
		if c.clock.Sleep(ctx, findWait) != nil {
			return
		}
		runs, err := c.runs(ctx, repo, d)
		if err != nil {
			return
		}
		var newer []*github.WorkflowRun
		for _, r := range runs {
			if r.GetID() > before {
				newer = append(newer, r)
			}
		}
		if len(newer) == 1 {
			out.Run = Run{newer[0].GetID(), newer[0].GetHTMLURL()}
		}
		if len(newer) > 0 {
			return
		}
	}
}

// newestRun is the greatest run id of the workflow so far, 0 if there is none. A workflow that cannot be
// found says so here, before anything is started.
func (c *Client) newestRun(ctx context.Context, repo Repo, d Dispatch) (int64, error) {
	runs, err := c.runs(ctx, repo, d)
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	newest := runs[0].GetID()
	for _, r := range runs {
		newest = max(newest, r.GetID())
	}
	return newest, nil
}

// runs is the first page of the workflow's dispatched runs, newest first.
func (c *Client) runs(ctx context.Context, repo Repo, d Dispatch) ([]*github.WorkflowRun, error) {
	list, _, err := c.rest.Actions.ListWorkflowRunsByFileName(ctx, repo.Owner, repo.Name, url.PathEscape(d.Workflow),
		&github.ListWorkflowRunsOptions{Event: "workflow_dispatch", ListOptions: github.ListOptions{PerPage: perPage}})
	if err != nil {
		return nil, err
	}
	return list.WorkflowRuns, nil
}
