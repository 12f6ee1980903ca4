package strict_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

func number(s string) json.Number { return json.Number(s) }

func TestJSONRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", " \n", []string{"f:2:1: the file is empty; a JSON value is expected [syntax]"}},
		{"two values", `{"name":"a"}{"name":"b"}`, []string{"f:1:13: data after the JSON value: '{' [trailing-data] (keep one value in the file)"}},
		{"garbage after the value", `{"name":"a"}garbage`, []string{"f:1:13: data after the JSON value: 'g' [trailing-data] (keep one value in the file)"}},
		{"duplicate key", "{\"count\":1,\n\"count\":24}", []string{"f:2:1: count: duplicate key, first on line 1 [duplicate-key] (keep one of them)"}},
		{"duplicate key by escape", `{"bounds":{"a":1,"\u0061":2}}`, []string{"f:1:18: bounds.a: duplicate key, first on line 1 [duplicate-key] (keep one of them)"}},
		{"key in another case", `{"bounds":{"max":2.4,"MAX":24}}`, []string{"f:1:22: bounds.MAX: duplicate key, first on line 1 [duplicate-key] (keep one of them)"}},
		{"key in another case for a struct", `{"max":2.4,"MAX":24}`, []string{"f:1:12: MAX: duplicate key, first on line 1 [duplicate-key] (keep one of them)"}},
		{"key folded beyond ASCII", "{\"any\":{\"k\":1,\"\u212a\":2}}", []string{"f:1:15: any[\"\u212a\"]: duplicate key, first on line 1 [duplicate-key] (keep one of them)"}},
		{"unknown key", `{"Name":"a"}`, []string{"f:1:2: Name: unknown key [unknown-key] (did you mean name?)"}},
		{"NaN in one of many", `{"any":{"cells":[{"p99":NaN},{"p99":12.5},{"p99":-Infinity}]}}`, []string{
			"f:1:25: any.cells[0].p99: NaN is not a number [number] (the program that wrote it measured nothing; write null or leave the key out)",
			"f:1:50: any.cells[2].p99: -Infinity is not a number [number] (the program that wrote it measured nothing; write null or leave the key out)",
		}},
		{"odd numbers", `{"any":[01,+1,.5,5.,0x10,1_000,1.e2]}`, []string{
			"f:1:9: any[0]: 01 is not a plain decimal number [number] (write 1)",
			"f:1:12: any[1]: +1 is not a plain decimal number [number] (write 1)",
			"f:1:15: any[2]: .5 is not a plain decimal number [number] (write 0.5)",
			"f:1:18: any[3]: 5. is not a plain decimal number [number] (write 5)",
			"f:1:21: any[4]: 0x10 is not a plain decimal number [number] (write 16)",
			"f:1:26: any[5]: 1_000 is not a plain decimal number [number] (write 1000)",
			"f:1:32: any[6]: 1.e2 is not a plain decimal number [number] (write 1e2)",
		}},
		{"words of other languages", `{"any":[True,None]}`, []string{
			`f:1:9: any[0]: "True" is not a JSON value [syntax] (put a text in double quotes; true, false and null are lower case)`,
			`f:1:14: any[1]: "None" is not a JSON value [syntax] (put a text in double quotes; true, false and null are lower case)`,
		}},
		{"huge integer", `{"count":9223372036854775808}`, []string{"f:1:10: count: 9223372036854775808 does not fit in 64 bits [number]"}},
		{"integer spelt as float", `{"count":1.0}`, []string{"f:1:10: count: must be an integer, not 1.0 [number] (write 1)"}},
		{"text for number", `{"max":"12"}`, []string{`f:1:8: max: must be a number, not text "12" [type] (remove the quotes)`}},
		{"trailing comma", "{\"any\":[1,2,],}", []string{"f:1:12: a comma before ']' is not JSON [syntax] (remove the comma)"}},
		{"missing comma", `{"name":"a" "count":1}`, []string{"f:1:13: a comma or '}' is expected, found '\"' [syntax]"}},
		{"missing colon", `{"name" "a"}`, []string{"f:1:9: a colon is expected after the key, found '\"' [syntax]"}},
		{"bare key", `{name:"a"}`, []string{"f:1:2: a key in double quotes is expected, found 'n' [syntax]"}},
		{"single quotes", `{"name":'a'}`, []string{"f:1:9: single quotes are not JSON [syntax] (use double quotes)"}},
		{"comment", "{\n// why\n}", []string{"f:2:1: a key in double quotes is expected, found '/' [syntax]"}},
		{"cut", `{"any":[1,`, []string{"f:1:11: a value is expected, found the end of the file [syntax]"}},
		{"cut string", `{"name":"abc`, []string{"f:1:13: the string has no closing quote [syntax] (is the file complete?)"}},
		{"line break in a string", "{\"name\":\"a\nb\"}", []string{`f:1:11: control character 0x0a in a string [syntax] (write it escaped, as in \n or \u0009)`}},
		{"half a surrogate pair", `{"name":"\ud83d!"}`, []string{"f:1:10: half a surrogate pair in a string [syntax]"}},
		{"unknown escape", `{"name":"\x41"}`, []string{"f:1:10: invalid escape in a string [syntax]"}},
		{"byte order mark", "\ufeff{}", []string{"f:1:1: starts with a byte order mark [encoding] (save the file as UTF-8 without a byte order mark)"}},
		{"invalid UTF-8", "{\"é\":\"\xc3\"}", []string{"f:1:7: byte 0xc3 is not valid UTF-8 [encoding] (save the file as UTF-8)"}},
		{"columns count characters", "{\r\n\"env\":{\"é\":\"üü\", \"a\":1}}", []string{"f:2:22: env.a: must be text, not 1 [type] (put it in quotes)"}},
		{"depth", strings.Repeat("[", 5000), []string{"f:1:202: is nested deeper than 200 levels [depth]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into target
			_, err := strict.JSON("f", []byte(tt.text), &into)
			if diff := cmp.Diff(tt.want, lines(err)); diff != "" {
				t.Errorf("problems of %.100q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestJSONEnvironmentKeepsCase(t *testing.T) {
	var into target
	if _, err := strict.JSON("f", []byte(`{"env":{"http_proxy":"a","HTTP_PROXY":"b"}}`), &into); err != nil {
		t.Errorf("got %v, want both variables", err)
	}
	if len(into.Env) != 2 {
		t.Errorf("got %v, want both variables", into.Env)
	}
}

func TestJSONExtra(t *testing.T) {
	type cell struct {
		Name  string       `json:"name" strict:"required"`
		Extra strict.Extra `json:"-" strict:"extra"`
	}
	var got []cell
	_, err := strict.JSON("f", []byte(`[{"name":"a","later":{"x":[1,18446744073709551615]}},{"name":"b","later":NaN}]`), &got)
	want := []string{"f:1:74: [1].later: NaN is not a number [number] (the program that wrote it measured nothing; write null or leave the key out)"}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	extra := strict.Extra{"later": map[string]any{"x": []any{1.0, number("18446744073709551615")}}}
	if diff := cmp.Diff(extra, got[0].Extra); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
}

func TestJSONAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		`{"a":[1,2.5,-0,1e3,"\u00e9\ud83d\ude00\n\/",null,true,false,{}],"b":"é"}`,
		` [ ] `, `"x"`, `-0.0`, "\t1E-2\r\n", `""`, `"\u0000\b\f\r\t\"\\"`,
	} {
		var got, want any
		if _, err := strict.JSON("f", []byte(text), &got); err != nil {
			t.Errorf("%s: got %v, want it accepted", text, err)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
