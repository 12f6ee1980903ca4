package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Branch is a branch of one of the checkout's remotes that nobody checks out: its files are read and
// written as objects. The checkout's work tree, index and refs stay as they are; its configuration and
// credentials are used.
type Branch struct {
	repo   Repo
	remote string
	url    string // what is pushed to; by the remote's name, git would also move the checkout's own idea of the branch
	name   string
}

// ErrRejected is returned for a push that the remote refused because the branch has moved, or another
// push held it.
var ErrRejected = errors.New("the branch has moved")

// OpenBranch is the branch of that name at the checkout's remote: "origin", or the only one there is.
// Whether the branch exists is not asked yet.
func (r Repo) OpenBranch(name string) (Branch, error) {
	if _, err := r.output("check-ref-format", "refs/heads/"+name); err != nil {
		return Branch{}, fmt.Errorf("%q is no name of a branch", name)
	}
	out, err := r.output("remote")
	if err != nil {
		return Branch{}, err
	}
	remote, remotes := "origin", strings.Fields(string(out))
	if len(remotes) == 1 {
		remote = remotes[0]
	}
	if !slices.Contains(remotes, remote) {
		return Branch{}, fmt.Errorf("the checkout at %s has %d remotes and none is named origin", r.dir, len(remotes))
	}
	url, err := r.output("remote", "get-url", "--push", remote)
	return Branch{r, remote, strings.TrimSpace(string(url)), name}, err
}

// String is "REMOTE/NAME".
func (b Branch) String() string { return b.remote + "/" + b.name }

func (b Branch) ref() string { return "refs/heads/" + b.name }

// Head asks the remote for the branch's commit, "" where the remote says that it has no such branch.
func (b Branch) Head(ctx context.Context) (string, error) {
	out, err := b.repo.ask(ctx, nil, nil, "ls-remote", "--exit-code", b.remote, b.ref())
	const noMatch = 2
	if status(err) == noMatch {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	commit, _, found := strings.Cut(string(out), "\t")
	if !found {
		return "", fmt.Errorf("git ls-remote: no commit in %q", out)
	}
	return commit, nil
}

// Fetch gets a commit of the branch, and known, unless it is "", is one that is here already. No ref
// is written, so nothing of it is seen by whoever uses the checkout.
func (b Branch) Fetch(ctx context.Context, commit, known string) error {
	if b.has(ctx, commit) {
		return nil
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-auto-maintenance", "--no-recurse-submodules"}
	if known != "" {
		args = append(args, "--negotiation-tip="+known)
	}
	if _, err := b.repo.ask(ctx, nil, nil, append(args, b.remote, b.ref())...); err != nil {
		return err
	}
	if !b.has(ctx, commit) {
		return fmt.Errorf("git fetch: %s of %s did not come: was the branch rewritten?", commit, b)
	}
	return nil
}

func (b Branch) has(ctx context.Context, commit string) bool {
	_, err := b.repo.ask(ctx, nil, nil, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// A TreeFile is a file of a commit.
type TreeFile struct {
	// Mode is git's, "100644" for a plain file; Blob is the object's name.
	Mode, Blob string
	// Path is slash-separated, from the top.
	Path string
}

// Files lists every file of a commit, sorted by path.
func (b Branch) Files(ctx context.Context, commit string) ([]TreeFile, error) {
	out, err := b.repo.ask(ctx, nil, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var files []TreeFile
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, path, found := strings.Cut(entry, "\t")
		part := strings.Fields(head)
		if !found || len(part) != 3 {
			continue // an empty tree
		}
		files = append(files, TreeFile{Mode: part[0], Blob: part[2], Path: path})
	}
	return files, nil
}

// Store puts the bytes of a file into the checkout's objects and returns the object's name.
func (b Branch) Store(ctx context.Context, data []byte) (string, error) {
	blob, err := b.repo.ask(ctx, nil, data, "hash-object", "-w", "--stdin")
	return strings.TrimSpace(string(blob)), err
}

// An Edit is one file to put into a commit, by the name of its object, or, where that is "", to take out.
type Edit struct {
	Path, Blob string
}

// Commit makes a commit of the edits over parent, or a first commit without a parent where that is "".
// It is an object only: nothing points to it until it is pushed.
func (b Branch) Commit(ctx context.Context, parent string, edits []Edit, message string) (string, error) {
	scratch, err := os.MkdirTemp("", "gatehouse-index-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the index: %w", err)
	}
	defer os.RemoveAll(scratch)
	env := append([]string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}, committer...)
	ask := func(stdin []byte, args ...string) (string, error) {
		out, err := b.repo.ask(ctx, env, stdin, args...)
		return strings.TrimSpace(string(out)), err
	}
	if parent != "" {
		if _, err := ask(nil, "read-tree", parent); err != nil {
			return "", err
		}
	}
	var info bytes.Buffer
	for _, e := range edits {
		if e.Blob == "" {
			fmt.Fprintf(&info, "0 %040d\t%s\x00", 0, e.Path)
		} else {
			fmt.Fprintf(&info, "100644 %s\t%s\x00", e.Blob, e.Path)
		}
	}
	if _, err := ask(info.Bytes(), "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", err
	}
	tree, err := ask(nil, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree, "-m", message}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return ask(nil, args...)
}

// committer signs what a machine commits; a runner has no identity of its own.
var committer = []string{
	"GIT_AUTHOR_NAME=Gatehouse", "GIT_AUTHOR_EMAIL=history-publish@gatehouse.invalid",
	"GIT_COMMITTER_NAME=Gatehouse", "GIT_COMMITTER_EMAIL=history-publish@gatehouse.invalid",
}

// Push moves the branch to commit by a fast-forward, or creates it. The error is [ErrRejected] where
// the branch has moved meanwhile.
func (b Branch) Push(ctx context.Context, commit string) error {
	out, err := b.repo.ask(ctx, nil, nil, "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		b.url, commit+":"+b.ref())
	if err == nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "!") && moved(line) {
			return fmt.Errorf("%w: %s", ErrRejected, strings.TrimSpace(line))
		}
	}
	return err
}

// moved tells a push that lost a race from one that the remote will never take. A remote names the race
// by one of these.
func moved(rejection string) bool {
	for _, words := range []string{"fetch first", "non-fast-forward", "cannot lock ref", "incorrect old value", "failed to update ref", "stale info", "reference already exists"} {
		if strings.Contains(rejection, words) {
			return true
		}
	}
	return false
}

// ask runs git with more environment and a standard input, and returns its output; the error says what
// git said.
func (r Repo) ask(ctx context.Context, env []string, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(append(environment(cmd), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), env...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := runCommand(cmd)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), err
}
