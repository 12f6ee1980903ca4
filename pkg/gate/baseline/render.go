package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Map is a mapping of a YAML file with its keys in order. Values are nil, bool, string, float64, int,
// int64, json.Number, Map and []any.
type Map []Pair

// Pair is one key of a [Map].
type Pair struct {
	Key   string
	Value any
}

// Get returns the value of a key, nil where it is not there.
func (m Map) Get(key string) any {
	for _, p := range m {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// Has reports whether the key is there.
func (m Map) Has(key string) bool {
	return slices.ContainsFunc(m, func(p Pair) bool { return p.Key == key })
}

// With returns the mapping with a key set, in its place or behind the others.
func (m Map) With(key string, value any) Map {
	out := slices.Clone(m)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
			return out
		}
	}
	return append(out, Pair{key, value})
}

// Without returns the mapping without a key.
func (m Map) Without(key string) Map {
	return slices.DeleteFunc(slices.Clone(m), func(p Pair) bool { return p.Key == key })
}

// Equal reports whether two mappings hold the same, in whatever order.
func (m Map) Equal(other Map) bool { return reflect.DeepEqual(plainValue(m), plainValue(other)) }

// flow writes a value in flow style. Mappings in a list stand one a line where wrap, a line break and an
// indentation, is given.
func flow(v any, wrap string) string {
	switch v := v.(type) {
	case Map:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = scalar(p.Key, true) + ": " + flow(p.Value, wrap)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		before := ""
		for i, item := range v {
			if _, isMap := item.(Map); isMap {
				before = wrap
			}
			parts[i] = flow(item, "")
		}
		between := ", "
		if before != "" {
			between = "," + before
		}
		return "[" + before + strings.Join(parts, between) + "]"
	}
	return scalar(v, false)
}

// block writes the keys of a mapping as lines in block style, each behind its indentation. A list has
// one item a line.
func block(m Map, indent int) []string {
	var lines []string
	pad := strings.Repeat(" ", indent)
	for _, p := range m {
		key := pad + scalar(p.Key, true) + ":"
		switch v := p.Value.(type) {
		case Map:
			if len(v) == 0 {
				lines = append(lines, key+" {}")
				continue
			}
			lines = append(lines, key)
			lines = append(lines, block(v, indent+2)...)
		case []any:
			if len(v) == 0 {
				lines = append(lines, key+" []")
				continue
			}
			lines = append(lines, key)
			lines = append(lines, items(v, indent+2)...)
		default:
			lines = append(lines, key+" "+scalar(v, false))
		}
	}
	return lines
}

// items writes a list as lines in block style.
func items(list []any, indent int) []string {
	lines := make([]string, len(list))
	for i, v := range list {
		lines[i] = strings.Repeat(" ", indent) + "- " + flow(v, "")
	}
	return lines
}

// What can stand without quotes and is text to every reader of YAML.
var (
	bareText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	bareKey  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*(::[A-Za-z0-9_.-]+)?$`)
	notText  = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
)

func scalar(v any, isKey bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case json.Number:
		return v.String()
	case float64:
		return number(v)
	case string:
		bare := bareText
		if isKey {
			bare = bareKey
		}
		if bare.MatchString(v) && !slices.Contains(notText, strings.ToLower(v)) {
			return v
		}
		return quotedText(v)
	}
	panic(fmt.Sprintf("a baselines file holds no %T", v))
}

// quotedText is a text in double quotes. What JSON escapes, YAML reads the same way.
func quotedText(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err)
	}
	// These three are control characters to YAML and plain ones to JSON.
	return strings.NewReplacer("\x7f", `\x7f`, "\u0085", `\u0085`, "\ufeff", `\ufeff`).Replace(strings.TrimSpace(b.String()))
}

// number spells a number so that readers of YAML 1.1 and 1.2 take it for one: an exponent needs a point
// and a sign.
func number(v float64) string {
	if v == 0 || math.Abs(v) >= 1e-9 && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, found := strings.Cut(text, "e")
	if found && !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return mantissa + "e" + exponent
}
