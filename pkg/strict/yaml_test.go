package strict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// target has a field of every sort a document is decoded into.
type target struct {
	Name    string             `json:"name"`
	Enabled bool               `json:"enabled,omitempty"`
	Max     *float64           `json:"max"`
	Count   int                `json:"count,omitempty"`
	Small   int8               `json:"small"`
	Size    uint64             `json:"size"`
	List    []string           `json:"list"`
	Bounds  map[string]float64 `json:"bounds"`
	Env     map[string]string  `json:"env"`
	Inner   *inner             `json:"inner"`
	Any     any                `json:"any"`
}

type inner struct {
	Recipe  string `json:"recipe" strict:"required"`
	Timeout *int   `json:"timeout_sec"`
}

// lines returns the problems of err, hints included, one a line.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	var out []string
	for _, p := range err.(strict.Problems) {
		line := p.Error()
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		out = append(out, line)
	}
	return out
}

func TestYAMLRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"f:1:1: the file is empty; a YAML document is expected [syntax]"}},
		{"only a comment", "# nothing\n", []string{"f:1:1: the file is empty; a YAML document is expected [syntax]"}},
		{"null document", "~\n", []string{"f:1:1: must be a mapping, not null [type]"}},
		{"list document", "- a\n", []string{"f:1:1: must be a mapping, not a list [type]"}},
		{"yes/no booleans", "enabled: on\nname: off\nany: no\n", []string{
			"f:1:10: enabled: must be true or false, not on [type] (write true or false)",
			"f:2:7: name: must be text, not off [type] (put it in quotes)",
			"f:3:6: any: readers of YAML disagree about no [number] (write true or false, or put it in quotes)",
		}},
		{"quoted boolean", "enabled: \"true\"\n", []string{`f:1:10: enabled: must be true or false, not text "true" [type] (remove the quotes)`}},
		{"capital boolean", "enabled: True\n", []string{"f:1:10: enabled: must be true or false, not True [type] (write true or false)"}},
		{"number as text", "name: 12\n", []string{"f:1:7: name: must be text, not 12 [type] (put it in quotes)"}},
		{"number in environment", "env: {A: 1}\n", []string{"f:1:10: env.A: must be text, not 1 [type] (put it in quotes)"}},
		{"quoted number", "max: \"12\"\n", []string{`f:1:6: max: must be a number, not text "12" [type] (remove the quotes)`}},
		{"huge integer", "count: 9223372036854775808\nsmall: 128\n", []string{
			"f:1:8: count: 9223372036854775808 does not fit in 64 bits [number]",
			"f:2:8: small: 128 does not fit in 8 bits [number]",
		}},
		{"negative size", "size: -1\n", []string{"f:1:7: size: -1 is negative or does not fit in 64 bits [number]"}},
		{"integer spelt as float", "count: 1.0\n", []string{"f:1:8: count: must be an integer, not 1.0 [number] (write 1)"}},
		{"integer with exponent", "count: 1e3\n", []string{"f:1:8: count: must be an integer, not 1e3 [number] (write 1000)"}},
		{"fraction", "count: 1.5\n", []string{"f:1:8: count: must be an integer, not 1.5 [number]"}},
		{"out of range", "max: 1e400\n", []string{"f:1:6: max: 1e400 is out of range [number] (write a number that a 64-bit float can hold)"}},
		{"vanishing", "max: 1e-400\n", []string{"f:1:6: max: 1e-400 is out of range [number] (write a number that a 64-bit float can hold)"}},
		{"cut exponent", "max: 1e\n", []string{`f:1:6: max: must be a number, not text "1e" [number]`}},
		{"duplicate key", "bounds:\n  serve::a: 2.4\n  serve::b: 9\n  'serve::a': 24\n", []string{
			`f:4:3: bounds["serve::a"]: duplicate key, first on line 2 [duplicate-key] (keep one of them)`,
		}},
		{"unknown keys", "nmae: a\ninner: {recipe: r, timeout-sec: 3, colour: red}\n", []string{
			"f:1:1: nmae: unknown key [unknown-key] (did you mean name?)",
			"f:2:20: inner.timeout-sec: unknown key [unknown-key] (did you mean timeout_sec?)",
			"f:2:36: inner.colour: unknown key [unknown-key]",
		}},
		{"missing key", "inner: {}\n", []string{"f:1:8: inner: key recipe is missing [missing-key]"}},
		{"null where required", "inner: {recipe: }\n", []string{"f:1:17: inner.recipe: must have a value, not null [missing-key]"}},
		{"null in a list", "list: [a, ~]\n", []string{"f:1:11: list[1]: must be text, not null [type]"}},
		{"null for a plain field", "name:\n", []string{"f:1:6: name: must be text, not null [type]"}},
		{"text for a list", "list: a\n", []string{`f:1:7: list: must be a list, not text "a" [type] (write [a])`}},
		{"merge key", "bounds: {<<: {a: 1}, b: 2}\n", []string{`f:1:10: bounds["<<"]: merge key << is refused [alias] (repeat the keys)`}},
		{"anchor and alias", "bounds: &b {a: 1}\nany: *b\n", []string{
			"f:1:9: bounds: anchor &b is refused [alias] (remove the anchor and repeat the value where it is used)",
			"f:2:6: any: alias *b is refused [alias] (repeat the value)",
		}},
		{"cycle", "any: &self [*self]\n", []string{"f:1:6: any: anchor &self is refused [alias] (remove the anchor and repeat the value where it is used)"}},
		{"tags", "name: !!str 12\nany: !point {x: 1}\n", []string{
			"f:1:7: name: tag !!str is refused [tag] (remove the tag; quotes make a text)",
			"f:2:6: any: tag !point is refused [tag] (remove the tag; quotes make a text)",
		}},
		{"odd keys", "bounds: {1: 2, true: 3, ~: 4, 017: 5, [a]: 6}\n", []string{
			`f:1:10: bounds["1"]: key 1 is not text [key] (put it in quotes)`,
			`f:1:16: bounds.true: key true is not text [key] (put it in quotes)`,
			`f:1:25: bounds["~"]: key ~ is not text [key] (put it in quotes)`,
			`f:1:31: bounds["017"]: key 017 is not text [key] (put it in quotes)`,
			`f:1:39: bounds[""]: a key must be text, not a list or a mapping [key]`,
		}},
		{"anchored and tagged keys", "bounds: {&k a: 1, !!str b: 2}\n", []string{
			"f:1:10: bounds.a: anchors and aliases are refused [alias] (write the key itself)",
			"f:1:19: bounds.b: tag !!str is refused [tag] (remove the tag; quotes make a text)",
		}},
		{"second document", "name: a\n---\nname: b\n", []string{"f:2:1: a second document starts here [trailing-data] (keep one document and drop the --- line)"}},
		{"broken second document", "name: a\n...\nname: {\n", []string{"f:4:1: did not find expected node content while parsing a flow node [syntax]"}},
		{"tab indentation", "list:\n\t- a\n", []string{"f:2:1: found character that cannot start any token while scanning for the next token [syntax] (indent with spaces; YAML forbids tabs there)"}},
		{"byte order mark", "\ufeffname: a\n", []string{"f:1:1: starts with a byte order mark [encoding] (save the file as UTF-8 without a byte order mark)"}},
		{"UTF-16", "\xff\xfen\x00", []string{"f:1:1: starts with a byte order mark [encoding] (save the file as UTF-8 without a byte order mark)"}},
		{"invalid UTF-8", "name: a\nenv: {é: \"\xff\"}\n", []string{"f:2:11: byte 0xff is not valid UTF-8 [encoding] (save the file as UTF-8)"}},
		{"control character", "name: \"é\x01\"\n", []string{"f:1:9: control character 0x01 [syntax] (remove it, or write it escaped in double quotes)"}},
		{"columns count characters", "env: {é: ü, ä: 1}\n", []string{`f:1:16: env["ä"]: must be text, not 1 [type] (put it in quotes)`}},
		{"CRLF", "name: a\r\nenabled: yes\r\n", []string{"f:2:10: enabled: must be true or false, not yes [type] (write true or false)"}},
		{"syntax", "name: [a\nmax: 1\n", []string{"f:2:4: did not find expected ',' or ']' while parsing a flow sequence [syntax]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into target
			_, err := strict.YAML("f", []byte(tt.text), &into)
			if diff := cmp.Diff(tt.want, lines(err)); diff != "" {
				t.Errorf("problems of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestYAMLNumberSpellings(t *testing.T) {
	tests := []struct {
		text string
		want float64 // 0: refused
		hint string
	}{
		{"12", 12, ""},
		{"-0.5", -0.5, ""},
		{"1e3", 1000, ""},
		{"3.1e-07", 3.1e-07, ""},
		{"4.2E8", 4.2e8, ""},
		{"1e+06", 1e6, ""},
		{"1_000", 0, "write 1000"},
		{"0o17", 0, "write 15"},
		{"017", 0, "write 17, or 15 if octal was meant"},
		{"-017", 0, "write -17, or -15 if octal was meant"},
		{"09", 0, "write 9"},
		{"0x1F", 0, "write 31"},
		{"0b11", 0, "write 3"},
		{"1_0.5", 0, "write 10.5"},
		{"+12", 0, "write 12"},
		{".5", 0, "write 0.5"},
		{"5.", 0, "write 5"},
		{"00.5", 0, "write 0.5"},
		{".inf", 0, "write a finite number, or leave the key out"},
		{"-.Inf", 0, "write a finite number, or leave the key out"},
		{".nan", 0, "write a finite number, or leave the key out"},
		{"NaN", 0, "write a finite number, or leave the key out"},
		{"inf", 0, "write a finite number, or leave the key out"},
		{"1:30", 0, "write it in one unit, as a plain decimal number"},
		{"2031-03-04", 0, ""},
		{"1e", 0, ""},
		{"0x1p-2", 0, ""},
		{"1,234", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var into struct {
				N *float64 `json:"n"`
			}
			_, err := strict.YAML("f", []byte("n: "+tt.text+"\n"), &into)
			if tt.want != 0 {
				if err != nil || *into.N != tt.want {
					t.Errorf("n: %s: got %v, %v, want %v", tt.text, into.N, err, tt.want)
				}
				return
			}
			if err == nil {
				t.Fatalf("n: %s: got %v, want a refusal", tt.text, *into.N)
			}
			p := err.(strict.Problems)[0]
			if p.Line != 1 || p.Col != 4 || p.Field != "n" || p.Rule != strict.RuleNumber || p.Hint != tt.hint {
				t.Errorf("n: %s: got %#v, want hint %q at 1:4", tt.text, p, tt.hint)
			}
		})
	}
}

func TestYAMLAccepts(t *testing.T) {
	text := `
# what a maintainer writes
name: 2031-03-04
enabled: true
max: 2.5
count: -3
size: 18446744073709551615
list: [a, "12", 'no', sha256:abc, 1.2.3, inf]
bounds: {on: 1, y: 2, "8": 3}
env: {http_proxy: a, HTTP_PROXY: b}
inner:
  recipe: |
    two
    lines
  timeout_sec:
any: {n: 12, f: 0.5, s: x, l: [~, true, 9007199254740993]}
`
	var got target
	doc, err := strict.YAML("f", []byte(text), &got)
	if err != nil {
		t.Fatalf("got %v, want no problem", err)
	}
	limit := 2.5
	want := target{
		Name: "2031-03-04", Enabled: true, Max: &limit, Count: -3, Size: 18446744073709551615,
		List:   []string{"a", "12", "no", "sha256:abc", "1.2.3", "inf"},
		Bounds: map[string]float64{"on": 1, "y": 2, "8": 3},
		Env:    map[string]string{"http_proxy": "a", "HTTP_PROXY": "b"},
		Inner:  &inner{Recipe: "two\nlines\n"},
		Any: map[string]any{
			"n": 12.0, "f": 0.5, "s": "x",
			"l": []any{nil, true, number("9007199254740993")},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if !doc.Has("inner.timeout_sec") || doc.Has("inner.colour") {
		t.Errorf("Has: got %v, %v, want true, false", doc.Has("inner.timeout_sec"), doc.Has("inner.colour"))
	}
}

func TestYAMLKeepsDefaults(t *testing.T) {
	limit := 1.0
	got := target{Name: "kept", Count: 7, Max: &limit, Enabled: true}
	if _, err := strict.YAML("f", []byte("count:\nenabled: ~\nmax: ~\n"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "kept" || got.Count != 7 || !got.Enabled || got.Max != nil {
		t.Errorf("got %+v, want name, count and enabled kept and max absent", got)
	}
}

// The nine levels of nine aliases would be 387 million values if they were expanded.
func TestYAMLAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("l0: &l0 [x]\n")
	for i := 1; i <= 9; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", "))
	}
	var into any
	start := time.Now()
	_, err := strict.YAML("f", []byte(b.String()), &into)
	if err == nil || len(err.(strict.Problems)) != 10 {
		t.Errorf("got %v, want each of the ten anchors refused", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v, want it not to expand", took)
	}
}

func TestYAMLDepth(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("- ", 5000) + "a"} {
		var into any
		_, err := strict.YAML("f", []byte(text), &into)
		if err == nil || err.(strict.Problems)[0].Rule != strict.RuleDepth {
			t.Errorf("%.9s…: got %.200v, want a refusal by depth", text, err)
		}
	}
}

func TestYAMLSize(t *testing.T) {
	var into any
	_, err := strict.YAML("f", make([]byte, strict.MaxYAML+1), &into)
	want := []string{"f: has more than the limit of 4194304 bytes [size] (split the file)"}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
