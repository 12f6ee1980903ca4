package enginesim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStreamCompletion(t *testing.T) {
	s := launch(t, quick())
	a := s.ask(completionsPath, streamBody, "X-Request-Id: step-0-7")
	events, done := a.events(t)
	if a.status != 200 || !done || !a.whole {
		t.Fatalf("got status %d, done %v, whole %v, want 200 and all of it", a.status, done, a.whole)
	}
	if got, want := a.header.Get("X-Request-Id"), "step-0-7"; got != want {
		t.Errorf("got request id %q, want %q", got, want)
	}
	if got, want := len(events), 9; got != want {
		t.Fatalf("got %d events, want %d: 8 tokens and usage", got, want)
	}
	for i, e := range events[:8] {
		if len(e.Choices) != 1 || *e.Choices[0].Text == "" || e.Usage != nil {
			t.Errorf("event %d: got %+v, want one choice with text and no usage", i, e)
		}
		if got, want := e.Choices[0].FinishReason != nil, i == 7; got != want {
			t.Errorf("event %d: finish_reason given = %v, want %v", i, got, want)
		}
	}
	u := events[8].Usage
	if len(events[8].Choices) != 0 || u == nil || u.Prompt != 3 || u.Completion != 8 || u.Total != 11 || u.Details != nil {
		t.Errorf("got last event %+v with usage %+v, want no choices and 3 + 8 tokens", events[8], u)
	}
}

func TestStreamChat(t *testing.T) {
	s := launch(t, quick())
	events, done := s.ask(chatPath, chatBody).events(t)
	if !done || len(events) != 9 {
		t.Fatalf("got %d events, done %v, want 9 and done", len(events), done)
	}
	d := events[0].Choices[0].Delta
	if *d.Role != "assistant" || *d.Content == "" || events[1].Choices[0].Delta.Role != nil {
		t.Errorf("want the role in the first event alone, beside text, got %+v", d)
	}
	if got, want := events[8].Usage.Prompt, chatOverhead+1+3; got != want {
		t.Errorf("got %d prompt tokens, want %d", got, want)
	}
}

func TestWholeAnswer(t *testing.T) {
	s := launch(t, quick())
	for _, path := range []string{completionsPath, chatPath} {
		body := strings.ReplaceAll(streamBody, `,"stream":true,"stream_options":{"include_usage":true}`, `,"n":2`)
		if path == chatPath {
			body = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_completion_tokens":8,"n":2}`
		}
		a := s.ask(path, body)
		var got struct {
			Choices []struct {
				Text    string
				Message struct{ Content string }
			}
			Usage struct {
				Completion int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatalf("%s: %v in %s", path, err, a.body)
		}
		if len(got.Choices) != 2 || got.Usage.Completion != 16 || got.Choices[1].Text+got.Choices[1].Message.Content == "" {
			t.Errorf("%s: got %+v, want two choices with text and 16 tokens", path, got)
		}
	}
}

func TestShapeOfWrites(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Profile)
		want   string // events/tokens of each write after the head
	}{
		{"plain", func(p *Profile) {}, "1/1 1/1 1/1 1/1 1/1 1/1 1/1 1/1"},
		{"several tokens an event", func(p *Profile) { p.TokensPerEvent = 3 }, "1/3 1/3 1/2"},
		{"several events a write", func(p *Profile) { p.TokensPerEvent, p.EventsPerWrite = 2, 2 }, "2/4 2/4"},
		{"a first batch", func(p *Profile) { p.TokensPerEvent, p.FirstTokens = 4, 1 }, "1/1 1/4 1/3"},
		{"a tail", func(p *Profile) { p.TokensPerEvent, p.Tail = 8, time.Millisecond }, "1/8 0/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := quick()
			tt.change(&p)
			s := launch(t, p)
			if events, done := s.ask(completionsPath, streamBody).events(t); !done || events[len(events)-1].Usage.Completion != 8 {
				t.Errorf("the stream is not whole: %+v", events)
			}
			log := s.log()
			var got []string
			for _, w := range log.Records[0].Writes[1:] {
				got = append(got, fmt.Sprintf("%d/%d", w.Events, w.Tokens))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got writes %s, want %s", got, tt.want)
			}
		})
	}
}

func TestLateHeaders(t *testing.T) {
	p := quick()
	p.EarlyHeaders = false
	s := launch(t, p)
	if events, done := s.ask(completionsPath, streamBody).events(t); !done || len(events) != 9 {
		t.Errorf("got %d events, done %v, want 9 and done", len(events), done)
	}
	if w := s.log().Records[0].Writes; w[0].Tokens != 1 {
		t.Errorf("got first write %+v, want the first token in it", w[0])
	}
}

