// Package history is the record of every night: append-only, one small immutable file for each attempt
// of a run, so that concurrent writers touch different files and nothing is ever rewritten:
//
//	runs/2026/09/08/17203344551-1-gate.json
//
// The date is the UTC day on which the run started, then come the run's number, its attempt and its
// lane. A file holds the night's results, merged where several machines shared the night. It lies in a
// folder, or at the top of a branch of the checkout's remote ("branch:NAME").
//
// Reading is strict. A file that cannot be read, is cut short, holds a merge marker, lies under another
// name than its contents say, or is no run file at all stops every reader with its name and the offset:
// what is unreadable is not the same as nothing. A history is empty only where its folder or branch
// does not exist yet.
package history

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
)

// A History is a folder or a branch of run files.
type History struct {
	name  string
	store store
}

// Open names a history: a folder, relative to the checkout at root, or "branch:NAME" of its remote.
// Nothing is read yet.
func Open(root, name string) (*History, error) {
	if branch, ok := strings.CutPrefix(name, "branch:"); ok {
		s, err := newBranch(root, branch)
		return &History{name, s}, err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return &History{name, folder(name)}, nil
}

// String is the history's name for people.
func (h *History) String() string { return h.name }

// Runs yields every run, ordered by its start and then its number, in one pass that holds a day of runs
// at a time. The first error ends it; it is a [strict.Problem] where a file is at fault.
func (h *History) Runs(ctx context.Context) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		panic("TODO")
	}
}
