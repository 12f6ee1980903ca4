package enginesim

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// faultTests shows what each fault of requests and connections does to the
// bytes that arrive. Those of the process are in process_test.go.
var faultTests = map[string]func(t *testing.T){
	"compile": func(t *testing.T) { testLate(t, "compile=300ms@1", 300*time.Millisecond) },
	"stall":   func(t *testing.T) { testLate(t, "stall=250ms@1", 250*time.Millisecond) },

	"hang": func(t *testing.T) {
		for _, n := range []string{"0", "3"} {
			s := launch(t, quick(), "hang="+n)
			c := s.dial()
			io.WriteString(c, post(completionsPath, streamBody))
			want := int(n[0] - '0')
			eventually(t, "the request is in flight", func() bool { running, _ := s.queue.load(); return running == 1 })
			c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			all, err := io.ReadAll(c)
			if !errors.Is(err, os.ErrDeadlineExceeded) || strings.Count(string(all), "data: ") > want {
				t.Errorf("hang=%s: got %v after %q, want silence after at most %d events", n, err, all, want)
			}
			c.Close()
			eventually(t, "the hung request ends with its client", func() bool { return s.active.Load() == 0 })
			if r := s.log().Records[0]; r.End != EndClient || r.OutputTokens != want {
				t.Errorf("hang=%s: got end %s after %d tokens, want %s after %d", n, r.End, r.OutputTokens, EndClient, want)
			}
		}
	},

	"error-event": func(t *testing.T) {
		for _, tt := range []struct {
			fault  string
			events int
		}{{"error-event=0", 0}, {"error-event", 1}, {"error-event=99", 8}} {
			s := launch(t, quick(), tt.fault)
			a := s.ask(completionsPath, streamBody)
			events, done := a.events(t)
			if a.status != 200 || !done || !a.whole || len(events) != tt.events+1 || events[tt.events].Error == nil {
				t.Errorf("%s: got status %d, done %v, whole %v, events %+v, want an error event after %d", tt.fault, a.status, done, a.whole, events, tt.events)
			}
			if r := s.log().Records[0]; r.End != EndFault {
				t.Errorf("%s: got end %s, want %s", tt.fault, r.End, EndFault)
			}
		}
	},
	"truncate": func(t *testing.T) {
		for _, tt := range []struct {
			fault  string
			events int
		}{{"truncate=0", 0}, {"truncate=3", 3}, {"truncate=99", 8}} {
			s := launch(t, quick(), tt.fault)
			a := s.ask(completionsPath, streamBody)
			events, done := a.events(t)
			if a.status != 200 || done || a.whole || len(events) != tt.events {
				t.Errorf("%s: got status %d, done %v, whole %v, %d events, want 200, cut off after %d", tt.fault, a.status, done, a.whole, len(events), tt.events)
			}
		}
	},

	"no-usage": func(t *testing.T) {
		events, done := launch(t, quick(), "no-usage").ask(completionsPath, streamBody).events(t)
		if !done || len(events) != 8 {
			t.Errorf("got %d events, done %v, want 8 without usage", len(events), done)
		}
	},
	"usage-every": func(t *testing.T) {
		events, _ := launch(t, quick(), "usage-every").ask(completionsPath, streamBody).events(t)
		if len(events) != 8 {
			t.Fatalf("got %d events, want 8", len(events))
		}
		for i, e := range events {
			want := 0
			if i == 7 {
				want = 8
			}
			if e.Usage == nil || e.Usage.Completion != want {
				t.Errorf("event %d: got usage %+v, want %d tokens", i, e.Usage, want)
			}
		}
	},
	"no-finish-reason": func(t *testing.T) {
		events, done := launch(t, quick(), "no-finish-reason").ask(completionsPath, streamBody).events(t)
		if !done || events[7].Choices[0].FinishReason != nil {
			t.Errorf("got done %v, last %+v, want [DONE] and no finish_reason", done, events[7])
		}
	},
	"no-done": func(t *testing.T) {
		a := launch(t, quick(), "no-done").ask(completionsPath, streamBody)
		if events, done := a.events(t); done || !a.whole || len(events) != 9 {
			t.Errorf("got done %v, whole %v, %d events, want a clean end without [DONE] after 9", done, a.whole, len(events))
		}
	},
	"short-output": func(t *testing.T) { testLength(t, "short-output=5", 5, "stop") },
	"long-output":  func(t *testing.T) { testLength(t, "long-output=4", 12, "length") },

	"crlf": func(t *testing.T) {
		a := launch(t, quick(), "crlf").ask(completionsPath, streamBody)
		if got := strings.Count(a.body, "\r\n\r\n"); got != 10 || strings.Contains(a.body, "}\n") {
			t.Errorf("got %d CRLF frames in %q, want 10 and no bare LF", got, a.body)
		}
	},
	"no-space": func(t *testing.T) {
		a := launch(t, quick(), "no-space").ask(completionsPath, streamBody)
		if strings.Contains(a.body, "data: ") || strings.Count(a.body, "data:{") != 9 || !strings.Contains(a.body, "data:[DONE]") {
			t.Errorf("got %q, want data: without a blank", a.body)
		}
	},
	"role-first": func(t *testing.T) {
		s := launch(t, slowStart(), "role-first=30ms")
		events, _ := s.ask(chatPath, chatBody).events(t)
		first, second := events[0].Choices[0].Delta, events[1].Choices[0].Delta
		if *first.Role != "assistant" || *first.Content != "" || second.Role != nil || *second.Content == "" || len(events) != 10 {
			t.Errorf("got %d events, first %+v, second %+v, want the role alone first", len(events), first, second)
		}
		if events, _ := s.ask(completionsPath, streamBody).events(t); len(events) != 9 {
			t.Errorf("completions: got %d events, want 9: it concerns chat", len(events))
		}
		testEarlyEvent(t, s)
	},
	"empty-first": func(t *testing.T) {
		s := launch(t, slowStart(), "empty-first=30ms")
		events, _ := s.ask(completionsPath, streamBody).events(t)
		if len(events) != 10 || *events[0].Choices[0].Text != "" || *events[1].Choices[0].Text == "" {
			t.Errorf("got %d events, first %+v, want one with empty text first", len(events), events[0])
		}
		testEarlyEvent(t, s)
	},
	"reasoning": func(t *testing.T) {
		events, _ := launch(t, quick(), "reasoning=3").ask(chatPath, chatBody).events(t)
		for i, e := range events[:8] {
			d := e.Choices[0].Delta
			if got, want := d.ReasoningContent != nil && *d.ReasoningContent != "", i < 3; got != want || (d.Content != nil) == want {
				t.Errorf("event %d: got %+v, want reasoning %v", i, d, want)
			}
		}
	},
	"split-event": func(t *testing.T) {
		s := launch(t, spaced(), "split-event=2ms")
		if events, done := s.ask(completionsPath, streamBody).events(t); !done || len(events) != 9 {
			t.Errorf("got %d events, done %v, want 9 and done", len(events), done)
		}
		testSplits(t, s, func(piece []byte) bool { return bytes.HasSuffix(piece, []byte("\n\n")) })
	},
	"split-utf8": func(t *testing.T) {
		s := launch(t, spaced(), "split-utf8=2ms")
		events, _ := s.ask(completionsPath, streamBody).events(t)
		if text := *events[1].Choices[0].Text; utf8.RuneCountInString(text) == len(text) {
			t.Errorf("got %q, want characters of several bytes", text)
		}
		testSplits(t, s, utf8.Valid)
	},
	"comments": func(t *testing.T) {
		a := launch(t, quick(), "comments").ask(completionsPath, streamBody)
		if got := strings.Count(a.body, ": keep-alive\n\ndata: "); got != 10 {
			t.Errorf("got %d comments, want one before each of 10 events: %q", got, a.body)
		}
	},

	"status": func(t *testing.T) {
		for _, code := range []string{"500", "503", "429"} {
			s := launch(t, quick(), "status="+code+"@2..3")
			var got []int
			for range 4 {
				a := s.ask(completionsPath, streamBody)
				got = append(got, a.status)
				if limited := a.status == 503 || a.status == 429; limited != (a.header.Get("Retry-After") != "") {
					t.Errorf("status %d: got Retry-After %q", a.status, a.header.Get("Retry-After"))
				}
			}
			if got[0] != 200 || got[1] != got[2] || http.StatusText(got[1]) == "" || got[1] == 200 || got[3] != 200 {
				t.Errorf("got statuses %v, want %s for the second and third", got, code)
			}
			if r := s.log().Records[1]; r.End != EndRefused || r.Faults[0] != "status" {
				t.Errorf("got record %+v, want it refused by the fault", r)
			}
		}
	},
	"refuse-token-ids": func(t *testing.T) {
		s := launch(t, quick(), "refuse-token-ids")
		if a := s.ask(completionsPath, streamBody); a.status != 400 || !strings.Contains(a.body, "takes no token ids") {
			t.Errorf("token ids: got %d %s, want 400", a.status, a.body)
		}
		if a := s.ask(completionsPath, strings.Replace(streamBody, "[1,2,3]", `"one two"`, 1)); a.status != 200 {
			t.Errorf("text: got %d, want 200", a.status)
		}
	},
	"prompt-inflate": func(t *testing.T) {
		s := launch(t, quick(), "prompt-inflate=2")
		events, _ := s.ask(completionsPath, streamBody).events(t)
		if got := events[8].Usage.Prompt; got != 6 {
			t.Errorf("got %d prompt tokens in usage, want 6", got)
		}
		if got := s.log().Records[0].PromptTokens; got != 3 {
			t.Errorf("got %d prompt tokens in the log, want the true 3", got)
		}
	},
	"leak": func(t *testing.T) {
		s := launch(t, quick(), "leak=8@2..4")
		before := liveHeap()
		for range 5 {
			s.ask(completionsPath, streamBody)
		}
		if grown := liveHeap() - before; grown < 22<<20 || grown > 28<<20 {
			t.Errorf("grew by %d bytes, want 3 times 8 MiB", grown)
		}
	},

	"refuse-connect": func(t *testing.T) {
		s := launch(t, quick(), "refuse-connect@3..")
		for range 2 {
			s.ask(completionsPath, streamBody)
		}
		eventually(t, "connects are refused", func() bool {
			c, err := net.Dial("tcp", s.Addr())
			if err == nil {
				c.Close()
			}
			return errors.Is(err, syscall.ECONNREFUSED)
		})
	},
	"reset-connect": func(t *testing.T) {
		s := launch(t, quick(), "reset-connect@2")
		s.ask(completionsPath, streamBody)
		c, err := net.Dial("tcp", s.Addr()) // may see the reset itself
		if err == nil {
			defer c.Close()
			_, err = io.Copy(io.Discard, c)
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("second connection: got %v, want a reset", err)
		}
		s.ask(completionsPath, streamBody)
	},
	"accept-pause": func(t *testing.T) {
		s := launch(t, quick(), "accept-pause=200ms@2")
		s.ask(completionsPath, streamBody)
		began := time.Now()
		s.ask(completionsPath, streamBody)
		if took := time.Since(began); took < 100*time.Millisecond {
			t.Errorf("second connection: served after %s, want a pause of about 200 ms", took)
		}
	},
}

