package gitrepo

import "strings"

// Branch is the branch checked out, or "HEAD" where there is none: on a detached HEAD, before the first
// commit, and outside a checkout.
func (r Repo) Branch() string {
	out, err := r.output("rev-parse", "--abbrev-ref", "HEAD")
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return "HEAD"
}

// RemoteURL is the URL of a remote as the configuration has it, "" where there is no such remote.
func (r Repo) RemoteURL(remote string) string {
	out, err := r.output("config", "--get", "remote."+remote+".url")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
