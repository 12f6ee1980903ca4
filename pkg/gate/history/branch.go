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
	err := b.change(ctx, func(t *tip) ([]gitrepo.Edit, error) {
		var edits []gitrepo.Edit
		for i, f := range files {
			old, ok := t.files[f.path]
			if !ok {
				edits = append(edits, gitrepo.Edit{Path: f.path, Content: f.data})
				continue
			}
			if old.Blob != gitrepo.BlobName(f.data, len(old.Blob)) {
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

// mostTries is how often a publisher tries before it gives up: thirty others would have to win every
// single race.
const mostTries = 200

// change puts edits onto the branch's tip and pushes the result by a fast-forward. Where another
// publisher was quicker, it fetches the new tip, asks for the edits again and tries once more after a
// pause of random length. It never forces, and every other error ends it.
func (b *branch) change(ctx context.Context, edits func(*tip) ([]gitrepo.Edit, error), message string) error {
	known := ""
	for try := range mostTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
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
		if err = b.Push(ctx, commit); err == nil {
			return nil
		}
		if !errors.Is(err, gitrepo.ErrRejected) && !b.landed(ctx, commit) {
			return err
		}
	}
	return fmt.Errorf("the branch moved %d times while this run was being published", mostTries)
}

// landed reports whether a push arrived although it did not say so, as when the connection broke.
func (b *branch) landed(ctx context.Context, commit string) bool {
	head, err := b.Head(ctx)
	return err == nil && head == commit
}

// pause waits before a further try, longer at each, at random: writers that collide once would
// otherwise collide again.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return nil
	}
	most := min(50*time.Millisecond<<min(try, 10), 4*time.Second)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(most)):
		return nil
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
