package history_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
)

var ctx = context.Background()

// What is published comes back, ordered by start and run and not by when it was published, and once
// however often it is published.
func TestPublishAndRead(t *testing.T) {
	stores(t, func(t *testing.T, h *history.History, _ func(string, string)) {
		if got := names(t, h); len(got) > 0 {
			t.Fatalf("a history that does not exist: got %v, want none", got)
		}
		for _, a := range []*history.Attempt{
			attempt(t, 903, 1, "2026-09-10T04:00:00+00:00"),
			attempt(t, 902, 1, "2026-09-09T04:00:00+00:00"),
			attempt(t, 901, 1, "2026-09-08T04:00:00+00:00"),
			attempt(t, 901, 2, "2026-09-08T09:00:00+00:00"),
			attempt(t, 904, 1, "2026-09-09T23:30:00-05:00"), // 04:30 of the 10th in UTC
			attempt(t, 800, 1, "2026-09-10T04:00:00+00:00"), // the same start, an older run
		} {
			done, err := h.Publish(ctx, a)
			if err != nil || done[0].There {
				t.Fatalf("publishing %d: got %+v, %v", a.RunID, done, err)
			}
		}
		want := []string{"901-1", "901-2", "902-1", "800-1", "903-1", "904-1"}
		if got := names(t, h); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		done, err := h.Publish(ctx, attempt(t, 902, 1, "2026-09-09T04:00:00+00:00"))
		if err != nil || !done[0].There || done[0].Path != "runs/2026/09/09/902-1-gate.json" {
			t.Errorf("publishing once more: got %+v, %v, want already there", done, err)
		}
		for r, err := range h.Runs(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			row := r.Entries[0]
			if row.Metrics.Summary["median_tpot_ms"] != 1.9 || row.Metrics.Summary["output_checksum"] != "a<b" || len(r.SHA256) != 64 || len(r.Sources) != 1 || len(r.Sources[0].SHA256) != 64 {
				t.Errorf("run %d came back as %+v", r.RunID, r)
			}
		}
	})
}

// A published run is never overwritten.
func TestOtherBytesAreRefused(t *testing.T) {
	stores(t, func(t *testing.T, h *history.History, _ func(string, string)) {
		a := attempt(t, 902, 1, "2026-09-09T04:00:00+00:00")
		if _, err := h.Publish(ctx, a); err != nil {
			t.Fatal(err)
		}
		a.Entries[0].Metrics.Summary["median_tpot_ms"] = 1.5
		if _, err := h.Publish(ctx, a); err == nil || !strings.Contains(err.Error(), "never overwritten") {
			t.Fatalf("got %v, want a refusal", err)
		}
		for r := range h.Runs(ctx) {
			if got := r.Entries[0].Metrics.Summary["median_tpot_ms"]; got != 1.9 {
				t.Errorf("got %v, want the first value", got)
			}
		}
	})
}

