package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
)

// asPublisher makes the test binary a publisher of its own, so that there is a process to race and to
// kill: GATEHOUSE_PUBLISH=HISTORY RUN COUNT, in the checkout it runs in.
const asPublisher = "GATEHOUSE_PUBLISH"

func TestMain(m *testing.M) {
	if order := os.Getenv(asPublisher); order != "" {
		os.Exit(publishAsOrdered(order))
	}
	os.Exit(m.Run())
}

// publishAsOrdered publishes runs one after the other and acknowledges each on standard output.
func publishAsOrdered(order string) int {
	var name string
	var first, n int64
	if _, err := fmt.Sscan(order, &name, &first, &n); err != nil {
		return 2
	}
	h, err := history.Open(".", name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for run := first; run < first+n; run++ {
		doc := history.Document{Path: "r.json", Data: []byte(results(run, 1, "2026-09-08T04:00:00+00:00", "schedule"))}
		a, err := history.FromResults("", doc)
		if err == nil {
			_, err = h.Publish(context.Background(), a)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(run)
	}
	return 0
}

// publisher is such a process, not started yet.
func publisher(t testing.TB, checkout, name string, first, n int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Dir = checkout
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", asPublisher, name, first, n))
	return cmd
}

// soak reads a size from the environment: the same test is short here and long in `make soak`.
func soak(t *testing.T, variable string, short int) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return short
	}
	return n
}

// Publishers that push to one branch at once lose nothing, force nothing, and leave a straight line of
// commits behind. GATEHOUSE_PUBLISHERS and GATEHOUSE_ROUNDS make it longer.
func TestConcurrentPublishers(t *testing.T) {
	writers, rounds := soak(t, "GATEHOUSE_PUBLISHERS", 4), soak(t, "GATEHOUSE_ROUNDS", 2)
	remote := bare(t)
	checkouts := make([]string, writers)
	for i := range checkouts {
		checkouts[i] = clone(t, remote)
	}
	for round := range rounds {
		var wg sync.WaitGroup
		for i, checkout := range checkouts {
			cmd := publisher(t, checkout, "branch:perf", 1000*(round+1)+i, 1)
			wg.Go(func() {
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("publisher %d of round %d: %v\n%s", i, round, err, out)
				}
			})
		}
		wg.Wait()
	}
	if got, want := len(names(t, open(t, checkouts[0], "branch:perf"))), writers*rounds; got != want {
		t.Errorf("got %d runs, want %d", got, want)
	}
	git(t, remote, "fsck", "--strict")
	commits, merges := git(t, remote, "rev-list", "--count", "perf"), git(t, remote, "rev-list", "--count", "--merges", "perf")
	if commits != strconv.Itoa(writers*rounds) || merges != "0" {
		t.Errorf("got %s commits with %s merges, want one commit a run and no merge", commits, merges)
	}
}

// Publishers that share a folder lose nothing either.
func TestConcurrentPublishersInAFolder(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		cmd := publisher(t, dir, "history", 1000+100*i, 10)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("publisher %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	if got := len(names(t, open(t, dir, "history"))); got != 80 {
		t.Errorf("got %d runs, want 80", got)
	}
}

// A publisher that is killed loses at most the run that it had not acknowledged, and the history is as
// sound as before.
func TestKilledPublisher(t *testing.T) {
	const many = 100_000
	for name, parts := range map[string]func(t *testing.T) (dir, history string){
		"folder": func(t *testing.T) (string, string) { return t.TempDir(), "history" },
		"branch": func(t *testing.T) (string, string) { return clone(t, bare(t)), "branch:perf" },
	} {
		t.Run(name, func(t *testing.T) {
			dir, store := parts(t)
			var acknowledged []string
			kills := soak(t, "GATEHOUSE_KILLS", 3)
			for try := range kills {
				cmd := publisher(t, dir, store, 1_000_000*(try+1), many)
				var out bytes.Buffer
				cmd.Stdout = &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(150+70*try) * time.Millisecond) // any moment will do
				cmd.Process.Kill()
				var exit *exec.ExitError
				if err := cmd.Wait(); !errors.As(err, &exit) {
					t.Fatalf("got %v, want a killed publisher", err)
				}
				for _, run := range strings.Fields(out.String()) {
					acknowledged = append(acknowledged, run+"-1")
				}
			}
			got := names(t, open(t, dir, store))
			for _, run := range acknowledged {
				if !slices.Contains(got, run) {
					t.Errorf("run %s was acknowledged and is lost", run)
				}
			}
			// A push may still land after its publisher died.
			if more := len(got) - len(acknowledged); more > kills {
				t.Errorf("got %d runs beyond the %d acknowledged ones after %d kills", more, len(acknowledged), kills)
			}
			cmd := publisher(t, dir, store, 1, 1)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("publishing after that: %v\n%s", err, out)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "history", "runs", "*", "*", "*", ".*")); err != nil || len(left) > 0 {
				t.Errorf("got %v beside the runs, %v", left, err)
			}
		})
	}
}
