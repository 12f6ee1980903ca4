package ghapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Runner is a self-hosted runner.
type Runner struct {
	ID   int64
	Name string

	// Group is the organisation's runner group, empty for a runner of the repository.
	Group string

	// Status is "online" or "offline".
	Status string

	Busy   bool
	Labels []string
}

// Online reports whether the runner is connected.
func (r Runner) Online() bool { return r.Status == "online" }

// Idle reports whether the runner would take a job now.
func (r Runner) Idle() bool { return r.Online() && !r.Busy }

// Fleet is what a token can see of the runners that a repository's jobs may land on.
type Fleet struct {
	Repo Repo

	// Runners are those of the repository, then those of the organisation's groups that are open to it.
	Runners []Runner

	// Closed are the organisation's runners whose group is not open to the repository.
	Closed []Runner

	// Unseen says, a sentence each, which runners may exist and cannot be seen with this token, and the
	// permission that would show them. A fleet with anything unseen proves no absence.
	Unseen []string
}

// Fleet lists the runners of a repository and of its organisation. A missing permission is no error: it
// is told in Unseen. The error is about everything else: limits, the network, an answer that is none.
func (c *Client) Fleet(ctx context.Context, repo Repo) (*Fleet, error) {
	f := &Fleet{Repo: repo}
	runners, err := c.repositoryRunners(ctx, repo)
	if err := f.unlessUnseen(err); err != nil {
		return nil, err
	}
	f.Runners = runners
	if err := f.unlessUnseen(c.addOrganisation(ctx, f)); err != nil {
		return nil, err
	}
	return f, nil
}

// unlessUnseen notes a lack of permission and hands every other error on.
func (f *Fleet) unlessUnseen(err error) error {
	if !IsAccess(err) {
		return err
	}
	f.Unseen = append(f.Unseen, err.Error())
	return nil
}

func (c *Client) repositoryRunners(ctx context.Context, repo Repo) ([]Runner, error) {
	var all []Runner
	err := pages(func(opts github.ListOptions) (*github.Response, error) {
		page, resp, err := c.rest.Actions.ListRunners(ctx, repo.Owner, repo.Name, &opts)
		if err != nil {
			return nil, err
		}
		return resp, collect(&all, page, "")
	})
	if err != nil {
		return nil, refused("listing the runners of "+repo.String(), "administration: read of the repository", err)
	}
	return all, nil
}

// addOrganisation adds the runners of the owner where that is an organisation. Which of its runners the
// repository may use is a matter of their groups, so a runner is looked up under its group, never by
// its name, which another group may use again.
func (c *Client) addOrganisation(ctx context.Context, f *Fleet) error {
	org := f.Repo.Owner
	const permission = "self-hosted runners: read of the organisation (admin:org for a classic token)"
	doing := "listing the runner groups of " + org
	open, err := c.groups(ctx, org, f.Repo.Name)
	if notFound(err) {
		user, lookErr := c.isUser(ctx, f.Repo)
		if lookErr != nil {
			return lookErr
		}
		if user {
			return nil
		}
	}
	if err != nil {
		return refused(doing, permission, err)
	}
	every, err := c.groups(ctx, org, "")
	if err != nil {
		return refused(doing, permission, err)
	}
	for _, g := range every {
		into := &f.Closed
		if slices.ContainsFunc(open, func(o *github.RunnerGroup) bool { return o.GetID() == g.GetID() }) {
			into = &f.Runners
		}
		err := pages(func(opts github.ListOptions) (*github.Response, error) {
			page, resp, err := c.rest.Actions.ListRunnerGroupRunners(ctx, org, g.GetID(), &opts)
			if err != nil {
				return nil, err
			}
			return resp, collect(into, page, g.GetName())
		})
		if err != nil {
			return refused(fmt.Sprintf("listing the runners of the group %q of %s", g.GetName(), org), permission, err)
		}
	}
	return nil
}

// groups lists the runner groups of an organisation, all or those open to a repository.
func (c *Client) groups(ctx context.Context, org, visibleTo string) ([]*github.RunnerGroup, error) {
	var all []*github.RunnerGroup
	err := pages(func(opts github.ListOptions) (*github.Response, error) {
		page, resp, err := c.rest.Actions.ListOrganizationRunnerGroups(ctx, org, &github.ListOrgRunnerGroupOptions{ListOptions: opts, VisibleToRepository: visibleTo})
		if err != nil {
			return nil, err
		}
		all = append(all, page.RunnerGroups...)
		return resp, nil
	})
	return all, err
}

// isUser reports whether the repository belongs to a person, who has no runners beside the repository's.
// GitHub answers 404 for a person's groups and for an organisation that the token may not see alike,
// so the repository is asked; one that is not found either has no organisation to speak of.
func (c *Client) isUser(ctx context.Context, repo Repo) (bool, error) {
	r, _, err := c.rest.Repositories.Get(ctx, repo.Owner, repo.Name)
	if notFound(err) {
		return true, nil
	}
	if err != nil {
		return false, refused("looking up "+repo.String(), "metadata: read of the repository", err)
	}
	return r.GetOwner().GetType() == "User", nil
}

func notFound(err error) bool {
	answer, ok := err.(*github.ErrorResponse)
	return ok && answer.Response != nil && answer.Response.StatusCode == http.StatusNotFound
}

func collect(into *[]Runner, page *github.Runners, group string) error {
	for _, r := range page.Runners {
		if r == nil {
			return fmt.Errorf("GitHub's list of runners holds a null")
		}
		one := Runner{ID: r.GetID(), Name: r.GetName(), Group: group, Status: r.GetStatus(), Busy: r.GetBusy()}
		for _, l := range r.Labels {
			one.Labels = append(one.Labels, l.GetName())
		}
		*into = append(*into, one)
	}
	return nil
}

// Match reports whether the runner has every wanted label. GitHub compares labels without regard to case
// and as wholes; blanks around one are no part of it. spelled are the runner's own spellings of those
// labels that were wanted in another one.
func (r Runner) Match(wanted []string) (spelled []string, ok bool) {
	for _, w := range wanted {
		i := slices.IndexFunc(r.Labels, func(have string) bool { return SameLabel(w, have) })
		if i < 0 {
			return nil, false
		}
		if r.Labels[i] != w {
			spelled = append(spelled, r.Labels[i])
		}
	}
	return spelled, true
}

// SameLabel compares two runner labels as GitHub does.
func SameLabel(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
