package baseline

import (
	"bytes"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// entry is one key of a mapping in the text.
type entry struct {
	key, value *yaml.Node
	start, end int
	keep       bool
}

// value makes the value of a key what it shall be. has is the value decoded; a value that is already as
// wanted keeps its spelling.
func (w *splicer) value(key, n *yaml.Node, has, want any) {
	if reflect.DeepEqual(has, plainValue(want)) {
		return
	}
	was, isMap := has.(map[string]any)
	to, toMap := want.(Map)
	switch {
	case isMap && toMap && n.Style&yaml.FlowStyle != 0:
		w.flowMapping(key, n, was, to)
	case isMap && toMap:
		w.blockMapping(n, was, to)
	default:
		w.replace(key, n, want)
	}
}

// replace puts another value in the place of one, in the style that is there.
func (w *splicer) replace(key, n *yaml.Node, want any) {
	start, end := w.start(n), w.end(n, key.Column-1)
	list, isList := want.([]any)
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0 && isList && len(list) > 0:
		w.put(start, end, strings.TrimLeft(w.join(items(list, n.Column-1)), " "))
	case start == end: // a null that is not written
		w.put(start, end, " "+flow(want, w.wrap(start)))
	default:
		w.put(start, end, flow(want, w.wrap(start)))
	}
}

// wrap is the line break and indentation for what continues the flow that stands at an offset.
func (w *splicer) wrap(at int) string {
	line := w.text[w.lineStart(at):]
	return w.newline + strings.Repeat(" ", len(line)-len(bytes.TrimLeft(line, " "))+4)
}

// entries are a mapping's keys in the text, each marked by whether it stays. added are the keys that it
// does not have yet. The values that stay are made what they shall be.
func (w *splicer) entries(n *yaml.Node, indent int, was map[string]any, want Map) (all []entry, kept int, added Map) {
	for i := 0; i < len(n.Content); i += 2 {
		e := entry{key: n.Content[i], value: n.Content[i+1]}
		e.start, e.end, e.keep = w.start(e.key), w.end(e.value, indent), want.Has(e.key.Value)
		if e.keep {
			kept++
		}
		all = append(all, e)
	}
	for _, p := range want {
		if _, there := was[p.Key]; !there {
			added = append(added, p)
		}
	}
	if kept > 0 {
		for _, e := range all {
			if e.keep {
				w.value(e.key, e.value, was[e.key.Value], want.Get(e.key.Value))
			}
		}
	}
	return all, kept, added
}

func (w *splicer) blockMapping(n *yaml.Node, was map[string]any, want Map) {
	indent := n.Column - 1
	all, kept, added := w.entries(n, indent, was, want)
	if kept == 0 {
		lines := "{}"
		if len(want) > 0 {
			lines = strings.TrimLeft(w.join(block(want, indent)), " ")
		}
		w.put(all[0].start, all[len(all)-1].end, lines)
		return
	}
	last := 0
	for i, e := range all {
		if e.keep {
			last = i
			continue
		}
		w.put(w.lineStart(e.start), w.nextLine(w.lineEnd(e.end)), "")
	}
	if len(added) == 0 {
		return
	}
	lines := block(added, indent)
	if flowing(all) {
		lines = nil
		pad := strings.Repeat(" ", indent)
		for _, p := range added {
			lines = append(lines, pad+scalar(p.Key, true)+": "+flow(p.Value, w.newline+pad+"    "))
		}
	}
	// At the start of the next line, which is still there when the end of this mapping is removed.
	at := w.lineEnd(all[last].end)
	if next := w.nextLine(at); next > at {
		w.put(next, next, w.join(lines)+w.newline)
	} else {
		w.put(at, at, w.newline+w.join(lines))
	}
}

// flowing reports whether the mappings among a mapping's values are written in flow style, so that a new
// one follows them.
func flowing(all []entry) bool {
	found := false
	for _, e := range all {
		if e.value.Kind != yaml.MappingNode {
			continue
		}
		if e.value.Style&yaml.FlowStyle == 0 {
			return false
		}
		found = true
	}
	return found
}

func (w *splicer) flowMapping(key, n *yaml.Node, was map[string]any, want Map) {
	start, end := w.start(n), w.end(n, key.Column-1)
	all, kept, added := w.entries(n, key.Column-1, was, want)
	if kept == 0 {
		if len(all) == 0 && w.standsAlone(key, n) && len(want) > 0 {
			colon := w.end(key, 0) + 1
			w.put(colon, end, "")
			at := w.lineEnd(end)
			w.put(at, at, w.newline+w.join(block(want, key.Column+1)))
			return
		}
		w.put(start, end, flow(want, w.wrap(start)))
		return
	}
	last := -1
	for i := range all {
		if all[i].keep {
			last = i
		}
	}
	for i, e := range all {
		switch {
		case e.keep:
		case i < last && !bytes.ContainsAny(w.text[e.end:all[i+1].start], "\r\n"):
			w.put(e.start, all[i+1].start, "")
		case i < last || bytes.ContainsAny(w.text[all[i-1].end:e.start], "\r\n"):
			w.put(e.start, w.pastComma(e.end), "")
		default:
			w.put(all[i-1].end, e.end, "")
		}
	}
	for _, p := range added {
		w.put(all[last].end, all[last].end, w.separator(start, all[0].start)+scalar(p.Key, true)+": "+flow(p.Value, w.wrap(start)))
	}
}

// separator is what stands between the keys of a flow mapping: a comma, and the line break and
// indentation that the first key has behind the brace.
func (w *splicer) separator(brace, first int) string {
	line := w.lineStart(first)
	if line <= brace {
		return ", "
	}
	return "," + w.newline + string(w.text[line:first])
}

// pastComma is the offset behind the comma that follows an entry, or behind the entry where none does.
func (w *splicer) pastComma(end int) int {
	at := end
	for at < len(w.text) && isSpace(w.text[at]) {
		at++
	}
	if at < len(w.text) && w.text[at] == ',' {
		return at + 1
	}
	return end
}

// standsAlone reports whether an empty flow mapping is the value of a block key on one line, so that its
// keys can be written in block style.
func (w *splicer) standsAlone(key, n *yaml.Node) bool {
	keyAt, at, end := w.start(key), w.start(n), w.end(n, 0)
	line := w.lineStart(keyAt)
	before := string(w.text[line:keyAt])
	between := string(w.text[w.end(key, 0):at])
	rest := strings.TrimSpace(string(w.text[end:w.lineEnd(end)]))
	return strings.TrimSpace(before) == "" && strings.TrimRight(between, " \t") == ":" && w.lineStart(end) == line && (rest == "" || rest[0] == '#')
}
