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
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// A History is a folder or a branch of run files.
type History struct {
	name  string
	store store
}

// Open names a history: a folder, relative to the checkout at root, or "branch:NAME" of the remote of
// that checkout. Nothing is read yet.
func Open(root, name string) (*History, error) {
	if strings.HasPrefix(name, "branch:") {
		s, err := newBranch(root, name)
		return &History{name, s}, err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return &History{name, folder(name)}, nil
}

// String is the history's name for people.
func (h *History) String() string { return h.name }

// Runs yields every run, ordered by its start and then its number, in one pass that holds the runs of a
// day at a time. What was recorded later is not ordered by when it was recorded: a backfilled run takes
// its place. The first error ends it; it is a [strict.Problem] where a file is at fault.
func (h *History) Runs(ctx context.Context) iter.Seq2[*Attempt, error] {
	return func(yield func(*Attempt, error) bool) {
		if err := h.each(ctx, func(r *Attempt) bool { return yield(r, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (h *History) each(ctx context.Context, yield func(*Attempt) bool) (err error) {
	s, err := h.store.open(ctx)
	if err != nil {
		return fmt.Errorf("opening the history %s: %w", h, err)
	}
	defer s.close()
	byDay, err := days(h.name, s.paths())
	if err != nil {
		return err
	}
	for _, paths := range byDay {
		runs := make([]*Attempt, len(paths))
		for i, path := range paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			data, err := s.read(path)
			if err != nil {
				return strict.Problem{Path: join(h.name, path), Message: "cannot be read: " + err.Error(), Rule: ruleHistory}
			}
			if runs[i], err = parse(h.name, path, data); err != nil {
				return err
			}
		}
		slices.SortFunc(runs, func(a, b *Attempt) int {
			return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.RunAttempt, b.RunAttempt), cmp.Compare(a.Build.Lane, b.Build.Lane))
		})
		for _, r := range runs {
			if !yield(r) {
				return nil
			}
		}
	}
	return nil
}

// Published is what became of a run that was to be published.
type Published struct {
	// Path is the run file's name in the history, SHA256 the digest of its bytes.
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// There is true where the same run was in the history already, byte by byte.
	There bool `json:"already_there"`
}

// Publish adds runs. A run that is there already with the same bytes is left as it is; with other bytes
// it is refused. When Publish returns without an error every run is safe; a branch takes all of them in
// one commit.
func (h *History) Publish(ctx context.Context, runs ...*Attempt) ([]Published, error) {
	files := make([]file, len(runs))
	done := make([]Published, len(runs))
	names := map[string]int{}
	for i, r := range runs {
		if err := r.check(); err != nil {
			return nil, err
		}
		data, err := r.encode()
		if err != nil {
			return nil, err
		}
		path := r.id().path()
		// What could not be read again must not be written.
		again, err := parse(h.name, path, data)
		if err != nil {
			return nil, err
		}
		if j, twice := names[path]; twice {
			return nil, strict.Problem{Path: join(h.name, path), Rule: ruleHistory,
				Message: fmt.Sprintf("two runs go by this name: %s and %s", runs[j].Sources[0].Name, r.Sources[0].Name)}
		}
		names[path] = i
		files[i] = file{path, data}
		done[i] = Published{Path: path, SHA256: again.SHA256}
	}
	there, err := h.store.add(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("publishing to %s: %w", h, err)
	}
	for i := range done {
		done[i].There = there[i]
	}
	return done, nil
}

// Prune takes out all but the newest keep runs and returns the names of those that went. keep is at
// least 1: a history is never emptied.
func (h *History) Prune(ctx context.Context, keep int) ([]string, error) {
	if keep < 1 {
		return nil, fmt.Errorf("keeping %d runs would empty the history", keep)
	}
	var paths []string
	for r, err := range h.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		paths = append(paths, r.Path)
	}
	gone := paths[:max(len(paths)-keep, 0)]
	if len(gone) == 0 {
		return nil, nil
	}
	if err := h.store.remove(ctx, gone); err != nil {
		return nil, fmt.Errorf("pruning %s: %w", h, err)
	}
	return gone, nil
}
