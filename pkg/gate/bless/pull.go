package bless

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// errPull is why a pull request cannot even be tried.
var errPull = errors.New("no pull request can be opened")

// bodyLimit is GitHub's limit of a pull request's text, with room to say that it was cut.
const bodyLimit = 65000

// openPull proposes the changed file on top of the commit that is checked out, so that what happened on
// the default branch since is merged and not undone. The branch is named by the content: the same
// refresh twice is one pull request, and no branch is ever moved.
func (r *refresher) openPull(ctx context.Context, content []byte, body string) (string, error) {
	options := ghapi.FromEnvironment(r.Getenv)
	token := ghapi.TokenFrom(r.Getenv)
	if token == "" {
		return "", fmt.Errorf("%w: there is no token in GITHUB_TOKEN or GH_TOKEN", errPull)
	}
	r.Mask(token)
	options.Note = func(text string) { r.Say("%s", text) }
	checkout := gitrepo.At(r.Root())
	repo, err := options.Find(r.In.String("github-repo"), checkout.RemoteURL("origin"))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPull, err)
	}
	path, err := filepath.Rel(r.Root(), r.out)
	if err != nil || !filepath.IsLocal(path) {
		return "", fmt.Errorf("%w: %s is not inside the repository", errPull, r.out)
	}
	parent, err := checkout.Head()
	if err != nil {
		return "", fmt.Errorf("%w: finding the commit that is checked out: %w", errPull, err)
	}
	client, err := ghapi.New(options)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPull, err)
	}
	pull, err := client.Propose(ctx, repo, ghapi.Proposal{
		Parent: parent, Branch: fmt.Sprintf("refresh-baselines-%.12x", sha256.Sum256(content)),
		Path: filepath.ToSlash(path), Content: content, Title: "Refresh the baselines from a " + r.In.String("from"), Body: fit(body),
	})
	return pull.URL, err
}

// fit cuts a text at a line.
func fit(body string) string {
	if len(body) <= bodyLimit {
		return body
	}
	cut := body[:bodyLimit]
	for len(cut) > 0 && cut[len(cut)-1] != '\n' {
		cut = cut[:len(cut)-1]
	}
	return cut + "\nThe rest is in the job's summary.\n"
}

func pullProblem(err error) strict.Problem {
	if errors.Is(err, errPull) {
		return strict.Problem{Field: "--open-pr", Message: err.Error(), Hint: "the file is written; commit it, or mend this and run again"}
	}
	return ghapi.Problem(err)
}
