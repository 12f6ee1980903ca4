package ghapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Proposal is a change of one file that a pull request proposes.
type Proposal struct {
	// Parent is the commit that the change is made on; the repository must have it.
	Parent string

	// Branch is the branch to make. One that is there already is taken as it is: name it by the content.
	Branch string

	// Path is the file, from the top of the repository; Content what it shall hold.
	Path    string
	Content []byte

	// Title and Body are the pull request's, Title the commit's too.
	Title, Body string
}

// Pull is a pull request.
type Pull struct {
	Number int
	URL    string
}

// Propose opens a pull request into the default branch, or, where one is open from that branch, brings
// its title and text up to date. No branch is ever moved.
func (c *Client) Propose(ctx context.Context, repo Repo, p Proposal) (Pull, error) {
	home, _, err := c.rest.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return Pull{}, refused("looking at "+repo.String(), "metadata: read", err)
	}
	if err := c.branch(ctx, repo, p); err != nil {
		return Pull{}, err
	}
	return c.pull(ctx, repo, p, home.GetDefaultBranch())
}

// branch makes the branch with the one commit.
func (c *Client) branch(ctx context.Context, repo Repo, p Proposal) error {
	parent, _, err := c.rest.Git.GetCommit(ctx, repo.Owner, repo.Name, p.Parent)
	if err != nil {
		return refused(fmt.Sprintf("looking for commit %.12s of %s", p.Parent, repo), "contents: read, and the commit must be pushed", err)
	}
	tree, _, err := c.rest.Git.CreateTree(ctx, repo.Owner, repo.Name, parent.GetTree().GetSHA(), []*github.TreeEntry{{
		Path: &p.Path, Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(string(p.Content)),
	}})
	if err != nil {
		return refused("storing "+p.Path+" in "+repo.String(), "contents: write", err)
	}
	commit, _, err := c.rest.Git.CreateCommit(ctx, repo.Owner, repo.Name, &github.Commit{
		Message: &p.Title, Tree: tree, Parents: []*github.Commit{{SHA: &p.Parent}},
	}, nil)
	if err != nil {
		return refused("committing to "+repo.String(), "contents: write", err)
	}
	_, answer, err := c.rest.Git.CreateRef(ctx, repo.Owner, repo.Name, &github.Reference{
		Ref: github.String("refs/heads/" + p.Branch), Object: &github.GitObject{SHA: commit.SHA},
	})
	if err != nil && answer != nil && answer.StatusCode == http.StatusUnprocessableEntity && strings.Contains(err.Error(), "already exists") {
		return nil
	}
	if err != nil {
		return refused("making the branch "+p.Branch+" of "+repo.String(), "contents: write", err)
	}
	return nil
}

func (c *Client) pull(ctx context.Context, repo Repo, p Proposal, base string) (Pull, error) {
	open, _, err := c.rest.PullRequests.List(ctx, repo.Owner, repo.Name, &github.PullRequestListOptions{State: "open", Head: repo.Owner + ":" + p.Branch, Base: base})
	if err != nil {
		return Pull{}, refused("listing the pull requests of "+repo.String(), "pull_requests: read", err)
	}
	var done *github.PullRequest
	if len(open) > 0 {
		done, _, err = c.rest.PullRequests.Edit(ctx, repo.Owner, repo.Name, open[0].GetNumber(), &github.PullRequest{Title: &p.Title, Body: &p.Body})
	} else {
		done, _, err = c.rest.PullRequests.Create(ctx, repo.Owner, repo.Name, &github.NewPullRequest{Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &base})
	}
	if err != nil {
		return Pull{}, refused("opening a pull request of "+repo.String(), "pull_requests: write", err)
	}
	return Pull{done.GetNumber(), done.GetHTMLURL()}, nil
}
