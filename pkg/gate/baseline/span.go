package baseline

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// places finds the bytes of the nodes of a YAML text. The parser says where a node begins; where it
// ends is found in the text.
type places struct {
	text  []byte
	lines []int // offset of each line's first byte
}

func newPlaces(text []byte) places {
	p := places{text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		if n := lineBreak(text[i:]); n > 0 {
			i += n
			p.lines = append(p.lines, i)
		} else {
			i++
		}
	}
	return p
}

// lineBreak is the length of the line break that text begins with, 0 for none. The parser counts lines
// by the breaks of YAML 1.1.
func lineBreak(text []byte) int {
	for _, b := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(b)) {
			return len(b)
		}
	}
	return 0
}

// start is the offset of a node's first byte.
func (p places) start(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(p.lines) {
		return len(p.text)
	}
	at := p.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(p.text[at:])
		at += size
	}
	return min(at, len(p.text))
}

// end is the offset behind a node's last byte. indent is the column, from 0, of the key it belongs to.
func (p places) end(n *yaml.Node, indent int) int {
	at := p.start(n)
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		return p.collectionEnd(n, at, indent)
	case yaml.ScalarNode:
		return p.scalarEnd(n, at, indent)
	}
	return at
}

func (p places) collectionEnd(n *yaml.Node, at, indent int) int {
	if n.Style&yaml.FlowStyle == 0 {
		last := n.Content[len(n.Content)-1]
		if n.Kind == yaml.MappingNode {
			indent = n.Column - 1
		}
		return p.end(last, indent)
	}
	at++
	if len(n.Content) > 0 {
		at = max(at, p.end(n.Content[len(n.Content)-1], indent))
	}
	for at < len(p.text) {
		switch c := p.text[at]; {
		case c == '}' || c == ']':
			return at + 1
		case c == '#' && isSpace(p.text[at-1]):
			at = p.lineEnd(at)
		default:
			at++
		}
	}
	return at
}

func (p places) scalarEnd(n *yaml.Node, at, indent int) int {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at++; at < len(p.text) && p.text[at] != '"'; at++ {
			if p.text[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(p.text))
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at++; at < len(p.text); at++ {
			if p.text[at] != '\'' {
				continue
			}
			if at+1 >= len(p.text) || p.text[at+1] != '\'' {
				break
			}
			at++
		}
		return min(at+1, len(p.text))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return p.blockScalarEnd(at, indent)
	}
	// A plain scalar's value has its line breaks folded; its other bytes are those of the text.
	for _, c := range []byte(n.Value) {
		if isSpace(c) {
			continue
		}
		for at < len(p.text) && isSpace(p.text[at]) {
			at++
		}
		if at >= len(p.text) || p.text[at] != c {
			return at
		}
		at++
	}
	return at
}

// blockScalarEnd is the end of the last line of a | or > scalar: those that are indented deeper than
// its key.
func (p places) blockScalarEnd(at, indent int) int {
	end := p.lineEnd(at)
	for next := p.nextLine(end); next < len(p.text); next = p.nextLine(p.lineEnd(next)) {
		line := p.text[next:p.lineEnd(next)]
		blanks := len(line) - len(bytes.TrimLeft(line, " "))
		if blanks < len(line) && blanks <= indent {
			break
		}
		if blanks < len(line) {
			end = p.lineEnd(next)
		}
	}
	return end
}

// lineStart is the offset of the first byte of the line of an offset.
func (p places) lineStart(at int) int {
	i, exact := slices.BinarySearch(p.lines, at)
	if !exact {
		i--
	}
	return p.lines[i]
}

// lineEnd is the offset of the break that ends the line of an offset, or of the text's end.
func (p places) lineEnd(at int) int {
	for at < len(p.text) && lineBreak(p.text[at:]) == 0 {
		at++
	}
	return at
}

// nextLine is the offset of the line behind one that ends at an offset.
func (p places) nextLine(lineEnd int) int { return lineEnd + lineBreak(p.text[lineEnd:]) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
