package gitrepo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// ErrNotFound is returned for a file that a commit does not have, or a commit that does not exist.
var ErrNotFound = errors.New("not found in the repository")

// A Repo answers questions about the checkout whose top level it stands at. Paths are relative to it,
// slash-separated and literal: a star in one is a star.
type Repo struct {
	dir string
}

// At is the checkout at dir. Nothing is asked yet.
func At(dir string) Repo { return Repo{dir} }

// A Change is one path that differs between HEAD, the index and the work tree, or is untracked.
type Change struct {
	// Code is git's two letters, such as " M" or "??".
	Code string

	// Path is the file; From is where a rename or copy came from, "" otherwise.
	Path string
	From string
}

// Head is the commit checked out, as 40 hex digits.
func (r Repo) Head() (string, error) {
	out, err := r.output("rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(string(out)), err
}

// Changes are what git status shows: changed and untracked files, without the ignored ones.
func (r Repo) Changes() ([]Change, error) {
	out, err := r.output("status", "--porcelain=v1", "-z", "--untracked-files=all")
	if err != nil {
		return nil, err
	}
	var changes []Change
	entries := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i < len(entries); i++ {
		if len(entries[i]) < 4 {
			continue
		}
		c := Change{Code: entries[i][:2], Path: entries[i][3:]}
		if strings.ContainsAny(c.Code, "RC") && i+1 < len(entries) {
			i++
			c.From = entries[i]
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// Tracked reports whether the index has the file, be it committed or not.
func (r Repo) Tracked(path string) (bool, error) {
	out, err := r.output("ls-files", "-z", "--", path)
	return strings.HasPrefix(string(out), strings.TrimPrefix(path, "./")+"\x00"), err
}

// Ignored reports whether an ignore rule applies to the file, which need not exist. A tracked file is
// not ignored.
func (r Repo) Ignored(path string) (bool, error) {
	// check-ignore refuses the literal setting, but takes a path that begins with ./ as it is.
	cmd := r.command("check-ignore", "-q", "--", "./"+path)
	cmd.Env = append(cmd.Env, "GIT_LITERAL_PATHSPECS=0")
	err := runCommand(cmd)
	if status(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// HasCommit reports whether the commit is there.
func (r Repo) HasCommit(commit string) (bool, error) {
	_, err := r.output("cat-file", "-e", commit+"^{commit}")
	if status(err) > 0 {
		if _, headErr := r.output("rev-parse", "--git-dir"); headErr != nil {
			return false, headErr
		}
		return false, nil
	}
	return err == nil, err
}

// Blob returns a file's bytes at a commit; [ErrNotFound] when it has none, and an error when it has
// more than limit bytes.
func (r Repo) Blob(commit, path string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	err := r.copyBlob(&limited{&b, limit}, commit, path)
	return b.Bytes(), err
}

// BlobSHA256 is the digest of a file's bytes at a commit, in lower-case hex; [ErrNotFound] when it has
// none.
func (r Repo) BlobSHA256(commit, path string) (string, error) {
	sum := sha256.New()
	err := r.copyBlob(sum, commit, path)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func (r Repo) copyBlob(w io.Writer, commit, path string) error {
	object := commit + ":" + path
	kind, err := r.output("cat-file", "-t", object)
	if status(err) > 0 {
		return fmt.Errorf("%s at %.12s: %w", path, commit, ErrNotFound)
	}
	if err != nil {
		return err
	}
	if k := strings.TrimSpace(string(kind)); k != "blob" {
		return fmt.Errorf("%s at %.12s is a %s, no file: %w", path, commit, k, ErrNotFound)
	}
	cmd := r.command("cat-file", "blob", object)
	cmd.Stdout = w
	return runCommand(cmd)
}

type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, errors.New("the file is too large")
	}
	return l.w.Write(b)
}

func (r Repo) output(args ...string) ([]byte, error) {
	var out bytes.Buffer
	cmd := r.command(args...)
	cmd.Stdout = &out
	err := runCommand(cmd)
	return out.Bytes(), err
}

// command takes the paths as they are, and takes no lock that a neighbour might be waiting for.
func (r Repo) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(environment(cmd), "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	return cmd
}

// runCommand runs git; an error says what git said.
func runCommand(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	text, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	if text == "" {
		return fmt.Errorf("git %s: %w", cmd.Args[1], err)
	}
	return fmt.Errorf("git %s: %s: %w", cmd.Args[1], text, err)
}

// status is git's own exit status, 0 when it did not run or did not end by itself.
func status(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	return 0
}
