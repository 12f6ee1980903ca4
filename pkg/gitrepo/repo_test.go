package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkout makes a repository with two commits and returns it with the first commit's id.
func checkout(t *testing.T) (dir, first string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "a.txt", "one\n")
	write(t, dir, "x.txt", "x\n")
	commit(t, dir)
	first = git(t, dir, "rev-parse", "HEAD")
	write(t, dir, "a.txt", "two\n")
	commit(t, dir)
	return dir, first
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "c")
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	file := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBlobs(t *testing.T) {
	dir, first := checkout(t)
	r := At(dir)
	if got, err := r.Blob(first, "a.txt", 100); err != nil || string(got) != "one\n" {
		t.Errorf("got %q (%v), want the first commit's bytes", got, err)
	}
	if got, err := r.Blob("HEAD", "a.txt", 100); err != nil || string(got) != "two\n" {
		t.Errorf("got %q (%v), want the second commit's bytes", got, err)
	}
	if _, err := r.Blob("HEAD", "a.txt", 3); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v, want an error about the size", err)
	}
	if got, err := r.BlobSHA256(first, "a.txt"); err != nil || got != "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" {
		t.Errorf("got %s (%v), want the digest of one", got, err)
	}
	for _, object := range [][2]string{{"HEAD", "none.txt"}, {strings.Repeat("0", 40), "a.txt"}, {"HEAD", ""}} {
		if _, err := r.Blob(object[0], object[1], 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: got %v, want ErrNotFound", object, err)
		}
	}
	for commit, want := range map[string]bool{first: true, strings.Repeat("0", 40): false} {
		if got, err := r.HasCommit(commit); err != nil || got != want {
			t.Errorf("HasCommit(%s): got %v (%v), want %v", commit, got, err, want)
		}
	}
}

// Every path is literal: one that looks like a pattern or like magic names itself alone.
func TestTrackedAndIgnored(t *testing.T) {
	dir, _ := checkout(t)
	r := At(dir)
	write(t, dir, "[a].txt", "not a.txt\n")
	write(t, dir, "raw/kept.log", "x")
	git(t, dir, "add", "-f", "raw/kept.log")
	tests := []struct {
		path             string
		tracked, ignored bool
	}{
		{"a.txt", true, false},
		{"[a].txt", false, false},
		{"*.txt", false, false},
		{":(top)a.txt", false, false},
		{"raw", false, false},
		{"raw/kept.log", true, false},
		{"raw/new.log", false, true},
		{"raw/[n]ew.log", false, true},
		{":new.log", false, true},
		{"raw/new.txt", false, false},
	}
	for _, tt := range tests {
		if got, err := r.Tracked(tt.path); err != nil || got != tt.tracked {
			t.Errorf("Tracked(%s): got %v (%v), want %v", tt.path, got, err, tt.tracked)
		}
		if got, err := r.Ignored(tt.path); err != nil || got != tt.ignored {
			t.Errorf("Ignored(%s): got %v (%v), want %v", tt.path, got, err, tt.ignored)
		}
	}
}

func TestChanges(t *testing.T) {
	dir, _ := checkout(t)
	r := At(dir)
	if got, err := r.Changes(); err != nil || len(got) != 0 {
		t.Errorf("got %v (%v), want none", got, err)
	}
	write(t, dir, "a.txt", "three\n")
	write(t, dir, "sub/new file \u00e9.txt", "new\n")
	write(t, dir, "ignored.log", "x\n")
	git(t, dir, "mv", "x.txt", "y.txt")
	got, err := r.Changes()
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{Code: " M", Path: "a.txt"}, {Code: "R ", Path: "y.txt", From: "x.txt"}, {Code: "??", Path: "sub/new file \u00e9.txt"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOutsideACheckout(t *testing.T) {
	r := At(t.TempDir())
	for name, err := range map[string]error{
		"head":      second(r.Head()),
		"changes":   second(r.Changes()),
		"tracked":   second(r.Tracked("a")),
		"ignored":   second(r.Ignored("a.log")),
		"hascommit": second(r.HasCommit(strings.Repeat("0", 40))),
	} {
		if err == nil || !strings.Contains(err.Error(), "not a git repository") {
			t.Errorf("%s: got %v, want what git says", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
