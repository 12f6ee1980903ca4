package strict

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxProblems bounds what a hopeless file can make us say.
const maxProblems = 1000

// A reporter collects problems. trail is the field that is being looked at.
type reporter struct {
	path  string
	trail []segment
	found Problems
	more  int // problems beyond maxProblems
}

func (r *reporter) add(at place, rule, hint, format string, args ...any) {
	if len(r.found) >= maxProblems {
		r.more++
		return
	}
	r.found = append(r.found, Problem{
		Path: r.path, Line: int(at.line), Col: int(at.col), Field: r.field(),
		Message: fmt.Sprintf(format, args...), Hint: hint, Rule: rule,
	})
}

// field names the field that is being looked at. A key may be as long as the file.
func (r *reporter) field() string {
	const limit = 500
	name := fieldName(r.trail)
	if len(name) > limit {
		name = strings.ToValidUTF8(name[:limit], "") + "…"
	}
	return name
}

func (r *reporter) addFault(at place, f *fault) {
	r.add(at, f.rule, f.hint, "%s", f.message)
}

func (r *reporter) count() int { return len(r.found) + r.more }

func (r *reporter) err() error {
	list := r.found.Sort()
	if r.more > 0 {
		list = append(slices.Clip(list), Problem{Path: r.path, Message: fmt.Sprintf("%d more problems are not listed", r.more)})
	}
	return list.Err()
}

var byteOrderMarks = [][]byte{{0xEF, 0xBB, 0xBF}, {0xFE, 0xFF}, {0xFF, 0xFE}}

// checkEncoding refuses what is not plain UTF-8 text.
func checkEncoding(r *reporter, data []byte) bool {
	for _, mark := range byteOrderMarks {
		if bytes.HasPrefix(data, mark) {
			r.add(place{1, 1}, RuleEncoding, "save the file as UTF-8 without a byte order mark", "starts with a byte order mark")
			return false
		}
	}
	if utf8.Valid(data) {
		return true
	}
	valid := 0
	for valid < len(data) {
		c, size := utf8.DecodeRune(data[valid:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		valid += size
	}
	r.add(placeOf(data, valid), RuleEncoding, "save the file as UTF-8", "byte %#02x is not valid UTF-8", data[valid])
	return false
}

// placeOf returns the place of a byte offset by walking the text up to it.
func placeOf(data []byte, offset int) place {
	before := data[:offset]
	line := bytes.Count(before, []byte("\n"))
	start := bytes.LastIndexByte(before, '\n') + 1
	return place{uint32(line) + 1, uint32(utf8.RuneCount(before[start:])) + 1}
}
