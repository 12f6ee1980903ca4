package matrix

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// maxTimeout keeps a typing mistake from holding a runner for a month.
const maxTimeout = 7 * 24 * time.Hour

// minPendingTimeout is what an entry that never ran yet must be given.
const minPendingTimeout = DefaultTimeout

// Load reads the matrix file at path. Recipes are looked for below root. The error is
// [strict.Problems] and holds everything that is wrong. The recipes of entries that run are not
// read: a broken one fails its own entry in the night and no other.
func Load(root, path string) (*File, error) {
	raw := new(rawFile)
	doc, err := strict.ReadYAML(path, raw)
	return raw.file(root, path, doc, err)
}

// Parse reads the text of a matrix file; path is only named in problems.
func Parse(root, path string, text []byte) (*File, error) {
	raw := new(rawFile)
	doc, err := strict.YAML(path, text, raw)
	return raw.file(root, path, doc, err)
}

type rawFile struct {
	Version int        `json:"version"`
	Entries []rawEntry `json:"entries" strict:"required"`
	Pending []rawEntry `json:"pending_entries,omitempty"`
}

type rawEntry struct {
	Name        string  `json:"name" strict:"required"`
	Recipe      string  `json:"recipe" strict:"required"`
	Nproc       *int    `json:"nproc"`
	MinGPUs     *int    `json:"min_gpus"`
	TimeoutSec  *int    `json:"timeout_sec"`
	NeedsDocker bool    `json:"needs_docker_daemon"`
	BlockedOn   *string `json:"blocked_on"`
}

// reading checks the entries and gathers what is wrong with them.
type reading struct {
	root     string
	doc      *strict.Document
	problems strict.Problems
	taken    map[string]string // lower-case name to the field that has it
}

func (raw *rawFile) file(root, path string, doc *strict.Document, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	r := &reading{root: root, doc: doc, taken: map[string]string{}}
	if doc.Has("version") && raw.Version != Version {
		r.refuse("version", "write version: 1", "version %d is not known", raw.Version)
	}
	f := &File{Path: path}
	for i := range raw.Entries {
		f.Entries = append(f.Entries, r.entry(&raw.Entries[i], "entries", i))
		r.live(&raw.Entries[i], "entries", i)
	}
	for i := range raw.Pending {
		e := r.entry(&raw.Pending[i], "pending_entries", i)
		r.pending(&e, "pending_entries", i)
		f.Pending = append(f.Pending, e)
	}
	if err := r.problems.Sort().Err(); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *reading) refuse(field, hint, format string, args ...any) {
	p := r.doc.Problem(field, format, args...)
	p.Hint, p.Rule = hint, "matrix"
	r.problems = append(r.problems, p)
}

func (r *reading) entry(raw *rawEntry, list string, i int) Entry {
	at := func(key string) string { return strict.Field(list, i, key) }
	e := Entry{Name: raw.Name, Recipe: raw.Recipe, MinGPUs: 1, Timeout: DefaultTimeout, NeedsDocker: raw.NeedsDocker}
	r.name(raw.Name, at("name"))
	if err := findRecipe(r.root, raw.Recipe); err != nil {
		r.refuse(at("recipe"), "name a recipe by its path from the repository's root", "%v", err)
	}
	if raw.Nproc != nil {
		e.Nproc, e.MinGPUs = *raw.Nproc, *raw.Nproc
		if *raw.Nproc < 1 {
			r.refuse(at("nproc"), "leave it out to run without torchrun", "must be at least 1")
		}
	}
	if raw.MinGPUs != nil {
		e.MinGPUs = *raw.MinGPUs
		if *raw.MinGPUs < 0 {
			r.refuse(at("min_gpus"), "write 0 for an entry that needs no GPU", "must not be negative")
		}
	}
	if raw.TimeoutSec != nil {
		e.Timeout = time.Duration(*raw.TimeoutSec) * time.Second
		if *raw.TimeoutSec < 1 || *raw.TimeoutSec > int(maxTimeout/time.Second) {
			r.refuse(at("timeout_sec"), "", "must lie between 1 and %d", int(maxTimeout/time.Second))
		}
	}
	if raw.BlockedOn != nil {
		e.BlockedOn = strings.TrimSpace(*raw.BlockedOn)
	}
	return e
}

// name holds a name to its grammar: it becomes a folder that is deleted and made again, and the
// first half of a key. Names that differ only in case would share a folder on some file systems.
func (r *reading) name(name, field string) {
	if err := baseline.CheckName(name); err != nil {
		r.refuse(field, "", "%v", err)
		return
	}
	if name == Self {
		r.refuse(field, "choose another name", "%q stands for the night as a whole in the results", name)
	}
	folded := strings.ToLower(name)
	if first, twice := r.taken[folded]; twice {
		r.refuse(field, "names are unique over entries and pending_entries, also without regard to case", "%q is taken by %s", name, first)
		return
	}
	r.taken[folded] = strings.TrimSuffix(field, ".name")
}

func (r *reading) live(raw *rawEntry, list string, i int) {
	if raw.BlockedOn != nil {
		r.refuse(strict.Field(list, i, "blocked_on"), "move the entry to pending_entries, or remove the key", "an entry that runs is not blocked")
	}
}

// pending holds a waiting entry to what it will need on the day it is moved to entries.
func (r *reading) pending(e *Entry, list string, i int) {
	if e.BlockedOn == "" {
		r.refuse(strict.Field(list, i, "blocked_on"), "say what the entry waits for", "a pending entry must say what it is blocked on")
	}
	if e.Timeout < minPendingTimeout {
		r.refuse(strict.Field(list, i, "timeout_sec"), "", "must be at least %d for an entry that has not run yet", int(minPendingTimeout/time.Second))
	}
	if findRecipe(r.root, e.Recipe) != nil {
		return // told already
	}
	if _, err := recipe.Load(filepath.Join(r.root, e.Recipe)); err != nil {
		r.refuse(strict.Field(list, i, "recipe"), "mend the recipe, or remove the entry", "recipe %q is malformed", e.Recipe)
		r.problems = append(r.problems, step.Problems(err)...)
	}
}

// findRecipe looks for a recipe below root. A path that leaves root, by its spelling or by a link, is
// refused: what the night runs is what was reviewed in the repository.
func findRecipe(root, path string) error {
	if !filepath.IsLocal(path) {
		return fmt.Errorf("%q leads out of the repository", path)
	}
	top, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("opening the repository's root: %w", err)
	}
	defer top.Close()
	info, err := top.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("recipe %q does not exist", path)
	case err != nil:
		return fmt.Errorf("looking for recipe %q: %w", path, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("recipe %q is no regular file", path)
	}
	return nil
}
