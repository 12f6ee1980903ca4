package strict

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// parseYAML reads exactly one document. The library reads the syntax and knows the places; which
// values its scalars stand for is decided here (see plainScalar), because YAML readers differ.
func parseYAML(r *reporter, data []byte) (node, bool) {
	if i := bytes.IndexFunc(data, isControl); i >= 0 {
		r.add(placeOf(data, i), RuleSyntax, "remove it, or write it escaped in double quotes", "control character %#02x", data[i])
		return node{}, false
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		r.add(place{}, RuleSyntax, "", "cannot be read as YAML: %v", err)
		return node{}, false
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		r.add(place{1, 1}, RuleSyntax, "", "the file is empty; a YAML document is expected")
		return node{}, false
	} else if err != nil {
		addSyntax(r, data, err)
		return node{}, false
	}
	if err := loader.Load(&second); err == nil {
		at := place{uint32(second.Line), uint32(second.Column)}
		r.add(at, RuleTrailing, "keep one document and drop the --- line", "a second document starts here")
		return node{}, false
	} else if !errors.Is(err, io.EOF) {
		addSyntax(r, data, err)
		return node{}, false
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		return fromYAML(first.Content[0], 0), true
	}
	return fromYAML(&first, 0), true
}

func isControl(c rune) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7F
}

func addSyntax(r *reporter, data []byte, err error) {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		r.add(place{}, RuleSyntax, "", "cannot be read as YAML: %v", err)
		return
	}
	at := place{uint32(max(le.Mark.Line, 0)), uint32(max(le.Mark.Column, 0))}
	hint := ""
	if at.line > 0 && indentedByTab(data, int(at.line)) {
		hint = "indent with spaces; YAML forbids tabs there"
	}
	message := le.Message
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	r.add(at, RuleSyntax, hint, "%s", message)
}

func indentedByTab(data []byte, line int) bool {
	for ; line > 1; line-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	data, _, _ = bytes.Cut(data, []byte("\n"))
	indent := data[:len(data)-len(bytes.TrimLeft(data, " \t-"))]
	return bytes.IndexByte(indent, '\t') >= 0
}

// fromYAML copies a tree of the library into ours. Nothing is expanded: an alias is refused, so a file
// cannot be larger than its text.
func fromYAML(y *yaml.Node, depth int) node {
	at := place{uint32(y.Line), uint32(y.Column)}
	switch {
	case depth > maxDepth:
		return badNode(at, RuleDepth, "", "is nested deeper than %d levels", maxDepth)
	case y.Kind == yaml.AliasNode:
		return badNode(at, RuleAlias, "repeat the value", "alias *%s is refused", y.Value)
	case y.Anchor != "":
		return badNode(at, RuleAlias, "remove the anchor and repeat the value where it is used", "anchor &%s is refused", y.Anchor)
	case y.Style&yaml.TaggedStyle != 0:
		return badNode(at, RuleTag, "remove the tag; quotes make a text", "tag %s is refused", y.Tag)
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n := node{kind: Text, text: y.Value, place: at}
		if isPlain(y) {
			n.kind = plainScalar(y.Value)
		}
		return n
	case yaml.SequenceNode:
		n := node{kind: List, place: at, sub: &sub{items: make([]node, len(y.Content))}}
		for i, item := range y.Content {
			n.sub.items[i] = fromYAML(item, depth+1)
		}
		return n
	case yaml.MappingNode:
		size := len(y.Content) / 2
		n := node{kind: Mapping, place: at, sub: &sub{keys: make([]key, size), items: make([]node, size)}}
		for i := range size {
			n.sub.keys[i] = keyFromYAML(y.Content[2*i])
			n.sub.items[i] = fromYAML(y.Content[2*i+1], depth+1)
		}
		return n
	}
	return badNode(at, RuleSyntax, "", "is neither a value, a list nor a mapping")
}

func isPlain(y *yaml.Node) bool {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return y.Style&quoted == 0
}

// keyFromYAML takes texts as keys, and `on` and its like, which every workflow file has; a number, a
// boolean or null as a key is another key to the next reader.
func keyFromYAML(y *yaml.Node) key {
	k := key{name: y.Value, place: place{uint32(y.Line), uint32(y.Column)}}
	refuse := func(rule, hint, message string) key {
		k.fault = &fault{rule, message, hint}
		return k
	}
	switch {
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		return refuse(RuleAlias, "write the key itself", "anchors and aliases are refused")
	case y.Style&yaml.TaggedStyle != 0:
		return refuse(RuleTag, "remove the tag; quotes make a text", "tag "+y.Tag+" is refused")
	case y.Kind != yaml.ScalarNode:
		return refuse(RuleKey, "", "a key must be text, not a list or a mapping")
	case !isPlain(y):
		return k
	case y.Value == "<<":
		return refuse(RuleAlias, "repeat the keys", "merge key << is refused")
	}
	switch kind := plainScalar(y.Value); {
	case kind == Text, kind == Odd && isSwitch(y.Value):
		return k
	default:
		return refuse(RuleKey, "put it in quotes", "key "+strings.TrimSpace(y.Value+" ")+" is not text")
	}
}
