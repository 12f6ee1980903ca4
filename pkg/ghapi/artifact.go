package ghapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// Artifact is an archive that a workflow run left behind.
type Artifact struct {
	ID   int64
	Name string

	// Size is the archive's size in bytes, as GitHub states it.
	Size int64

	// Digest is the SHA-256 of the archive as 64 hex digits, empty where GitHub states none.
	Digest string

	Expired          bool
	Created, Expires time.Time
}

// rawArtifact is an artifact with the digest, which go-github v60 does not know.
type rawArtifact struct {
	github.Artifact
	Digest *string `json:"digest"`
}

// Artifacts lists the artifacts of a run by all its attempts, newest first, those of one name if name is
// not empty.
func (c *Client) Artifacts(ctx context.Context, repo Repo, run int64, name string) ([]Artifact, error) {
	doing := fmt.Sprintf("listing the artifacts of run %d of %s", run, repo)
	var all []Artifact
	err := pages(func(opts github.ListOptions) (*github.Response, error) {
		path := fmt.Sprintf("repos/%s/%s/actions/runs/%d/artifacts?per_page=%d", repo.Owner, repo.Name, run, opts.PerPage)
		if opts.Page > 0 {
			path += fmt.Sprintf("&page=%d", opts.Page)
		}
		var page struct {
			Artifacts []rawArtifact `json:"artifacts"`
		}
		req, err := c.rest.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return nil, err
		}
		resp, err := c.rest.Do(ctx, req, &page)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Artifacts {
			if name == "" || a.GetName() == name {
				all = append(all, a.artifact())
			}
		}
		return resp, nil
	})
	if err != nil {
		return nil, refused(doing, "actions: read", err)
	}
	sortNewest(all)
	return all, nil
}

func (a rawArtifact) artifact() Artifact {
	out := Artifact{ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(), Created: a.GetCreatedAt().Time, Expires: a.GetExpiresAt().Time}
	if a.Digest != nil {
		out.Digest = strings.ToLower(strings.TrimPrefix(*a.Digest, "sha256:"))
	}
	return out
}

// ErrIncomplete says that a download ended before the archive did, twice, or that its bytes are not those
// of the digest GitHub states. Nothing can be concluded from it.
var ErrIncomplete = errors.New("the download is incomplete")

// ErrExpired says that GitHub has deleted the artifact.
var ErrExpired = errors.New("the artifact has expired")

// Download writes the artifact's archive to file, from its start, and holds it to the stated digest. whole
// looks at the written file, and its error, like a broken connection, makes for one more try; nil
// accepts all. More than limit bytes are not taken. The storage host that GitHub redirects to never
// sees the token, and its signed address never shows in an error.
func (c *Client) Download(ctx context.Context, repo Repo, a Artifact, limit int64, file *os.File, whole func(*os.File) error) error {
	if a.Expired {
		return fmt.Errorf("downloading the artifact %q: %w", a.Name, ErrExpired)
	}
	if a.Size > limit {
		return fmt.Errorf("downloading the artifact %q: it has %d bytes, over the limit of %d", a.Name, a.Size, limit)
	}
	var err error
	for range 2 {
		if err = c.fetch(ctx, repo, a, limit, file); err == nil && whole != nil {
			if bad := whole(file); bad != nil {
				err = fmt.Errorf("downloading the artifact %q: %w: %w", a.Name, ErrIncomplete, bad)
			}
		}
		if !errors.Is(err, ErrIncomplete) {
			return err
		}
	}
	return err
}

// fetch is one try at a download.
func (c *Client) fetch(ctx context.Context, repo Repo, a Artifact, limit int64, file *os.File) error {
	doing := fmt.Sprintf("downloading the artifact %q", a.Name)
	location, err := c.archive(ctx, repo, a, doing)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return fmt.Errorf("%s: GitHub redirects to an address that is none", doing)
	}
	resp, err := c.plain.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, withoutQuery(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: the storage host %s answered %d", doing, resp.Request.URL.Host, resp.StatusCode)
	}
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(file, 0), sum), io.LimitReader(resp.Body, limit+1))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case n > limit:
		return fmt.Errorf("%s: it has more than the limit of %d bytes", doing, limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: the connection ended after %d bytes", doing, ErrIncomplete, n)
	case err != nil:
		return fmt.Errorf("%s: %w: %w", doing, ErrIncomplete, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); a.Digest != "" && got != a.Digest {
		return fmt.Errorf("%s: %w: its digest is sha256:%s, and GitHub states sha256:%s", doing, ErrIncomplete, got, a.Digest)
	}
	return nil
}

// archive is the signed address of the artifact's bytes. A repository that was renamed redirects to another
// address of the API first.
func (c *Client) archive(ctx context.Context, repo Repo, a Artifact, doing string) (string, error) {
	endpoint := fmt.Sprintf("/actions/artifacts/%d/zip", a.ID)
	at := fmt.Sprintf("repos/%s/%s%s", repo.Owner, repo.Name, endpoint)
	for range maxRenames {
		location, err := c.redirect(ctx, at, doing)
		if err != nil {
			return "", err
		}
		// An Enterprise Server may keep its storage on the API's own host.
		if !sameOrigin(location, c.rest.BaseURL) || !strings.HasSuffix(location.Path, endpoint) {
			return location.String(), nil
		}
		at = location.String()
	}
	return "", fmt.Errorf("%s: GitHub redirects in a circle", doing)
}

// maxRenames bounds the redirects within the API.
const maxRenames = 3

// redirect is where an address of the API, absolute or relative to its base, redirects to.
func (c *Client) redirect(ctx context.Context, at, doing string) (*url.URL, error) {
	req, err := c.rest.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	resp, err := c.direct.Do(req.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, withoutQuery(err))
	}
	defer discard(resp)
	switch resp.StatusCode {
	case http.StatusFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location, err := resp.Location()
		if err != nil {
			return nil, fmt.Errorf("%s: GitHub redirects to nowhere", doing)
		}
		return location, nil
	case http.StatusGone:
		return nil, fmt.Errorf("%s: %w", doing, ErrExpired)
	}
	if err := github.CheckResponse(resp); err != nil {
		return nil, refused(doing, "actions: read", err)
	}
	return nil, fmt.Errorf("%s: GitHub answered %d where it should redirect", doing, resp.StatusCode)
}

// sortNewest orders artifacts by time, newest first; two attempts of a run may leave one name twice, and
// ids, which grow, break ties.
func sortNewest(all []Artifact) {
	slices.SortFunc(all, func(a, b Artifact) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
}