func TestRefusals(t *testing.T) {
	p := quick()
	p.MaxModelLen, p.VocabSize, p.MaxBody = 100, 1000, 1<<20
	s := launch(t, p)
	tests := []struct {
		name, path, body string
		status           int
		message          string
	}{
		{"no JSON", completionsPath, `{"model"`, 400, "no JSON"},
		{"wrong type", completionsPath, `{"model":"m","prompt":"a","max_tokens":"x"}`, 400, "max_tokens must be int"},
		{"no model", completionsPath, `{"prompt":"a"}`, 400, "model is missing"},
		{"unknown model", completionsPath, `{"model":"x","prompt":"a"}`, 404, `ask for "m"`},
		{"no prompt", completionsPath, `{"model":"m"}`, 400, "prompt is missing"},
		{"empty prompt", completionsPath, `{"model":"m","prompt":""}`, 400, "prompt is empty"},
		{"empty ids", completionsPath, `{"model":"m","prompt":[]}`, 400, "prompt is empty"},
		{"two prompts", completionsPath, `{"model":"m","prompt":["a","b"]}`, 400, "holds 2 prompts"},
		{"negative id", completionsPath, `{"model":"m","prompt":[1,-2]}`, 400, "prompt[1]"},
		{"fractional id", completionsPath, `{"model":"m","prompt":[1.5]}`, 400, "prompt[0]"},
		{"id beyond vocabulary", completionsPath, `{"model":"m","prompt":[1,1000]}`, 400, "outside the vocabulary"},
		{"no tokens", completionsPath, `{"model":"m","prompt":"a","max_tokens":0}`, 400, "at least 1"},
		{"too long", completionsPath, `{"model":"m","prompt":"a","max_tokens":100}`, 400, "context is 100"},
		{"far too long", completionsPath, `{"model":"m","prompt":"a","max_tokens":9223372036854775807}`, 400, "context is 100"},
		{"n of 0", completionsPath, `{"model":"m","prompt":"a","n":0}`, 400, "n must be"},
		{"usage without stream", completionsPath, `{"model":"m","prompt":"a","stream_options":{}}`, 400, "stream: true only"},
		{"no messages", chatPath, `{"model":"m"}`, 400, "messages is missing"},
		{"image part", chatPath, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "not supported"},
		{"body too large", completionsPath, `{"model":"m","prompt":"` + strings.Repeat("a ", 1<<20) + `"}`, 413, "larger than"},
		{"no such path", "/v1/embeddings", `{}`, 404, "there is no POST"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := s.ask(tt.path, tt.body)
			var got struct {
				Error struct {
					Message, Type string
					Code          int
				}
			}
			if err := json.Unmarshal([]byte(a.body), &got); err != nil {
				t.Fatalf("%v in %q", err, a.body)
			}
			if a.status != tt.status || got.Error.Code != tt.status || !strings.Contains(got.Error.Message, tt.message) {
				t.Errorf("got %d %+v, want %d with %q", a.status, got.Error, tt.status, tt.message)
			}
		})
	}
}