func TestFaults(t *testing.T) {
	for _, k := range faultList {
		if k.scope == ofProcess {
			continue
		}
		test := faultTests[k.name]
		if test == nil {
			t.Errorf("fault %s has no test", k.name)
			continue
		}
		t.Run(k.name, test)
	}
}

// slowStart is a profile whose first tokens leave room for something before.
func slowStart() Profile {
	p := quick()
	p.TTFT = 40 * time.Millisecond
	return p
}

// spaced is a profile whose writes leave room for something between.
func spaced() Profile {
	p := quick()
	p.ITL = 5 * time.Millisecond
	return p
}

// testLate holds the first request's first tokens to be due later than the
// second's.
func testLate(t *testing.T, fault string, late time.Duration) {
	t.Helper()
	s := launch(t, quick(), fault)
	for range 2 {
		s.ask(completionsPath, streamBody)
	}
	r := s.log().Records
	first := r[0].Writes[1].Due - r[0].Read
	second := r[1].Writes[1].Due - r[1].Read
	if got := time.Duration(first - second); got != late {
		t.Errorf("first tokens due %s later, want %s", got, late)
	}
	if ttft, _ := r[0].TTFT(); ttft < late {
		t.Errorf("first tokens sent after %s, want at least %s", ttft, late)
	}
	if got, want := len(r[1].Writes), len(r[0].Writes); got != want {
		t.Errorf("got %d writes, want %d", got, want)
	}
}

