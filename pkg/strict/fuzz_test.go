package strict_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// placed fails when a problem of a parsed text does not name its place.
func placed(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, p := range err.(strict.Problems) {
		if p.Path != "f" || p.Message == "" || p.Rule == "" || p.Line < 1 || p.Col < 1 {
			t.Errorf("problem without a place or a rule: %#v", p)
		}
	}
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		"", "a: 1\n---\na: 2\n", "name: &x [*x]\n<<: {a: b}\n", "any: [1_000, 0o17, .nan, 1:30, ~, on]\n",
		"list:\n\t- b\n", "\ufeffa: 1", "? [a]\n: |\n  x\r\n", "name: \"\\ud83d\"\n", "inner: {recipe: r}\nbounds: {'a': 1e400}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var typed target
		_, err := strict.YAML("f", data, &typed)
		placed(t, err)
		var free any
		doc, err := strict.YAML("f", data, &free)
		placed(t, err)
		if err != nil {
			return
		}
		// What was accepted means the same to a JSON reader.
		text, err := json.Marshal(free)
		if err != nil {
			t.Fatalf("accepted, but not JSON: %v", err)
		}
		var again any
		if m, ok := free.(map[string]any); !ok || len(m) == 0 {
			return
		}
		if _, err := strict.YAML("f", text, &again); err == nil && !reflect.DeepEqual(free, again) {
			t.Errorf("got %#v, want %#v", again, free)
		}
		doc.Problem("a[0].b", "x")
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0,1e3,null,true,"\u00e9\ud83d\ude00"],"A":{}}`, `{"a":NaN}`, `[1,]`, `{"a":1}{"a":2}`, `"\ud800"`, "\ufeff1",
		`{"name":"x","max":1e400,"count":01}`, `[[[[`, "\"\x01\"", `{"env":{"a":"b","A":"c"}}`, "9007199254740993",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var typed target
		_, err := strict.JSON("f", data, &typed)
		placed(t, err)
		var got any
		if _, err := strict.JSON("f", data, &got); err != nil {
			placed(t, err)
			return
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("accepted, but encoding/json says %v", err)
		}
		if !reflect.DeepEqual(floats(got), want) {
			t.Errorf("got %#v, want %#v", got, want)
		}
	})
}

// floats turns the integers that were kept exactly into what encoding/json makes of them.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

func FuzzFieldNames(f *testing.F) {
	f.Add("serve::a", 3, "x")
	f.Add("", -1, "]\"[.")
	f.Add(strings.Repeat("x", 600), 0, "y")
	f.Fuzz(func(t *testing.T, a string, index int, b string) {
		tree, err := json.Marshal(map[string]any{a: []any{map[string]any{b: 1}}})
		if err != nil {
			return
		}
		var into map[string][]map[string]bool
		doc, err := strict.JSON("f", tree, &into)
		if err == nil {
			t.Fatal("got no problem, want one about the number")
		}
		field := err.(strict.Problems)[0].Field
		if !doc.Has(field) && !strings.HasSuffix(field, "…") { // a long one is cut for messages
			t.Errorf("field %s of %s is not found again", field, tree)
		}
	})
}