func TestMalformedRequests(t *testing.T) {
	s := launch(t, quick())
	tests := []struct {
		name, request string
		status        int
	}{
		{"no HTTP", "hello\r\n\r\n", 400},
		{"HTTP/2", "GET / HTTP/2.0\r\n\r\n", 505},
		{"space in a header name", "GET / HTTP/1.1\r\nA B: c\r\n\r\n", 400},
		{"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		{"length and chunks", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"signed length", "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
		{"odd encoding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
		{"bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		{"overlong chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
		{"control character", "GET / HTTP/1.1\r\nX-Request-Id: a\x01b\r\n\r\n", 400},
		{"headers too large", "GET / HTTP/1.1\r\nA: " + strings.Repeat("a", maxHead) + "\r\n\r\n", 431},
		{"GET of a POST path", "GET /v1/completions HTTP/1.1\r\nConnection: close\r\n\r\n", 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if a := parseAnswer(t, s.raw(tt.request)); a.status != tt.status {
				t.Errorf("got status %d, want %d", a.status, tt.status)
			}
		})
	}
	if n := s.Summary().Requests; n != 0 {
		t.Errorf("got %d requests counted, want none: they asked for no tokens", n)
	}
}

func TestPromptForms(t *testing.T) {
	s := launch(t, quick())
	for prompt, want := range map[string]int{
		`"hello, big  world"`: 4, `["hello"]`: 1, `[5,6,7]`: 3, `[[5, 6,
		7,8]]`: 4, `"naïve 日本"`: 2,
	} {
		a := s.ask(completionsPath, `{"model":"m","prompt":`+prompt+`,"max_tokens":1}`)
		var c chunk
		if err := json.Unmarshal([]byte(a.body), &c); err != nil || c.Usage == nil || c.Usage.Prompt != want {
			t.Errorf("prompt %s: got %s, want %d prompt tokens", prompt, a.body, want)
		}
	}
}

func TestKeepAliveAndPipelining(t *testing.T) {
	s := launch(t, quick())
	c := s.dial()
	one := post(completionsPath, streamBody)
	chunked := "POST " + completionsPath + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + streamBody[:16] +
		fmt.Sprintf("\r\n%x;ext=1\r\n", len(streamBody)-16) + streamBody[16:] + "\r\n0\r\nTrailer: x\r\n\r\n"
	if _, err := io.WriteString(c, one+chunked+"GET /v1/models HTTP/1.1\r\n\r\n"+one); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for i := range 4 {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("response %d: %v", i, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("response %d: got status %d, error %v: %s", i, resp.StatusCode, err, body)
		}
		if i != 2 && !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
			t.Errorf("response %d ends %q", i, body[max(0, len(body)-40):])
		}
	}
	c.Close()
	for i, r := range s.log().Records {
		if r.Conn != 1 || r.End != EndOK {
			t.Errorf("record %d: got connection %d and end %s, want 1 and ok", i, r.Conn, r.End)
		}
	}
}

func TestExpectContinue(t *testing.T) {
	s := launch(t, quick())
	c := s.dial()
	head, body, _ := strings.Cut(post(completionsPath, streamBody, "Expect: 100-continue", "Connection: close"), "\r\n\r\n")
	io.WriteString(c, head+"\r\n\r\n")
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("got %q, %v, want 100 Continue", line, err)
	}
	io.WriteString(c, body)
	rest, _ := io.ReadAll(in)
	if !strings.Contains(string(rest), "[DONE]") {
		t.Errorf("got %q, want the stream", rest)
	}
}

func TestClientGoesAway(t *testing.T) {
	p := quick()
	p.TTFT = time.Hour
	s := launch(t, p)
	c := s.dial()
	io.WriteString(c, post(completionsPath, streamBody))
	eventually(t, "the request is in flight", func() bool { running, _ := s.queue.load(); return running == 1 })
	c.Close()
	eventually(t, "it is not any more", func() bool { running, _ := s.queue.load(); return running == 0 })
	if r := s.log().Records[0]; r.End != EndClient || r.OutputTokens != 0 {
		t.Errorf("got end %s after %d tokens, want %s after 0", r.End, r.OutputTokens, EndClient)
	}
}

// TestSlowReader shows that a client that does not read holds nobody else up.
func TestSlowReader(t *testing.T) {
	p := quick()
	p.ITL, p.MaxModelLen, p.TokensPerEvent = 0, 1<<20, 512
	s := launch(t, p)
	big := strings.Replace(streamBody, `"max_tokens":8`, `"max_tokens":1000000,"n":4`, 1)
	slow := s.dial()
	io.WriteString(slow, post(completionsPath, big, "Connection: close"))
	eventually(t, "the slow client's tokens flow", func() bool { running, _ := s.queue.load(); return running == 1 })
	for range 3 {
		if _, done := s.ask(completionsPath, streamBody).events(t); !done {
			t.Fatal("the other client's stream is not whole")
		}
	}
	all, err := io.ReadAll(slow)
	if err != nil || !strings.HasSuffix(string(all), lastChunk) {
		t.Fatalf("the slow client got %d bytes, error %v, want all to the last chunk", len(all), err)
	}
	for _, r := range s.log().Records {
		if r.N == 1 && (r.OutputTokens != 4000000 || r.Retries == 0) {
			t.Errorf("got %d tokens and %d retries, want 4000000 and some", r.OutputTokens, r.Retries)
		}
	}
}

func TestModelsAndReadiness(t *testing.T) {
	s := launchConfig(t, Config{Model: "org/model", ServedName: "short", Profile: quick()})
	get := func(path string) *answer {
		return parseAnswer(t, s.raw("GET "+path+" HTTP/1.1\r\nConnection: close\r\n\r\n"))
	}
	if a := get("/v1/models"); a.status != 200 || !strings.Contains(a.body, `"id":"short"`) {
		t.Errorf("got %d %s, want the served name", a.status, a.body)
	}
	if a := get("/readiness"); a.status != 200 {
		t.Errorf("got %d, want ready", a.status)
	}
	if a := s.ask(completionsPath, streamBody); a.status != 404 {
		t.Errorf("model m: got %d, want 404", a.status)
	}
}
