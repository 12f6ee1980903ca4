package gitrepo

import (
	"slices"
	"strings"
)

// MergeBase is the commit at which HEAD and the other commit parted. It fails in a clone too shallow to
// have it.
func (r Repo) MergeBase(other string) (string, error) {
	out, err := r.output("merge-base", "--end-of-options", other, "HEAD")
	return strings.TrimSpace(string(out)), err
}

// Changed are the files that differ between a commit and the work tree, untracked ones included, in
// order. A rename is two files.
func (r Repo) Changed(commit string) ([]string, error) {
	tracked, err := r.output("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", "--end-of-options", commit, "--")
	if err != nil {
		return nil, err
	}
	untracked, err := r.output("ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(strings.Split(string(tracked)+string(untracked), "\x00"), func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names), nil
}
