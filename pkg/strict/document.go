package strict

import "fmt"

// A Document is a parsed text that still knows where its fields are.
type Document struct {
	path string
	data []byte
	root node
}

// Path returns the path the document was read under.
func (d *Document) Path() string { return d.path }

// Bytes returns the text of the document. It must not be changed.
func (d *Document) Bytes() []byte { return d.data }

// Problem returns a problem of the field ("entries[2].recipe", `baselines["serve::a"].metrics`) at the
// place of its value, or of its nearest ancestor when the field is absent. The empty field is the
// whole document. Rule and Hint are the caller's to set.
func (d *Document) Problem(field, format string, args ...any) Problem {
	n, _ := d.find(field)
	return Problem{
		Path: d.path, Line: int(n.line), Col: int(n.col),
		Field: field, Message: fmt.Sprintf(format, args...),
	}
}

// Has reports whether the field is there, be it null.
func (d *Document) Has(field string) bool {
	_, ok := d.find(field)
	return ok
}

// find returns the node of the field, or of the nearest ancestor and false.
func (d *Document) find(field string) (*node, bool) {
	segments := parseField(field)
	if fieldName(segments) != field {
		return &d.root, false
	}
	n := &d.root
	for _, s := range segments {
		next := n.child(s)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func (n *node) child(s segment) *node {
	switch {
	case s.isKey && n.kind == Mapping:
		for i := range n.sub.keys {
			if n.sub.keys[i].name == s.key {
				return &n.sub.items[i]
			}
		}
	case !s.isKey && n.kind == List && s.index >= 0 && s.index < len(n.sub.items):
		return &n.sub.items[s.index]
	}
	return nil
}