func testLength(t *testing.T, fault string, tokens int, reason string) {
	t.Helper()
	s := launch(t, quick(), fault)
	events, done := s.ask(completionsPath, streamBody).events(t)
	if !done || len(events) != tokens+1 || events[tokens].Usage.Completion != tokens {
		t.Fatalf("got %d events, done %v, want %d tokens and usage of as many", len(events), done, tokens)
	}
	if got := *events[tokens-1].Choices[0].FinishReason; got != reason {
		t.Errorf("got finish_reason %q, want %q", got, reason)
	}
}

// testEarlyEvent holds that an event without tokens was due 30 ms before the
// first tokens of the first request.
func testEarlyEvent(t *testing.T, s *simulator) {
	t.Helper()
	w := s.log().Records[0].Writes
	if w[1].Events != 1 || w[1].Tokens != 0 || time.Duration(w[2].Due-w[1].Due) != 30*time.Millisecond {
		t.Errorf("got writes %+v, %+v, want an event without tokens 30 ms ahead", w[1], w[2])
	}
}

// testSplits holds that each output write went out in two chunks 2 ms apart,
// of which the first alone is not whole.
func testSplits(t *testing.T, s *simulator, whole func([]byte) bool) {
	t.Helper()
	var script script
	in := completion{prompt: prompt{tokens: make([]uint32, 3)}, maxTokens: 8, choices: 1, stream: true}
	m := composer{script: &script, p: &s.profile, c: &in, faults: s.faults.forRequest(subject{number: 1}), w: eventWriter{id: "i", model: "m"}}
	m.stream()
	if len(script.writes) != 16 {
		t.Fatalf("got %d writes, want 8 times two", len(script.writes))
	}
	from := 0
	for i, w := range script.writes {
		piece := bytes.TrimSuffix(script.buf[from:w.to], []byte("\r\n"))
		if i%2 == 0 && whole(piece) {
			t.Errorf("write %d is whole: %q", i, piece)
		}
		if i%2 == 1 && w.at-script.writes[i-1].at != 2*time.Millisecond {
			t.Errorf("write %d comes %s after its first half, want 2ms", i, w.at-script.writes[i-1].at)
		}
		from = w.to
	}
	if got := len(s.log().Records[0].Writes); got != 17 {
		t.Errorf("got %d writes in the log, want the head and 8 times two", got)
	}
}
