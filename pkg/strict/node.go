package strict

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kind is the kind of a [Value].
type Kind uint8

// The kinds. Odd is a plain YAML scalar that readers of YAML disagree about (017, 1_000, yes, .inf): it
// is refused wherever it would have to be taken for something.
const (
	Null Kind = iota
	Bool
	Number
	Text
	Odd
	List
	Mapping
	bad // could not be read; fault says why
)

// A place is a position in the text; the zero place is none.
type place struct {
	line, col uint32
}

// A node is one value of a document. It is kept small, because a night's samples are millions of them.
type node struct {
	text string // a scalar's text, or its literal
	sub  *sub   // what a list, a mapping or a bad node has beyond a scalar
	place
	kind Kind
}

type sub struct {
	keys  []key // of a mapping, one for each of items
	items []node
	fault *fault // of a bad node
}

type key struct {
	name string
	place
	fault *fault // when the key itself is refused
}

// A fault is why a part of the document was refused by the parser.
type fault struct {
	rule, message, hint string
}

func badNode(at place, rule, hint, format string, args ...any) node {
	return node{kind: bad, place: at, sub: &sub{fault: &fault{rule, fmt.Sprintf(format, args...), hint}}}
}

// describe names a node in a message.
func (n *node) describe() string {
	switch n.kind {
	case Null:
		return "null"
	case Text:
		return "text " + strconv.Quote(shorten(n.text))
	case List:
		return "a list"
	case Mapping:
		return "a mapping"
	case Bool, Number, Odd:
		return shorten(n.text)
	default:
		return "unreadable"
	}
}

func shorten(s string) string {
	const limit = 60
	for i := range s {
		if i >= limit {
			return s[:i] + "…"
		}
	}
	return s
}

// A segment is one step of a field's name: a key, or an index where key is unset.
type segment struct {
	key   string
	index int
	isKey bool
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// fieldName spells segments as `entries[2].recipe`, other keys as `["serve::a"]`.
func fieldName(segments []segment) string {
	var b strings.Builder
	for _, s := range segments {
		switch {
		case !s.isKey:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !plainKey.MatchString(s.key):
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// parseField is the inverse of fieldName; what it cannot read ends the list.
func parseField(field string) []segment {
	var segments []segment
	for field != "" {
		switch {
		case strings.HasPrefix(field, `["`):
			quoted, err := strconv.QuotedPrefix(field[1:])
			if err != nil {
				return segments
			}
			name, _ := strconv.Unquote(quoted)
			segments = append(segments, segment{key: name, isKey: true})
			field = strings.TrimPrefix(field[1+len(quoted):], "]")
		case field[0] == '[':
			digits, rest, _ := strings.Cut(field[1:], "]")
			index, err := strconv.Atoi(digits)
			if err != nil {
				return segments
			}
			segments = append(segments, segment{index: index})
			field = rest
		default:
			field = strings.TrimPrefix(field, ".")
			end := strings.IndexAny(field, ".[")
			if end < 0 {
				end = len(field)
			}
			if end == 0 {
				return segments
			}
			segments = append(segments, segment{key: field[:end], isKey: true})
			field = field[end:]
		}
	}
	return segments
}
