package history_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
)

// results is a results file of a night with one cell.
func results(run int64, attempt int, started, event string) string {
	return fmt.Sprintf(`{"schema_version": 1, "generated_at": %[3]q, "started_at": %[3]q, "complete": true, "event": %[4]q, "run_id": %[1]d, "run_attempt": %[2]d,
 "build": {"lane": "gate"}, "summary": {"total": 1},
 "entries": [{"entry": "serve", "recipe": "r.yaml", "cell": "base", "verdict": "record", "reasons": [], "passed_count": 1, "failed_count": 0, "trials": 1,
  "metrics": {"mean_step_time_ms": 1130.5, "summary": {"median_tpot_ms": 1.9, "output_checksum": "a<b"}}, "deltas": {}, "matrix_path": null, "duration_sec": 61.5, "error": null}]}`,
		run, attempt, started, event)
}

// attempt is that night, ready to be published.
func attempt(t testing.TB, run int64, n int, started string) *history.Attempt {
	t.Helper()
	a, err := history.FromResults("", history.Document{Path: "nightly-results.json", Data: []byte(results(run, n, started, "schedule"))})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func open(t testing.TB, root, name string) *history.History {
	t.Helper()
	h, err := history.Open(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// names are the runs as a reader gets them, "RUN-ATTEMPT".
func names(t testing.TB, h *history.History) []string {
	t.Helper()
	var all []string
	for r, err := range h.Runs(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d-%d", r.RunID, r.RunAttempt))
	}
	return all
}

// readError is what stops a reader.
func readError(h *history.History) error {
	for _, err := range h.Runs(context.Background()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// stores are a folder and a branch; both must behave alike. The function puts a file into what is there
// already, behind the back of the package.
func stores(t *testing.T, test func(t *testing.T, h *history.History, put func(path, content string))) {
	t.Run("folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "history")
		test(t, open(t, "/", dir), func(path, content string) {
			write(t, filepath.Join(dir, path), content)
		})
	})
	t.Run("branch", func(t *testing.T) {
		remote := bare(t)
		test(t, open(t, clone(t, remote), "branch:data/perf"), func(path, content string) {
			other := clone(t, remote)
			git(t, other, "checkout", "-q", "data/perf")
			write(t, filepath.Join(other, path), content)
			git(t, other, "add", "-A")
			git(t, other, "commit", "-qm", "by hand")
			git(t, other, "push", "-q", "origin", "data/perf")
		})
	})
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bare is a remote with one commit on main, which refuses every push that is no fast-forward.
func bare(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, "", "init", "-q", "--bare", "-b", "main", dir)
	git(t, dir, "config", "receive.denyNonFastForwards", "true")
	git(t, dir, "config", "receive.denyDeletes", "true")
	first := clone(t, dir)
	write(t, filepath.Join(first, "README"), "a project\n")
	git(t, first, "add", "-A")
	git(t, first, "commit", "-qm", "one")
	git(t, first, "push", "-q", "origin", "HEAD:main")
	return dir
}

func clone(t testing.TB, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "checkout")
	git(t, "", "clone", "-q", remote, dir)
	return dir
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
