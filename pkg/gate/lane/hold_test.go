package lane

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

func TestPins(t *testing.T) {
	text := "FROM a/b:1.2@" + digestA + " AS x\nimage: localhost:5000/c@" + digestB + "\nuses: docker://d@" + digestA + "\nsum: " + digestA + "\nx@sha256:12\n"
	want := []pin{{"a/b", digestA, 1, 6}, {"localhost:5000/c", digestB, 2, 8}, {"d", digestA, 3, 7}}
	got := pins(text)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pin{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMoves(t *testing.T) {
	dir := t.TempDir()
	hold := "version: 1\nlanes: []\ndigest_hold:\n  - {images: [example/engine], since: 2026-09-08, until: 2026-09-17, reason: ten nights}\n"
	write(t, dir, "lanes.yaml", hold)
	write(t, dir, "recipe.yaml", "image: example/engine@"+digestA+"\n")
	write(t, dir, "renamed.yaml", "image: example/engine@"+digestA+"\n")
	write(t, dir, "Dockerfile", "FROM example/base@"+digestA+"\n")
	write(t, dir, "gone.yaml", "image: example/gone@"+digestA+"\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "first")
	git(t, dir, "checkout", "-qb", "change")
	write(t, dir, "lanes.yaml", "version: 1\nlanes: []\n") // the change cannot close the window for itself
	write(t, dir, "recipe.yaml", "# moved\nimage: example/engine@"+digestB+"\n")
	write(t, dir, "Dockerfile", "FROM example/base@"+digestB+"\n")
	git(t, dir, "rm", "-q", "gone.yaml")
	git(t, dir, "mv", "renamed.yaml", "new.yaml")
	git(t, dir, "commit", "-qam", "bump")
	git(t, dir, "checkout", "-q", "main")
	write(t, dir, "recipe.yaml", "image: example/engine@"+digestA+" # main went on\n")
	git(t, dir, "commit", "-qam", "later")
	git(t, dir, "checkout", "-q", "change")

	want := []Move{
		{Path: "Dockerfile", Line: 1, Col: 6, Image: "example/base", From: digestA, To: digestB},
		{Path: "gone.yaml", Image: "example/gone", From: digestA},
		{Path: "recipe.yaml", Line: 2, Col: 8, Image: "example/engine", From: digestA, To: digestB, Held: true},
	}
	at := func(day string) []Move {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Moves(gitrepo.At(dir), os.DirFS(dir), "main", "lanes.yaml", now)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(want, at("2026-09-10")); diff != "" {
		t.Errorf("in the window (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, at("2026-09-18"), cmpopts.IgnoreFields(Move{}, "Held")); diff != "" {
		t.Errorf("after the window (-want +got)\n%s", diff)
	}
	if at("2026-09-18")[2].Held {
		t.Error("after the window: got held, want free")
	}
	if _, err := Moves(gitrepo.At(dir), os.DirFS(dir), "nothing", "lanes.yaml", time.Now()); err == nil {
		t.Error("an unknown base: got no error")
	}
}
