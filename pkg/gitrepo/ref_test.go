package gitrepo

import (
	"os/exec"
	"testing"
)

func TestRef(t *testing.T) {
	dir := t.TempDir()
	r := At(dir)
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	want := func(when, branch, remote string) {
		t.Helper()
		if got := r.Branch(); got != branch {
			t.Errorf("%s: got branch %q, want %q", when, got, branch)
		}
		if got := r.RemoteURL("origin"); got != remote {
			t.Errorf("%s: got remote %q, want %q", when, got, remote)
		}
	}
	want("no repository", "HEAD", "")
	git("init", "-q", "-b", "feat/x")
	want("no commit", "HEAD", "")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("remote", "add", "origin", "git@github.com:own/rep.git")
	want("on a branch", "feat/x", "git@github.com:own/rep.git")
	git("checkout", "-q", "--detach")
	want("detached", "HEAD", "git@github.com:own/rep.git")
}
