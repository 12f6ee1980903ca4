package lane

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

const workflowDir = ".github/workflows"

// file is one workflow, action or Dockerfile as it was read.
type file struct {
	path string
	text string
	root value
}

// problem is a finding at a value.
func (f *file) problem(rule string, at value, format string, args ...any) strict.Problem {
	return strict.Problem{Path: f.path, Line: at.line, Col: at.col, Message: fmt.Sprintf(format, args...), Hint: remedy(rule), Rule: rule}
}

// Repository is what was read of a repository.
type Repository struct {
	workflows   []*file          // in the order of their paths
	actions     map[string]*file // by their folder, "." for the one at the top
	dockerfiles []*file
	socketFiles map[string]bool // YAML files outside workflows and actions that name the socket, such as compose files
}

// Files is how many workflows and actions were read.
func (r *Repository) Files() int { return len(r.workflows) + len(r.actions) }

// skipped folders hold other people's files, or files about files.
var skipped = []string{".git", "node_modules", "vendor", "testdata", "third_party"}

// Read reads the workflows, the actions and the Dockerfiles of a repository. Problems are files that
// cannot be read: what is in them is not known.
func Read(fsys fs.FS) (*Repository, strict.Problems) {
	r := &Repository{actions: map[string]*file{}, socketFiles: map[string]bool{}}
	var problems strict.Problems
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, strict.Problem{Path: name, Message: "cannot be read: " + err.Error(), Rule: "unreadable-workflow"})
			return nil
		}
		if d.IsDir() {
			if slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if p := r.add(fsys, name); p != nil {
			problems = append(problems, *p)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, strict.Problem{Message: "reading the repository: " + err.Error(), Rule: "unreadable-workflow"})
	}
	return r, problems
}

// add reads a file if it is one that matters.
func (r *Repository) add(fsys fs.FS, name string) *strict.Problem {
	base, dir := path.Base(name), path.Dir(name)
	isYAML := strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml")
	isDocker := strings.HasPrefix(base, "Dockerfile") || strings.HasSuffix(base, ".Dockerfile")
	if !isYAML && !isDocker {
		return nil
	}
	matters := dir == workflowDir || base == "action.yml" || base == "action.yaml"
	text, err := read(fsys, name, maxFile+1)
	if err != nil {
		if !matters && !isDocker {
			return nil
		}
		return &strict.Problem{Path: name, Message: "cannot be read: " + err.Error(), Rule: "unreadable-workflow"}
	}
	f := &file{path: name, text: string(text)}
	switch {
	case isDocker:
		r.dockerfiles = append(r.dockerfiles, f)
		return nil
	case !matters:
		if socketPath.MatchString(f.text) {
			r.socketFiles[name] = true
		}
		return nil
	}
	var p *strict.Problem
	if f.root, p = parse(name, text); p != nil {
		return p
	}
	if dir == workflowDir {
		r.workflows = append(r.workflows, f)
	} else {
		r.actions[dir] = f
	}
	return nil
}

func read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// workflow finds a workflow by its path, nil where there is none.
func (r *Repository) workflow(name string) *file {
	for _, f := range r.workflows {
		if f.path == name {
			return f
		}
	}
	return nil
}

// named finds workflows by the name that workflow_run knows them by.
func (r *Repository) named(name string) *file {
	for _, f := range r.workflows {
		if n := f.root.get("name").text; n == name || n == "" && f.path == name {
			return f
		}
	}
	return nil
}

// local is the path in the repository that a uses: value names, false for another repository's. The
// form "$/path" is the repository of the workflow itself.
func local(uses string) (string, bool) {
	rest, ok := strings.CutPrefix(uses, "./")
	if !ok {
		rest, ok = strings.CutPrefix(uses, "$/")
	}
	return path.Clean(rest), ok
}
