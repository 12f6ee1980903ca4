package night

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that prints without end fills neither the disk nor the job's log, and its last words are kept.
func TestEndlessOutput(t *testing.T) {
	r := one(t, "", gate)
	r.write(".bin/aorta", "#!/bin/sh\nhead -c 80000000 /dev/zero | tr '\\0' 'x' | fold -w 1000\necho last words\nexit 3\n")
	o := r.run("--gpus", "1")
	o.want(t, 1, map[string]string{"alpha": "fail: no matrix.json produced (exit 3)"})
	if len(o.stderr) > maxShown+(1<<20) || strings.Count(o.stderr, "it prints too much to show") != 1 {
		t.Errorf("got %d bytes on stderr, want at most %d and a word about the rest", len(o.stderr), maxShown)
	}
	dir := filepath.Join(r.root, ".nightly-eval", "alpha")
	var size int64
	for _, name := range []string{"run-1.log", "run-1.log.1"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2*maxLog {
		t.Errorf("got %d bytes of log, want at most %d", size, 2*maxLog)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "run-1.log")); !strings.HasSuffix(string(text), "last words\n") {
		t.Error("the log lost the command's last words")
	}
}

// Two nights in one work folder would empty each other's entries.
func TestAnotherNightIsRunningTheEntry(t *testing.T) {
	r := one(t, "", gate)
	r.leaves("a.yaml", 0, cell("c", nil))
	release, err := hold(filepath.Join(r.root, ".nightly-eval"), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	r.run("--gpus", "1").want(t, 4, map[string]string{"alpha": "no_verdict: locking the entry's folder: " + errBusy.Error()})
	if len(r.launched()) != 0 {
		t.Error("something was run")
	}
	release()
	if o := r.run("--gpus", "1", "--record-only"); o.status != 0 {
		t.Errorf("got exit %d once the other night is over, want 0", o.status)
	}
}
