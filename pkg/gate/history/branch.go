package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// branch is a history at the top of a branch of the checkout's remote.
type branch struct {
	gitrepo.Branch
	name string // as people wrote it
}

func newBranch(root, name string) (store, error) {
	b, err := gitrepo.At(root).OpenBranch(strings.TrimPrefix(name, "branch:"))
	if err != nil {
		return nil, fmt.Errorf("opening the history %s: %w", name, err)
	}
	return &branch{b, name}, nil
}

// tip is the branch at one commit; no commit where the remote says that there is no such branch.
type tip struct {
	commit string
	files  map[string]gitrepo.TreeFile // below runs/
}

// tip asks the remote for the branch and fetches it. Whatever keeps the remote from answering is an
// error, never an empty history.
func (b *branch) tip(ctx context.Context, known string) (*tip, error) {
	commit, err := b.Head(ctx)
	if err != nil || commit == "" {
		return &tip{}, err
	}
	if err := b.Fetch(ctx, commit, known); err != nil {
		return nil, err
	}
	files, err := b.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	t := &tip{commit: commit, files: map[string]gitrepo.TreeFile{}}
	for _, f := range files {
		if !strings.HasPrefix(f.Path, runsDir) {
			continue
		}
		if f.Mode != "100644" && f.Mode != "100755" {
			return nil, strict.Problem{Path: join(b.name, f.Path), Message: "is no regular file", Rule: ruleHistory}
		}
		t.files[f.Path] = f
	}
	if len(t.files) == 0 {
		return nil, strict.Problem{Path: b.name, Message: "is no history: the branch exists and has no folder runs/", Rule: ruleHistory,
			Hint: "name the history's branch, or one that does not exist yet; results files of the reference are imported with --import"}
	}
	return t, nil
}

type branchSnapshot struct {
	*tip
	blobs *gitrepo.Blobs
}

func (b *branch) open(ctx context.Context) (snapshot, error) {
	t, err := b.tip(ctx, "")
	if err != nil {
		return nil, err
	}
	if t.commit == "" {
		return emptySnapshot{}, nil
	}
	blobs, err := b.Blobs(ctx)
	return &branchSnapshot{t, blobs}, err
}

func (s *branchSnapshot) paths() []string {
	names := make([]string, 0, len(s.files))
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *branchSnapshot) read(path string) ([]byte, error) {
	return s.blobs.Read(s.files[path].Blob, maxFile)
}

func (s *branchSnapshot) close() error { return s.blobs.Close() }

func (b *branch) add(ctx context.Context, files []file) ([]bool, error) {
	there := make([]bool, len(files))
	blobs := make([]string, len(files))
	for i, f := range files {
		var err error
		if blobs[i], err = b.Store(ctx, f.data); err != nil {
			return nil, err
		}
	}
	err := b.change(ctx, func(t *tip) ([]gitrepo.Edit, error) {
		var edits []gitrepo.Edit
		for i, f := range files {
			old, ok := t.files[f.path]
			if !ok {
				edits = append(edits, gitrepo.Edit{Path: f.path, Blob: blobs[i]})
				continue
			}
			if old.Blob != blobs[i] {
				return nil, strict.Problem{Path: join(b.name, f.path), Message: errOtherBytes.Error(), Rule: ruleHistory}
			}
			there[i] = true
		}
		return edits, nil
	}, "Publish "+count(len(files), "run"))
	return there, err
}

func (b *branch) remove(ctx context.Context, paths []string) error {
	return b.change(ctx, func(t *tip) ([]gitrepo.Edit, error) {
		var edits []gitrepo.Edit
		for _, path := range paths {
			if _, ok := t.files[path]; ok {
				edits = append(edits, gitrepo.Edit{Path: path})
			}
		}
		return edits, nil
	}, "Prune "+count(len(paths), "run"))
}

// mostTries is how often a publisher tries before it gives up: others would have to win every single
// race.
const mostTries = 100

// change puts edits onto the branch's tip and pushes the result by a fast-forward. Where another
// publisher was quicker, it waits, fetches the new tip, asks for the edits again and tries once more. It
// never forces, and every other error ends it.
func (b *branch) change(ctx context.Context, edits func(*tip) ([]gitrepo.Edit, error), message string) error {
	known := ""
	for try := range mostTries {
		start := time.Now()
		t, err := b.tip(ctx, known)
		if err != nil {
			return err
		}
		known = t.commit
		changes, err := edits(t)
		if err != nil || len(changes) == 0 {
			return err
		}
		commit, err := b.Commit(ctx, t.commit, changes, message)
		if err != nil {
			return err
		}
		if err = b.Push(ctx, commit); err == nil || b.landed(ctx, commit, err) {
			return nil
		}
		if !errors.Is(err, gitrepo.ErrRejected) {
			return err
		}
		if err := pause(ctx, try, time.Since(start)); err != nil {
			return err
		}
	}
	return fmt.Errorf("the branch moved %d times while this run was being published", mostTries)
}

// landed reports whether a push arrived although it failed, as when the connection broke at the end.
func (b *branch) landed(ctx context.Context, commit string, err error) bool {
	if errors.Is(err, gitrepo.ErrRejected) {
		return false
	}
	head, err := b.Head(ctx)
	return err == nil && head == commit
}

// longest is the longest pause between two tries.
const longest = 30 * time.Second

// pause waits at random up to some times what a try takes, twice as many at each: as many writers as
// there may be then come to take turns, and on a busy machine at a slower pace.
func pause(ctx context.Context, try int, took time.Duration) error {
	most := min(took<<min(try, 8), longest)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(max(most, 1))):
		return nil
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
