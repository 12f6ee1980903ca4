package baseline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/google/renameio/v2"
	"go.yaml.in/yaml/v4"
)

// header begins a new file.
const header = `# What each nightly cell is held to. Written by refresh-baselines, reviewed by people.
# A cell without a key here is recorded and nothing more.
version: 1
baselines: {}
`

// Text is a baselines file as it is written: an edit changes the keys it is about and leaves every
// other byte, comment and order as it is.
type Text struct {
	path   string
	text   []byte
	file   *File
	doc    *strict.Document
	root   *yaml.Node
	values map[string]any // of the whole file
}

// ParseText reads the text of a baselines file, which must be valid. No text at all (nil) is a new file.
func ParseText(path string, text []byte) (*Text, error) {
	if text == nil {
		text = []byte(header)
	}
	file, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	t := &Text{path: path, text: text, file: file}
	if t.doc, err = strict.YAML(path, text, &t.values); err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	t.root = document.Content[0]
	return t, nil
}

// ReadText reads the text of a baselines file. A file that is not there is a new one.
func ReadText(path string) (*Text, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ParseText(path, nil)
	}
	var tree any
	doc, err := strict.ReadYAML(path, &tree)
	if err != nil {
		return nil, err
	}
	return ParseText(path, doc.Bytes())
}

// File is what the text says.
func (t *Text) File() *File { return t.file }

// Problem is a problem of a field at its place, as [strict.Document.Problem] has it.
func (t *Text) Problem(field, format string, args ...any) strict.Problem {
	return t.doc.Problem(field, format, args...)
}

// Bytes is the text. It must not be changed.
func (t *Text) Bytes() []byte { return t.text }

// Spec returns what the file has for a cell, with everything in its order; nil where it has no key.
func (t *Text) Spec(k Key) Map {
	cells, _ := t.values["baselines"].(map[string]any)
	value, ok := cells[k.String()]
	if !ok {
		return nil
	}
	spec, _ := ordered(child(child(t.root, "baselines"), k.String()), value).(Map)
	return spec
}

// SpecEdit says what a cell's key shall hold; nil removes the key.
type SpecEdit struct {
	Key  Key
	Spec Map
}

// Edit returns the file with the keys of some cells changed. What a spec has in common with the one that
// is there stays as it is written. The result is read again: it is a valid file that says exactly what was
// asked for, or there is an error and no result.
func (t *Text) Edit(edits []SpecEdit) (*Text, error) {
	w := &splicer{places: newPlaces(t.text), newline: "\n"}
	if bytes.Contains(t.text, []byte("\r\n")) {
		w.newline = "\r\n"
	}
	want := maps.Clone(t.values)
	old, _ := t.values["baselines"].(map[string]any)
	cells := map[string]any{}
	maps.Copy(cells, old)
	want["baselines"] = cells

	node := child(t.root, "baselines")
	whole, _ := ordered(node, t.values["baselines"]).(Map)
	for _, e := range edits {
		if key := e.Key.String(); e.Spec == nil {
			whole = whole.Without(key)
			delete(cells, key)
		} else {
			whole = whole.With(key, e.Spec)
			cells[key] = plainValue(e.Spec)
		}
	}
	w.value(keyOf(t.root, "baselines"), node, t.values["baselines"], whole)

	edited, err := ParseText(t.path, w.apply())
	if err != nil {
		return nil, fmt.Errorf("reading the edited baselines: %w", err)
	}
	if !reflect.DeepEqual(edited.values, want) {
		return nil, fmt.Errorf("editing %s: the result would say something else than was asked; write the file in plain block or flow style", t.path)
	}
	return edited, nil
}

// Store writes a baselines file, whole or not at all. Permissions stay; a link keeps pointing at the file,
// which is the one that changes. Missing folders are made.
func (t *Text) Store(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the baselines: %w", err)
	}
	if err := renameio.WriteFile(path, t.text, 0o644, renameio.WithTempDir(dir), renameio.WithExistingPermissions()); err != nil {
		return fmt.Errorf("writing the baselines: %w", err)
	}
	return nil
}

// keyOf returns the node of a mapping's key, child that of its value; nil where it is not there.
func keyOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i]
		}
	}
	return nil
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// ordered gives a decoded value the order that its node has.
func ordered(n *yaml.Node, value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := make(Map, 0, len(v))
		for i := 0; i < len(n.Content); i += 2 {
			m = append(m, Pair{n.Content[i].Value, ordered(n.Content[i+1], v[n.Content[i].Value])})
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = ordered(n.Content[i], v[i])
		}
		return list
	}
	return value
}

// plainValue is a value as a reader decodes it.
func plainValue(value any) any {
	switch v := value.(type) {
	case Map:
		m := map[string]any{}
		for _, p := range v {
			m[p.Key] = plainValue(p.Value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValue(v[i])
		}
		return list
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return value
}

// splicer gathers the places of a text that change.
type splicer struct {
	places
	newline string
	splices []splice
}

// splice puts text in place of the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

func (w *splicer) put(start, end int, text string) {
	w.splices = append(w.splices, splice{start, end, text})
}

func (w *splicer) apply() []byte {
	slices.SortStableFunc(w.splices, func(a, b splice) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	var b bytes.Buffer
	at := 0
	for _, s := range w.splices {
		if s.start < at { // cannot be, and would be found by reading the result again
			continue
		}
		b.Write(w.text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.Write(w.text[at:])
	return b.Bytes()
}

func (w *splicer) join(lines []string) string { return strings.Join(lines, w.newline) }
