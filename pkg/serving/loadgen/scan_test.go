package loadgen

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScan(t *testing.T) {
	type facts struct {
		choices, content, isErr bool
		text                    int
		finish                  string
		usage                   usage
	}
	none := noUsage
	tests := []struct {
		name, data string
		chat       bool
		want       facts
	}{
		{"token", completionEvent(" a", "null"), false, facts{choices: true, content: true, text: 2, usage: none}},
		{"last token", completionEvent(" a", `"length"`), false, facts{choices: true, content: true, text: 2, finish: "length", usage: none}},
		{"empty text", completionEvent("", "null"), false, facts{choices: true, usage: none}},
		{"blanks everywhere", `{ "choices" : [ { "text" : "ab" , "finish_reason" : "stop" } ] }`, false, facts{choices: true, content: true, text: 2, finish: "stop", usage: none}},
		{"usage", usageEvent(512, 128), false, facts{usage: usage{512, 128, 0}}},
		{"choices with a blank inside", `{"choices": [ ], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}`, false, facts{usage: usage{3, 4, -1}}},
		{"usage beside a token", `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, false, facts{choices: true, content: true, text: 1, usage: usage{3, 4, -1}}},
		{"usage without output", `{"choices":[],"usage":{"prompt_tokens":3}}`, false, facts{usage: usage{3, -1, -1}}},
		{"usage that is no whole number", `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4.5}}`, false, facts{usage: usage{3, -1, -1}}},
		{"role only", `{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, true, facts{choices: true, usage: none}},
		{"role with null", `{"choices":[{"delta":{"role":"assistant","content":null}}]}`, true, facts{choices: true, usage: none}},
		{"content", `{"choices":[{"delta":{"content":"hé"}}]}`, true, facts{choices: true, content: true, text: 3, usage: none}},
		{"reasoning", `{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}`, true, facts{choices: true, text: 2, usage: none}},
		{"tool call", `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"a\""}}]}}]}`, true, facts{choices: true, text: 6, usage: none}},
		{"keys inside text", completionEvent(`"choices":[] "usage":{"completion_tokens":9} "finish_reason":"x" "error":{}`, "null"), false, facts{choices: true, content: true, text: 87, usage: none}},
		{"escapes", completionEvent(`a\"b\\`, "null"), false, facts{choices: true, content: true, text: 10, usage: none}},
		{"error object", `{"error":{"message":"out of memory"}}`, false, facts{isErr: true, usage: none}},
		{"error string", `{"error":"out of memory"}`, false, facts{isErr: true, usage: none}},
		{"no error", `{"error":null,"choices":[{"text":"a"}]}`, false, facts{choices: true, content: true, text: 1, usage: none}},
		{"second of two choices", `{"choices":[{"text":"","finish_reason":null},{"text":"b","finish_reason":"stop"}]}`, false, facts{choices: true, content: true, text: 1, finish: "stop", usage: none}},
		{"text as a value", `{"choices":[{"type":"text","text":"b"}]}`, false, facts{choices: true, content: true, text: 1, usage: none}},
		{"cut short", `{"choices":[{"text":"b`, false, facts{choices: true, content: true, text: 1, usage: none}},
	}
	for _, tt := range tests {
		data := []byte(tt.data)
		var got facts
		got.usage, _ = usageOf(data)
		got.isErr = hasError(data)
		if c := choicesOf(data); c != nil {
			got.choices = true
			got.text, got.content = textOf(c, tt.chat)
			got.finish = string(finishOf(c))
		}
		if got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// FuzzScan holds the scanner against encoding/json on events of any text.
func FuzzScan(f *testing.F) {
	f.Add(" a", "stop", 3, true)
	f.Add(`"},{"text":"b`, "", 0, false)
	f.Add("\\\"choices\":[]", "length", 1<<20, true)
	f.Fuzz(func(t *testing.T, text, finish string, tokens int, indent bool) {
		if tokens < 0 || tokens >= 1<<40 || !utf8.ValidString(text) || !utf8.ValidString(finish) || len(finish) > 24 {
			return
		}
		event := map[string]any{
			"id": text, "choices": []any{map[string]any{"text": text, "finish_reason": finish, "logprobs": nil}},
			"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": tokens},
		}
		marshal := json.Marshal
		if indent {
			marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", " ") }
		}
		data, err := marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		c := choicesOf(data)
		if c == nil || hasError(data) {
			t.Fatalf("choices %q, error %v in %s", c, hasError(data), data)
		}
		n, _ := textOf(c, false)
		var quoted string
		if n > 0 {
			if err := json.Unmarshal([]byte(`"`+string(valueOf(c, keyText)[1:1+n])+`"`), &quoted); err != nil || quoted != text {
				t.Fatalf("text: got %q (%v), want %q", quoted, err, text)
			}
		} else if text != "" {
			t.Fatalf("no text of %q found", text)
		}
		if got := string(finishOf(c)); len(got) < len(finish) || finish == "" && got != "" {
			t.Fatalf("finish: got %q, want %q", got, finish)
		}
		if u, ok := usageOf(data); !ok || u.output != tokens || u.prompt != 1 {
			t.Fatalf("usage: got %+v, want %d", u, tokens)
		}
	})
}

// FuzzScanAnything holds that no bytes make the scanner panic.
func FuzzScanAnything(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"\`), true)
	f.Add([]byte(`"choices":`), false)
	f.Fuzz(func(t *testing.T, data []byte, chat bool) {
		s := &stream{}
		s.prepare(chat)
		s.begin(&Request{})
		s.event(data, false)
		if strings.Contains(string(data), "\x00") {
			s.event(data, true)
		}
	})
}
