package strict

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonParser reads one JSON value in one pass, with places. Values share the text's memory; lists
// are built on a scratch stack, so that each ends up in a slice of its exact size.
type jsonParser struct {
	*reporter
	text string
	pos  int

	line      int
	lineStart int // offset of the line's first byte
	wide      int // bytes of this line so far that start no character

	items []node
	keys  []key
	count int // values so far
}

func parseJSON(r *reporter, data []byte) (node, bool) {
	p := &jsonParser{reporter: r, text: string(data), line: 1}
	p.space()
	if p.pos == len(p.text) {
		p.add(p.here(), RuleSyntax, "", "the file is empty; a JSON value is expected")
		return node{}, false
	}
	root, ok := p.value(0)
	if !ok {
		return node{}, false
	}
	p.space()
	if p.pos < len(p.text) {
		p.add(p.here(), RuleTrailing, "keep one value in the file", "data after the JSON value: %s", p.standing())
		return node{}, false
	}
	return root, true
}

func (p *jsonParser) here() place {
	return place{uint32(p.line), uint32(p.pos-p.lineStart-p.wide) + 1}
}

// peek returns the next byte, 0 at the end of the text.
func (p *jsonParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *jsonParser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '\n':
			p.line++
			p.lineStart, p.wide = p.pos+1, 0
		case ' ', '\t', '\r':
		default:
			return
		}
		p.pos++
	}
}

// standing names what stands at the current position.
func (p *jsonParser) standing() string {
	if p.pos >= len(p.text) {
		return "the end of the file"
	}
	c, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return strconv.QuoteRune(c)
}

func (p *jsonParser) syntax(hint, format string, args ...any) bool {
	p.add(p.here(), RuleSyntax, hint, format, args...)
	return false
}

func (p *jsonParser) value(depth int) (node, bool) {
	if depth > maxDepth {
		p.add(p.here(), RuleDepth, "", "is nested deeper than %d levels", maxDepth)
		return node{}, false
	}
	if p.count++; p.count > maxValues {
		p.add(p.here(), RuleSize, "split the file", "has more than the limit of %d values", maxValues)
		return node{}, false
	}
	at := p.here()
	switch c := p.peek(); c {
	case '{':
		return p.object(at, depth)
	case '[':
		return p.list(at, depth)
	case '"':
		s, ok := p.string()
		return node{kind: Text, text: s, place: at}, ok
	case '/', '#':
		return node{}, p.syntax("remove it", "JSON has no comments")
	case '\'':
		return node{}, p.syntax("use double quotes", "single quotes are not JSON")
	default:
		return p.word(at)
	}
}

// word reads a number or a bare word. A wrong one is a bad node, not the end: the rest of the file
// can still be read.
func (p *jsonParser) word(at place) (node, bool) {
	start := p.pos
	for p.pos < len(p.text) && isWordByte(p.text[p.pos]) {
		p.pos++
	}
	word := p.text[start:p.pos]
	n := node{text: word, place: at}
	switch {
	case word == "":
		return n, p.syntax("", "a value is expected, found %s", p.standing())
	case word == "null":
		n.kind = Null
	case word == "true" || word == "false":
		n.kind = Bool
	case IsNumber(word):
		n.kind = Number
	case notFinite.MatchString(word):
		return badNode(at, RuleNumber, "the program that wrote it measured nothing; write null or leave the key out", "%s is not a number", word), true
	case isOddNumber(word):
		return badNode(at, RuleNumber, numberHint(word), "%s is not a plain decimal number", shorten(word)), true
	default:
		return badNode(at, RuleSyntax, "put a text in double quotes; true, false and null are lower case", "%s is not a JSON value", strconv.Quote(shorten(word))), true
	}
	return n, true
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

func (p *jsonParser) list(at place, depth int) (node, bool) {
	p.pos++
	mark := len(p.items)
	for p.space(); p.peek() != ']'; p.space() {
		if len(p.items) > mark && !p.comma(']') {
			return node{}, false
		}
		item, ok := p.value(depth + 1)
		if !ok {
			return node{}, false
		}
		p.items = append(p.items, item)
	}
	p.pos++
	n := node{kind: List, place: at, sub: &sub{items: append([]node(nil), p.items[mark:]...)}}
	p.items = p.items[:mark]
	return n, true
}

func (p *jsonParser) object(at place, depth int) (node, bool) {
	p.pos++
	mark, keyMark := len(p.items), len(p.keys)
	for p.space(); p.peek() != '}'; p.space() {
		if len(p.keys) > keyMark && !p.comma('}') {
			return node{}, false
		}
		k := key{place: p.here()}
		if p.peek() != '"' {
			return node{}, p.syntax("", "a key in double quotes is expected, found %s", p.standing())
		}
		var ok bool
		if k.name, ok = p.string(); !ok {
			return node{}, false
		}
		p.space()
		if p.peek() != ':' {
			return node{}, p.syntax("", "a colon is expected after the key, found %s", p.standing())
		}
		p.pos++
		p.space()
		item, ok := p.value(depth + 1)
		if !ok {
			return node{}, false
		}
		p.keys, p.items = append(p.keys, k), append(p.items, item)
	}
	p.pos++
	n := node{kind: Mapping, place: at, sub: &sub{
		keys:  append([]key(nil), p.keys[keyMark:]...),
		items: append([]node(nil), p.items[mark:]...),
	}}
	p.keys, p.items = p.keys[:keyMark], p.items[:mark]
	return n, true
}

// comma reads the comma before a further member of what end closes.
func (p *jsonParser) comma(end byte) bool {
	if p.peek() != ',' {
		return p.syntax("", "a comma or %q is expected, found %s", end, p.standing())
	}
	at := p.here()
	p.pos++
	p.space()
	if p.peek() == end {
		p.add(at, RuleSyntax, "remove the comma", "a comma before %q is not JSON", end)
		return false
	}
	return true
}

// string reads a string; the text between escapes is shared, not copied.
func (p *jsonParser) string() (string, bool) {
	p.pos++
	start := p.pos
	var decoded []byte
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"':
			part := p.text[start:p.pos]
			p.pos++
			if decoded == nil {
				return part, true
			}
			return string(append(decoded, part...)), true
		case c == '\\':
			decoded = append(decoded, p.text[start:p.pos]...)
			r, ok := p.escape()
			if !ok {
				return "", false
			}
			decoded = utf8.AppendRune(decoded, r)
			start = p.pos
		case c < ' ':
			return "", p.syntax(`write it escaped, as in \n or \u0009`, "control character %#02x in a string", c)
		default:
			if c&0xC0 == 0x80 {
				p.wide++
			}
			p.pos++
		}
	}
	return "", p.syntax("is the file complete?", "the string has no closing quote")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *jsonParser) escape() (rune, bool) {
	if p.pos+1 < len(p.text) {
		if r, ok := escapes[p.text[p.pos+1]]; ok {
			p.pos += 2
			return r, true
		}
	}
	r, ok := p.hex(p.pos)
	if !ok {
		return 0, p.syntax("", "invalid escape in a string")
	}
	if !utf16.IsSurrogate(r) {
		p.pos += 6
		return r, true
	}
	low, ok := p.hex(p.pos + 6)
	if full := utf16.DecodeRune(r, low); ok && full != utf8.RuneError {
		p.pos += 12
		return full, true
	}
	return 0, p.syntax("", "half a surrogate pair in a string")
}

// hex reads \uXXXX at i.
func (p *jsonParser) hex(i int) (rune, bool) {
	if i+6 > len(p.text) || p.text[i] != '\\' || p.text[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[i+2:i+6], 16, 16)
	return rune(n), err == nil
}
