package ghapi

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Repo names a repository.
type Repo struct{ Owner, Name string }

func (r Repo) String() string { return r.Owner + "/" + r.Name }

var (
	ownerGrammar = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$`)
	nameGrammar  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	scpGrammar   = regexp.MustCompile(`^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):([^/].*)$`)
)

// ParseRepo reads "owner/name".
func ParseRepo(text string) (Repo, error) {
	owner, name, ok := strings.Cut(text, "/")
	if !ok || !ownerGrammar.MatchString(owner) || !nameGrammar.MatchString(name) || name == "." || name == ".." {
		return Repo{}, fmt.Errorf("want OWNER/NAME, got %q", text)
	}
	return Repo{owner, name}, nil
}

// Remote finds the repository that a git remote stands for on the options' server: git@host:o/n,
// ssh://git@host/o/n and https://host/o/n, with or without ".git", an https one with or without
// credentials, which are ignored. The host is github.com or that of ServerURL or APIURL. The error
// never shows credentials.
func (o Options) Remote(remote string) (Repo, error) {
	host, path, err := splitRemote(remote)
	if err != nil {
		return Repo{}, err
	}
	_, server, err := hosts(o.APIURL, o.ServerURL)
	if err != nil {
		return Repo{}, err
	}
	known := []string{server.Host, server.Hostname()}
	if o.ServerURL == "" {
		known = append(known, "github.com")
	}
	for _, k := range known {
		if k == "github.com" {
			known = append(known, "ssh.github.com")
		}
	}
	for _, k := range known {
		if host == k {
			return ParseRepo(strings.TrimSuffix(path, ".git"))
		}
	}
	return Repo{}, fmt.Errorf("the remote is at %s, which is not the GitHub server %s; GITHUB_SERVER_URL names another", host, server.Host)
}

// Find is the repository to work on: the one that is named, else that of a remote's URL, else that of the
// surroundings. Empty texts name none.
func (o Options) Find(named, remote string) (Repo, error) {
	if named != "" {
		return ParseRepo(named)
	}
	repo, err := o.Remote(remote)
	if err == nil {
		return repo, nil
	}
	if repo, envErr := ParseRepo(o.Repository); envErr == nil {
		return repo, nil
	}
	if remote == "" {
		return Repo{}, fmt.Errorf("which repository on GitHub this is cannot be told: the checkout has no remote origin")
	}
	return Repo{}, fmt.Errorf("which repository on GitHub this is cannot be told: %w", err)
}

// splitRemote is the host of a remote and the path on it, for the spellings that name a GitHub
// repository.
func splitRemote(remote string) (host, path string, err error) {
	if m := scpGrammar.FindStringSubmatch(remote); m != nil {
		return m[2], m[3], nil
	}
	u, err := url.Parse(remote)
	if err != nil {
		return "", "", fmt.Errorf("the remote is no URL")
	}
	switch u.Scheme {
	case "https":
		host = u.Host
	case "ssh":
		host = u.Hostname()
	default:
		return "", "", fmt.Errorf("the remote %q is no https or ssh URL of a GitHub repository", u.Redacted())
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("the remote %q has a query or a fragment", u.Redacted())
	}
	return host, strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/"), nil
}
