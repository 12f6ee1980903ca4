package lane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"go.yaml.in/yaml/v4"
)

// Limits on one file: its size in bytes, and the tree's nodes with every alias written out and its depth.
const (
	maxFile  = 1 << 20
	maxNodes = 100_000
	maxDepth = 100
)

// kind is what a value is; absent is the zero value.
type kind int

const (
	absent kind = iota
	scalar
	list
	mapping
)

// value is a node of a workflow with its place. Workflows may hold anchors, which pkg/strict refuses, so
// they have a tree of their own, with the aliases written out.
type value struct {
	kind      kind
	line, col int
	text      string
	plain     bool // a scalar without quotes
	keys      []value
	items     []value
}

// get is the value of a key, absent where there is none.
func (v value) get(key string) value {
	for i, k := range v.keys {
		if k.text == key {
			return v.items[i]
		}
	}
	return value{}
}

// at is the value below a path of keys.
func (v value) at(keys ...string) value {
	for _, k := range keys {
		v = v.get(k)
	}
	return v
}

// texts are the scalars of a list, of a scalar itself, or the keys of a mapping: the three ways in which
// a workflow writes events and labels.
func (v value) texts() []string {
	var out []string
	switch v.kind {
	case scalar:
		out = append(out, v.text)
	case list:
		for _, item := range v.items {
			if item.kind == scalar {
				out = append(out, item.text)
			}
		}
	case mapping:
		for _, k := range v.keys {
			out = append(out, k.text)
		}
	}
	return out
}

// each calls do for every pair of a mapping.
func (v value) each(do func(key, item value)) {
	for i, k := range v.keys {
		do(k, v.items[i])
	}
}

// parse reads one YAML document.
func parse(path string, text []byte) (value, *strict.Problem) {
	problem := func(line, col int, format string, args ...any) *strict.Problem {
		return &strict.Problem{Path: path, Line: line, Col: col, Message: fmt.Sprintf(format, args...), Rule: "unreadable-workflow"}
	}
	if len(text) > maxFile {
		return value{}, problem(0, 0, "has more than the limit of %d bytes", maxFile)
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return value{}, problem(0, 0, "cannot be read as YAML: %v", err)
	}
	var first, second yaml.Node
	if err = loader.Load(&first); errors.Is(err, io.EOF) {
		return value{}, problem(1, 1, "the file is empty")
	}
	if err == nil {
		if err = loader.Load(&second); err == nil {
			return value{}, problem(second.Line, second.Column, "a second document starts here")
		}
	}
	if !errors.Is(err, io.EOF) {
		var le *yaml.LoadError
		if errors.As(err, &le) {
			return value{}, problem(max(le.Mark.Line, 0), max(le.Mark.Column, 0), "%s", strings.TrimSpace(le.Message+" "+le.ContextMsg))
		}
		return value{}, problem(0, 0, "cannot be read as YAML: %v", err)
	}
	c := copier{}
	root := c.copy(&first, 0)
	if c.fault != "" {
		return value{}, problem(c.line, c.col, "%s", c.fault)
	}
	return root, nil
}

// copier copies the library's tree into ours and stops at what no honest workflow has.
type copier struct {
	nodes     int
	fault     string
	line, col int
}

func (c *copier) copy(y *yaml.Node, depth int) value {
	if c.nodes++; c.fault != "" {
		return value{}
	}
	v := value{line: y.Line, col: y.Column}
	switch {
	case c.nodes > maxNodes || depth > maxDepth:
		return c.fail(y, "the file is nested too deeply or too large with its aliases written out")
	case y.Kind == yaml.DocumentNode && len(y.Content) == 1:
		return c.copy(y.Content[0], depth+1)
	case y.Kind == yaml.AliasNode && y.Alias != nil:
		v = c.copy(y.Alias, depth+1)
	case y.Kind == yaml.ScalarNode:
		const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		v.kind, v.text, v.plain = scalar, y.Value, y.Style&quoted == 0
		if v.plain && (v.text == "" || v.text == "~" || v.text == "null") {
			v.text = ""
		}
	case y.Kind == yaml.SequenceNode:
		v.kind = list
		for _, item := range y.Content {
			v.items = append(v.items, c.copy(item, depth+1))
		}
	case y.Kind == yaml.MappingNode:
		v.kind = mapping
		seen := map[string]bool{}
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := c.copy(y.Content[i], depth+1)
			if key.text == "<<" && key.plain {
				return c.fail(y.Content[i], "the merge key << is not known to GitHub Actions")
			}
			if key.kind != scalar || seen[key.text] {
				return c.fail(y.Content[i], "the key is repeated or no text")
			}
			seen[key.text] = true
			v.keys = append(v.keys, key)
			v.items = append(v.items, c.copy(y.Content[i+1], depth+1))
		}
	}
	return v
}

func (c *copier) fail(y *yaml.Node, message string) value {
	if c.fault == "" {
		c.fault, c.line, c.col = message, y.Line, y.Column
	}
	return value{}
}
