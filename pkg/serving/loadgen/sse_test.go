package loadgen

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// framed feeds parts and returns the events; an event named error begins with "!".
func framed(parts ...[]byte) ([]string, error) {
	var events []string
	f := framer{emit: func(data []byte, isErr bool) {
		mark := ""
		if isErr {
			mark = "!"
		}
		events = append(events, mark+string(data))
	}}
	for _, p := range parts {
		// A private copy, overwritten afterwards: what lay in the read buffer must not be kept.
		own := bytes.Clone(p)
		err := f.feed(own)
		for i := range own {
			own[i] = 'X'
		}
		if err != nil {
			return events, err
		}
	}
	f.end()
	return events, nil
}

func bytewise(b []byte) [][]byte {
	var parts [][]byte
	for i := range b {
		parts = append(parts, b[i:i+1])
	}
	return parts
}

var streams = []struct {
	name, body string
	want       []string
}{
	{"LF", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
	{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
	{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
	{"mixed ends", "data: a\r\n\ndata: b\n\r\n", []string{"a", "b"}},
	{"no blank after the colon", "data:a\n\n", []string{"a"}},
	{"only one blank is taken", "data:  a \n\n", []string{" a "}},
	{"comment", ": ping\n\ndata: a\n: again\n\n", []string{"a"}},
	{"several data lines", "data: a\ndata\ndata: b\n\n", []string{"a\n\nb"}},
	{"other fields", "id: 7\nretry: 10\ndata: a\nevent: message\n\n", []string{"a"}},
	{"error event", "event: error\ndata: {}\n\ndata: b\n\n", []string{"!{}", "b"}},
	{"empty data", "data:\n\n", []string{""}},
	{"no data no event", "event: error\n\ndata: a\n\n", []string{"a"}},
	{"UTF-8", "data: größe 雪 🙂\n\n", []string{"größe 雪 🙂"}},
	{"no blank line at the end", "data: a\n\ndata: [DONE]", []string{"a", "[DONE]"}},
	{"blanks inside text survive", "data: {\"text\":\" a \"}\n\n", []string{`{"text":" a "}`}},
}

func TestFramer(t *testing.T) {
	for _, tt := range streams {
		for how, parts := range map[string][][]byte{"whole": {[]byte(tt.body)}, "bytewise": bytewise([]byte(tt.body))} {
			got, err := framed(parts...)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: got %q (%v), want %q", tt.name, how, got, err, tt.want)
			}
		}
		for cut := range tt.body {
			if got, _ := framed([]byte(tt.body[:cut]), []byte(tt.body[cut:])); !slices.Equal(got, tt.want) {
				t.Errorf("%s, cut at %d: got %q, want %q", tt.name, cut, got, tt.want)
			}
		}
	}
}

func TestFramerRefusesEndlessEvents(t *testing.T) {
	line := []byte("data: " + strings.Repeat("x", 1<<20) + "\n")
	var parts [][]byte
	for range 10 {
		parts = append(parts, line)
	}
	if _, err := framed(parts...); !isProtocol(err) {
		t.Errorf("got %v, want a protocol error", err)
	}
	endless := [][]byte{bytes.Repeat([]byte("x"), maxEvent+1)}
	if _, err := framed(endless...); !isProtocol(err) {
		t.Errorf("a line without end: got %v, want a protocol error", err)
	}
}

// FuzzFramer holds that where reads split the body never matters.
func FuzzFramer(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.body), uint16(3))
	}
	f.Fuzz(func(t *testing.T, body []byte, cut uint16) {
		if len(body) > 1<<14 {
			return
		}
		whole, err1 := framed(body)
		single, err2 := framed(bytewise(body)...)
		at := min(int(cut), len(body))
		halves, err3 := framed(body[:at], body[at:])
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("errors: %v %v %v", err1, err2, err3)
		}
		if !slices.Equal(whole, single) || !slices.Equal(whole, halves) {
			t.Fatalf("whole %q, bytewise %q, cut at %d %q", whole, single, at, halves)
		}
	})
}