// Whatever is wrong with one file stops every reader, with the file's name and the offset; publishing
// other runs goes on and changes nothing about it.
func TestUnreadableIsNotEmpty(t *testing.T) {
	whole := `{"schema_version":1,"started_at":"2026-09-09T04:00:00+00:00","event":"schedule","run_id":902,"run_attempt":1,"build":{"lane":"gate"},"entries":[],"sources":[]}`
	const path = "runs/2026/09/09/902-1-gate.json"
	tests := []struct{ name, path, content, want string }{
		{"nothing in it", path, "", "byte 0: the file is empty (0 bytes)"},
		{"blanks", path, " \n", "byte 0: the file is empty (2 bytes)"},
		{"cut", path, whole[:100], "byte 100: the file is cut short"},
		{"merge marker", path, "{\"schema_version\":1,\n<<<<<<< HEAD\n\"run_id\":1}", "byte 21: a merge marker (<<<<<<<) is in the file"},
		{"merge marker first", path, "<<<<<<< HEAD\n" + whole, "byte 0: a merge marker (<<<<<<<) is in the file"},
		{"trailing semicolon", path, whole + ";", "byte 159: invalid character ';'"},
		{"second value", path, whole + whole, "byte 159: "},
		{"key twice", path, strings.Replace(whole, `"event"`, `"run_id":1,"event"`, 1), "duplicate"},
		{"key twice in another case", path, strings.Replace(whole, `"event"`, `"RUN_ID":1,"event"`, 1), "duplicate"},
		{"metric twice", path, strings.Replace(whole, `"entries":[]`, `"entries":[{"entry":"e","cell":"c","verdict":"pass","metrics":{"summary":{"m":2.4,"m":24}}}]`, 1), "duplicate"},
		{"NaN", path, strings.Replace(whole, `"entries":[]`, `"entries":[{"entry":"e","cell":"c","verdict":"pass","metrics":{"summary":{"m":NaN}}}]`, 1), "byte 211: invalid character 'N'"},
		{"too large a number", path, strings.Replace(whole, `"entries":[]`, `"entries":[{"entry":"e","cell":"c","verdict":"pass","metrics":{"summary":{"m":1e400}}}]`, 1), "/entries/0/metrics/summary/m"},
		{"text for a number", path, strings.Replace(whole, `"run_id":902`, `"run_id":"902"`, 1), "/run_id"},
		{"invalid UTF-8", path, strings.Replace(whole, `"schedule"`, "\"sch\xffedule\"", 1), "UTF-8"},
		{"unknown version", path, strings.Replace(whole, `:1,`, `:2,`, 1), "schema_version is 2"},
		{"unknown verdict", path, strings.Replace(whole, `"entries":[]`, `"entries":[{"entry":"e","cell":"c","verdict":"green"}]`, 1), `verdict "green"`},
		{"cell twice", path, strings.Replace(whole, `"entries":[]`, `"entries":[{"entry":"e","cell":"c","verdict":"pass"},{"entry":"e","cell":"c","verdict":"pass"}]`, 1), "e::c is there twice"},
		{"no event", path, strings.Replace(whole, `"event":"schedule",`, ``, 1), "event is missing"},
		{"another name", "runs/2026/09/09/903-1-gate.json", whole, "want runs/2026/09/09/902-1-gate.json"},
		{"another day", "runs/2026/09/10/902-1-gate.json", whole, "want runs/2026/09/09/902-1-gate.json"},
		{"no run file", "runs/2026/09/09/902-1-gate.json.orig", whole, "is no run file"},
		{"no such day", "runs/2026/02/31/902-1-gate.json", whole, "is no run file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "history")
			h := open(t, "/", dir)
			if _, err := h.Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, tt.path), tt.content)
			err := readError(h)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("got %v, want %q about %s", err, tt.want, tt.path)
			}
			if _, err := h.Prune(ctx, 1); err == nil {
				t.Error("pruning: got no error, want to be stopped too")
			}
			if _, err := h.Publish(ctx, attempt(t, 905, 1, "2026-09-11T04:00:00+00:00")); err != nil {
				t.Errorf("publishing another run: %v", err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, tt.path)); err != nil || string(got) != tt.content {
				t.Errorf("got %q, %v, want the bytes as they were", got, err)
			}
		})
	}
}

func TestUnreadableOnABranch(t *testing.T) {
	stores(t, func(t *testing.T, h *history.History, put func(string, string)) {
		if _, err := h.Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00")); err != nil {
			t.Fatal(err)
		}
		put("runs/2026/09/09/902-1-gate.json", `{"schema_version": 1, "ru`)
		err := readError(h)
		if err == nil || !strings.Contains(err.Error(), "runs/2026/09/09/902-1-gate.json: byte 25: the file is cut short") {
			t.Errorf("got %v, want the name and the offset", err)
		}
		a := attempt(t, 902, 1, "2026-09-09T04:00:00+00:00")
		if _, err := h.Publish(ctx, a); err == nil || !strings.Contains(err.Error(), "never overwritten") {
			t.Errorf("publishing over it: got %v, want a refusal", err)
		}
	})
}

