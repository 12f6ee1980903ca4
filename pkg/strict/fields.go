package strict

import (
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// structFields is what the tags of a struct type say.
type structFields struct {
	byName map[string]*field
	order  []*field
	extra  []int // index of the field of type Extra, nil when there is none
}

type field struct {
	name      string
	index     []int
	required  bool
	omitempty bool
}

var fieldCache sync.Map // reflect.Type to *structFields

func fieldsOf(t reflect.Type) *structFields {
	if known, ok := fieldCache.Load(t); ok {
		return known.(*structFields)
	}
	s := &structFields{byName: map[string]*field{}}
	s.collect(t, nil)
	fieldCache.Store(t, s)
	return s
}

// collect adds the fields of t; embedded structs without a name of their own are flattened, as
// encoding/json does.
func (s *structFields) collect(t reflect.Type, prefix []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), prefix...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		mark := f.Tag.Get("strict")
		switch {
		case mark == "extra":
			s.extra = index
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			s.collect(f.Type, index)
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			known := &field{
				name: name, index: index, required: mark == "required",
				omitempty: strings.Contains(","+options+",", ",omitempty,") || strings.Contains(","+options+",", ",omitzero,"),
			}
			s.byName[name] = known
			s.order = append(s.order, known)
		}
	}
}

// nearest returns the known name that name was perhaps meant to be, "" when none is near.
func (s *structFields) nearest(name string) string {
	limit := 1
	if len(name) > 5 {
		limit = 2
	}
	best := ""
	for _, f := range s.order {
		if normal(f.name) == normal(name) {
			return f.name
		}
		if d := distance(name, f.name, limit); d <= limit {
			best, limit = f.name, d-1
		}
	}
	return best
}

func normal(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", ""))
}

// distance is the number of edits (one letter more, less or other, or two neighbours swapped) between
// a and b, or limit+1 when there are more.
func distance(a, b string, limit int) int {
	if len(a) > 100 || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], limit+1)
}

// fold maps keys that encoding/json would take for one another to one text.
func fold(s string) string { return strings.Map(foldRune, s) }

// foldRune returns the smallest rune of r's simple case orbit.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
