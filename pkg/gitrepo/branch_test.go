package gitrepo_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
)

// runGit runs git in dir, or anywhere for "".
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// dataBranch is a branch that does not exist yet, of a remote without commits.
func dataBranch(t *testing.T) gitrepo.Branch {
	t.Helper()
	remote, checkout := filepath.Join(t.TempDir(), "remote.git"), filepath.Join(t.TempDir(), "checkout")
	runGit(t, "", "init", "-q", "--bare", remote)
	runGit(t, "", "clone", "-q", remote, checkout)
	b, err := gitrepo.At(checkout).OpenBranch("data")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBranchRoundTrip(t *testing.T) {
	b, ctx := dataBranch(t), t.Context()
	if head, err := b.Head(ctx); head != "" || err != nil {
		t.Fatalf("a branch that is not there: got %q, %v", head, err)
	}
	store := func(text string) string {
		blob, err := b.Store(ctx, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return blob
	}
	first, err := b.Commit(ctx, "", []gitrepo.Edit{{Path: "a/one", Blob: store("1")}, {Path: "two ü\n", Blob: store("2")}}, "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, first); err != nil {
		t.Fatal(err)
	}
	second, err := b.Commit(ctx, first, []gitrepo.Edit{{Path: "a/one"}, {Path: "three", Blob: store("")}}, "second")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, second); err != nil {
		t.Fatal(err)
	}
	if head, err := b.Head(ctx); head != second || err != nil {
		t.Fatalf("got %q, %v, want %s", head, err, second)
	}
	files, err := b.Files(ctx, second)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := b.Blobs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	var got []string
	for _, f := range files {
		data, err := blobs.Read(f.Blob, 100)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Path+"="+string(data))
	}
	if want := []string{"three=", "two ü\n=2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := blobs.Read(files[1].Blob, 0); err == nil {
		t.Error("a file over the limit: got no error")
	}
}

// A push over a branch that has moved is told from every other failure.
func TestPushRejected(t *testing.T) {
	b, ctx := dataBranch(t), t.Context()
	commit := func(parent, text string) string {
		blob, err := b.Store(ctx, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := b.Commit(ctx, parent, []gitrepo.Edit{{Path: text, Blob: blob}}, text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := b.Push(ctx, commit("", "one")); err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, commit("", "another beginning")); !errors.Is(err, gitrepo.ErrRejected) {
		t.Errorf("got %v, want a rejection", err)
	}
	if err := b.Push(ctx, strings.Repeat("0", 39)+"1"); err == nil || errors.Is(err, gitrepo.ErrRejected) {
		t.Errorf("a commit that is not there: got %v, want another error", err)
	}
}

func TestOpenBranchRefuses(t *testing.T) {
	dir := t.TempDir()
	runGit(t, "", "init", "-q", dir)
	r := gitrepo.At(dir)
	if _, err := r.OpenBranch("data"); err == nil || !strings.Contains(err.Error(), "0 remotes") {
		t.Errorf("no remote: got %v", err)
	}
	runGit(t, dir, "remote", "add", "upstream", "x")
	if b, err := r.OpenBranch("data"); err != nil || b.String() != "upstream/data" {
		t.Errorf("one remote: got %v, %v", b, err)
	}
	runGit(t, dir, "remote", "add", "fork", "y")
	if _, err := r.OpenBranch("data"); err == nil || !strings.Contains(err.Error(), "none is named origin") {
		t.Errorf("two remotes: got %v", err)
	}
	for _, name := range []string{"", "a..b", "-x y", "a b", "refs/../x"} {
		if _, err := r.OpenBranch(name); err == nil || !strings.Contains(err.Error(), "is no name of a branch") {
			t.Errorf("%q: got %v", name, err)
		}
	}
}
