// Package gitrepo asks the git command about a checkout, and keeps data on a branch that nobody checks out.
package gitrepo

import (
	"os/exec"
	"strings"
)

// Root is the top level of the checkout that dir is in, or dir itself where it is
// in none or git is not installed.
func Root(dir string) string {
	out, err := run(dir, "rev-parse", "--show-toplevel")
	if err != nil || out == "" {
		return dir
	}
	return out
}

// Head is the commit checked out at dir, as 40 hex digits.
func Head(dir string) (string, error) {
	return run(dir, "rev-parse", "--verify", "HEAD^{commit}")
}

// run is the trimmed output of git in dir.
func run(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = environment(cmd)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// environment lets git find the checkout by the folder alone: a GIT_DIR left in the environment by a
// hook would point it at another one.
func environment(cmd *exec.Cmd) []string {
	var env []string
	for _, entry := range cmd.Environ() {
		if name, _, _ := strings.Cut(entry, "="); name != "GIT_DIR" && name != "GIT_WORK_TREE" && name != "GIT_INDEX_FILE" {
			env = append(env, entry)
		}
	}
	return env
}