// What is there and holds no runs is not a new history.
func TestOtherThingsAreNoHistory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "results", "2026-09-08.json"), "{}")
	remote := bare(t)
	for _, h := range []*history.History{open(t, "/", dir), open(t, clone(t, remote), "branch:main")} {
		if err := readError(h); err == nil || !strings.Contains(err.Error(), "is no history") {
			t.Errorf("reading %s: got %v, want a refusal", h, err)
		}
		if _, err := h.Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00")); err == nil || !strings.Contains(err.Error(), "is no history") {
			t.Errorf("publishing to %s: got %v, want a refusal", h, err)
		}
	}
	begun := t.TempDir()
	if err := os.MkdirAll(filepath.Join(begun, "runs", "2026"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := readError(open(t, "/", begun)); err == nil || !strings.Contains(err.Error(), "never empty") {
		t.Errorf("a history that lost its runs: got %v, want a refusal", err)
	}
}

// A remote that does not answer is not a remote without the branch.
func TestRemoteThatDoesNotAnswer(t *testing.T) {
	remote := bare(t)
	checkout := clone(t, remote)
	if err := os.RemoveAll(remote); err != nil {
		t.Fatal(err)
	}
	h := open(t, checkout, "branch:perf")
	if err := readError(h); err == nil {
		t.Error("reading: got no error")
	}
	if _, err := h.Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00")); err == nil {
		t.Error("publishing: got no error")
	}
}

// A remote that refuses for its own reasons is not asked again and again.
func TestRemoteThatRefuses(t *testing.T) {
	remote := bare(t)
	write(t, filepath.Join(remote, "hooks", "pre-receive"), "#!/bin/sh\necho no entry >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(remote, "hooks", "pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, clone(t, remote), "branch:perf").Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00"))
	if err == nil || !strings.Contains(err.Error(), "no entry") {
		t.Errorf("got %v, want what the remote said", err)
	}
}

func TestPrune(t *testing.T) {
	stores(t, func(t *testing.T, h *history.History, _ func(string, string)) {
		var all []*history.Attempt
		for i, day := range []string{"08", "09", "10", "11"} {
			all = append(all, attempt(t, int64(901+i), 1, "2026-09-"+day+"T04:00:00+00:00"))
		}
		if _, err := h.Publish(ctx, all...); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Prune(ctx, 0); err == nil {
			t.Error("keeping none: got no error")
		}
		if gone, err := h.Prune(ctx, 4); err != nil || len(gone) > 0 {
			t.Errorf("keeping all: got %v, %v, want nothing to go", gone, err)
		}
		gone, err := h.Prune(ctx, 2)
		want := []string{"runs/2026/09/08/901-1-gate.json", "runs/2026/09/09/902-1-gate.json"}
		if err != nil || !slices.Equal(gone, want) {
			t.Errorf("got %v, %v, want %v to go", gone, err, want)
		}
		if got := names(t, h); !slices.Equal(got, []string{"903-1", "904-1"}) {
			t.Errorf("got %v left, want the newest two", got)
		}
	})
}

// Publishing to a branch and reading it leave the checkout as it was.
func TestCheckoutIsNotTouched(t *testing.T) {
	checkout := clone(t, bare(t))
	write(t, filepath.Join(checkout, "README"), "changed\n")
	write(t, filepath.Join(checkout, "new"), "untracked\n")
	state := func() string {
		return git(t, checkout, "status", "--porcelain=v2", "--branch") + git(t, checkout, "for-each-ref") + git(t, checkout, "config", "--list", "--local")
	}
	before := state()
	h := open(t, checkout, "branch:perf")
	if _, err := h.Publish(ctx, attempt(t, 901, 1, "2026-09-08T04:00:00+00:00")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Publish(ctx, attempt(t, 902, 1, "2026-09-09T04:00:00+00:00")); err != nil {
		t.Fatal(err)
	}
	names(t, h)
	if after := state(); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
}

// A checkout of one commit deep, as in a job, will do.
func TestShallowCheckout(t *testing.T) {
	remote := bare(t)
	first := open(t, clone(t, remote), "branch:perf")
	for i, day := range []string{"08", "09"} {
		if _, err := first.Publish(ctx, attempt(t, int64(901+i), 1, "2026-09-"+day+"T04:00:00+00:00")); err != nil {
			t.Fatal(err)
		}
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, "", "clone", "-q", "--depth=1", "--single-branch", "file://"+remote, shallow)
	h := open(t, shallow, "branch:perf")
	if _, err := h.Publish(ctx, attempt(t, 903, 1, "2026-09-10T04:00:00+00:00")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, h); !slices.Equal(got, []string{"901-1", "902-1", "903-1"}) {
		t.Errorf("got %v, want three runs", got)
	}
}
