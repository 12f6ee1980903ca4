// Package gatehouse holds the tests that keep the house: who may import whom, what
// every folder and every binary must have, and that generated text is current.
package gatehouse

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-ci/gatehouse/"

// ground is the floor every wing may stand on.
var ground = []string{"step", "strict", "metric", "stats", "report", "recipe", "grant", "gitrepo", "ghapi"}

// wings are the folders of pkg that hold the product's subjects.
var wings = []string{"fixture", "serving", "gate"}

// rooms are the only folders at the top of the tree.
var rooms = []string{".ci", ".git", ".github", "actions", "bench", "cmd", "pkg", "testdata"}

// outputs are made by the Makefile and ignored by git.
var outputs = []string{"out", ".nightly-eval", ".refresh-baselines"}

// banned imports, each with the one place that may use it and the reason.
var banned = []struct{ path, only, reason string }{
	{"github.com/sethvargo/go-githubactions", "pkg/step", "domain code knows nothing of GitHub Actions"},
	{"github.com/docker/docker", "pkg/serving/engine", "the Docker API is used in one place, behind the few calls it needs"},
	{"github.com/spf13/pflag", "pkg/step", "inputs are declared in a door's table"},
	{"flag", "", "inputs are declared in a door's table"},
	{"log", "", "text for people goes through pkg/step"},
	{"github.com/google/go-cmp", "", "it is for tests"},
}

// processGlobals are what only pkg/step may take from package os.
var processGlobals = []string{"Args", "Exit", "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "Stdin", "Stdout", "Stderr", "Getwd"}

// vagueNames say nothing about what a package holds.
var vagueNames = []string{"utils", "util", "common", "helpers", "helper", "types", "misc", "shared", "base", "lib", "internal"}

type source struct {
	path string // slash-separated, from the top of the tree
	file *ast.File
	fset *token.FileSet
	size int // lines
}

func (s source) dir() string  { return filepath.ToSlash(filepath.Dir(s.path)) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// sources parses every Go file of pkg, cmd and bench that is not test data.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, room := range []string{"pkg", "cmd", "bench"} {
		err := filepath.WalkDir(room, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
			if err != nil {
				return err
			}
			all = append(all, source{filepath.ToSlash(path), file, fset, strings.Count(string(text), "\n")})
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatal("found no Go files; run the test at the top of the tree")
	}
	return all
}

func TestRooms(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(rooms, e.Name()) && !slices.Contains(outputs, e.Name()) {
			t.Errorf("%s/ is no room of the house: the top holds %s", e.Name(), strings.Join(rooms, ", "))
		}
	}
}

func TestOnePackageCommentPerFolder(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		if _, ok := comments[s.dir()]; !ok {
			comments[s.dir()] = nil
		}
		if s.file.Doc != nil {
			comments[s.dir()] = append(comments[s.dir()], s.path)
			if text := s.file.Doc.Text(); !strings.HasPrefix(text, "Package ") && !strings.HasPrefix(s.dir(), "cmd/") {
				t.Errorf("%s: the package comment begins %.30q, want \"Package NAME\" (a licence header without a blank line?)", s.path, text)
			}
		}
	}
	for dir, files := range comments {
		if len(files) != 1 {
			t.Errorf("%s: got %d package comments %v, want 1", dir, len(files), files)
		}
	}
}

func TestArrowsRunDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			to, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if reason := wrongArrow(s.dir(), to); reason != "" {
				t.Errorf("%s imports %s: %s", s.fset.Position(imp.Pos()), to, reason)
			}
		}
	}
}

// wrongArrow says why a package in from may not import to, or "".
func wrongArrow(from, to string) string {
	switch {
	case strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "bench"):
		return "nothing imports a door or the bench"
	case strings.HasPrefix(from, "cmd/") || strings.HasPrefix(from, "bench"):
		return ""
	}
	fromWing, toWing := wingOf(from), wingOf(to)
	switch {
	case fromWing == "" && toWing != "":
		return "the ground floor imports no wing"
	case fromWing != "" && toWing != "" && fromWing != toWing:
		return "wings do not import each other; what they share is a noun of the ground floor"
	case toWing == "" && !slices.Contains(ground, strings.Split(to, "/")[1]):
		return "it is neither a wing nor the ground floor"
	}
	return ""
}

func wingOf(dir string) string {
	parts := strings.Split(dir, "/")
	if len(parts) > 1 && slices.Contains(wings, parts[1]) {
		return parts[1]
	}
	return ""
}

func TestWrongArrow(t *testing.T) {
	tests := []struct {
		from, to string
		wrong    bool
	}{
		{"pkg/stats", "pkg/strict", false},
		{"pkg/stats", "pkg/gate/night", true},
		{"pkg/gate/night", "pkg/serving/cell", true},
		{"pkg/serving/cell", "pkg/serving/engine", false},
		{"pkg/serving/cell", "pkg/report", false},
		{"pkg/serving/cell", "pkg/odd", true},
		{"pkg/gate/night", "cmd/nightly-eval", true},
		{"cmd/nightly-eval", "pkg/gate/night", false},
	}
	for _, tt := range tests {
		if got := wrongArrow(tt.from, tt.to); (got != "") != tt.wrong {
			t.Errorf("%s imports %s: got %q, want wrong = %v", tt.from, tt.to, got, tt.wrong)
		}
	}
}

func TestBannedImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			for _, b := range banned {
				if (path == b.path || strings.HasPrefix(path, b.path+"/")) && s.dir() != b.only {
					t.Errorf("%s imports %s: %s", s.fset.Position(imp.Pos()), path, b.reason)
				}
			}
		}
	}
}

func TestOnlyStepTouchesTheProcess(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.dir() == "pkg/step" {
			continue
		}
		isDoor := s.file.Name.Name == "main"
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Name != "os" || !slices.Contains(processGlobals, sel.Sel.Name) {
				return true
			}
			if isDoor && sel.Sel.Name == "Exit" {
				return true
			}
			t.Errorf("%s uses os.%s: take it from step.Proc", s.fset.Position(sel.Pos()), sel.Sel.Name)
			return true
		})
	}
}

func TestNamesAndSizes(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(vagueNames, s.file.Name.Name) || slices.Contains(vagueNames, filepath.Base(s.dir())) {
			t.Errorf("%s: %s says nothing about what is inside", s.path, s.file.Name.Name)
		}
		if s.size > 450 && !s.isTest() {
			t.Errorf("%s has %d lines: over 450 it holds two subjects", s.path, s.size)
		}
		if strings.HasPrefix(s.path, "cmd/") && s.file.Doc != nil {
			if code := s.size - strings.Count(s.file.Doc.Text(), "\n"); code > 60 {
				t.Errorf("%s: a door is thin, and this one has %d lines", s.path, code)
			}
		}
	}
}
