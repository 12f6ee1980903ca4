package loadgen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rawServer answers each connection by hand: answer gets the number of the request on its connection and writes what
// it likes; returning false closes the connection.
func rawServer(t *testing.T, answer func(c net.Conn, n int) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveRaw(t, l, answer)
}

// serveRaw is rawServer on a listener.
func serveRaw(t *testing.T, l net.Listener, answer func(c net.Conn, n int) bool) string {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for n := 0; readRequest(in) == nil && answer(c, n); n++ {
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// readRequest reads one request away.
func readRequest(in *bufio.Reader) error {
	length := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(v))
		}
		if strings.TrimSpace(line) == "" {
			_, err := io.CopyN(io.Discard, in, int64(length))
			return err
		}
	}
}

const (
	chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	closedHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
)

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func sse(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

// whole is a proper chunked answer of these events.
func whole(data ...string) string { return chunkedHead + chunk(sse(data...)) + "0\r\n\r\n" }

// fourTokens are the events of a proper answer to fourPlan.
func fourTokens() []string {
	return []string{completionEvent(" a", "null"), completionEvent(" b", "null"), completionEvent(" c", "null"), completionEvent(" d", `"length"`),
		usageEvent(3, 4), "[DONE]"}
}

func fourPlan(url string) Plan {
	return Plan{BaseURL: url, Model: "m", NumPrompts: 1, InputLen: 3, OutputLen: 4, IgnoreEOS: true,
		IdleTimeout: time.Minute, RequestTimeout: time.Minute}
}

func without(events []string, i int) []string { return slices.Delete(slices.Clone(events), i, i+1) }

func TestFailureClasses(t *testing.T) {
	say := func(text string) func(net.Conn, int) bool {
		return func(c net.Conn, _ int) bool {
			io.WriteString(c, text)
			return false
		}
	}
	linger := func(text string) func(net.Conn, int) bool {
		return func(c net.Conn, _ int) bool {
			io.WriteString(c, text)
			io.Copy(io.Discard, c) // until the client gives up
			return false
		}
	}
	good := fourTokens()
	tests := []struct {
		name   string
		answer func(net.Conn, int) bool
		spoil  func(*Plan)
		want   Class
		detail string
	}{
		{name: "proper", answer: say(whole(good...))},
		{name: "until close", answer: say(closedHead + sse(good...))},
		{name: "by length", answer: say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(sse(good...)), sse(good...)))},
		{name: "CRLF, comments, no blank", answer: say(chunkedHead + chunk(strings.NewReplacer("\n", "\r\n", "data: ", ": c\ndata:").Replace(sse(good...))) + "0\r\n\r\n")},
		{name: "status 500", answer: say("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops"), want: HTTPStatus, detail: "500: oops"},
		{name: "status 429", answer: say("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"), want: HTTPStatus, detail: "429"},
		{name: "no HTTP", answer: say("hello\r\n\r\n"), want: BadResponse},
		{name: "a document", answer: say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"), want: BadResponse, detail: "not an event stream"},
		{name: "compressed", answer: say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), want: BadResponse},
		{name: "broken chunking", answer: say(chunkedHead + "zz\r\n"), want: BadResponse, detail: "chunked"},
		{name: "an event that is no JSON", answer: say(whole(good[0], "Internal Server Error")), want: BadResponse, detail: "Internal Server Error"},
		{name: "error after 200", answer: say(whole(good[0], `{"error":{"message":"out of memory"}}`, "[DONE]")), want: ErrorEvent, detail: "out of memory"},
		{name: "error event", answer: say(chunkedHead + chunk("event: error\ndata: {\"message\":\"dead\"}\n\n") + "0\r\n\r\n"), want: ErrorEvent, detail: "dead"},
		{name: "error, then closed", answer: say(chunkedHead + chunk(sse(`{"error":"gone"}`))), want: ErrorEvent, detail: "gone"},
		{name: "closed in the stream", answer: say(chunkedHead + chunk(sse(good[:2]...))), want: Truncated, detail: "after 2 events"},
		{name: "reset in the stream", answer: func(c net.Conn, _ int) bool {
			io.WriteString(c, chunkedHead+chunk(sse(good[:2]...)))
			c.(*net.TCPConn).SetLinger(0)
			return false
		}, want: Truncated},
		{name: "closed in a length", answer: say("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + sse(good...)), want: Truncated},
		{name: "closed before the answer", answer: say(""), want: Truncated},
		{name: "closed in the head", answer: say("HTTP/1.1 200 OK\r\nContent-"), want: Truncated},
		{name: "silent from the start", answer: linger(""), spoil: func(p *Plan) { p.IdleTimeout = 50 * time.Millisecond }, want: IdleTimeout},
		{name: "silent in the stream", answer: linger(chunkedHead + chunk(sse(good[:2]...))), spoil: func(p *Plan) { p.IdleTimeout = 50 * time.Millisecond }, want: IdleTimeout, detail: "after 2 events"},
		{name: "over the time", answer: linger(chunkedHead), spoil: func(p *Plan) { p.RequestTimeout = 50 * time.Millisecond }, want: RequestTimeout},
		{name: "no token", answer: say(whole(usageEvent(3, 0), "[DONE]")), want: NoToken},
		{name: "nothing at all", answer: say(chunkedHead + "0\r\n\r\n"), want: NoToken},
		{name: "short", answer: say(whole(good[0], good[3], usageEvent(3, 2), "[DONE]")), want: ShortOutput, detail: "2 tokens of 4"},
		{name: "short is fine without ignore_eos", answer: say(whole(good[0], good[3], usageEvent(3, 2), "[DONE]")), spoil: func(p *Plan) { p.IgnoreEOS = false }},
		{name: "long", answer: say(whole(good[0], good[3], usageEvent(3, 9), "[DONE]")), want: LongOutput, detail: "9 tokens of 4"},
		{name: "no usage", answer: say(whole(without(good, 4)...)), want: MissingUsage},
		{name: "no finish reason", answer: say(whole(without(good, 3)...)), want: MissingFinishReason},
		{name: "no end mark", answer: say(whole(without(good, 5)...)), want: MissingDone},
		{name: "another prompt", answer: say(whole(append(slices.Clone(good[:4]), usageEvent(2, 4), "[DONE]")...)), want: PromptLengthMismatch, detail: "2 prompt tokens of 3"},
		{name: "over but not ended", answer: linger(chunkedHead + chunk(sse(good...))), want: Truncated, detail: "did not end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := fourPlan(rawServer(t, tt.answer))
			if tt.spoil != nil {
				tt.spoil(&p)
			}
			res := mustRun(t, p)
			q := &res.Requests[0]
			if q.Failure != tt.want || !strings.Contains(q.Detail, tt.detail) {
				t.Fatalf("got %q: %q, want %q: %q", q.Failure, q.Detail, tt.want, tt.detail)
			}
			want, completed := map[string]int{}, 1.0
			if tt.want != "" {
				want, completed = map[string]int{string(tt.want): 1}, 0
			}
			e := res.Export(false)
			classes, _ := e.Get("failure_classes")
			if got, _ := e.Float("completed"); got != completed || !maps.Equal(classes.(map[string]int), want) {
				t.Errorf("export: completed %v, failure_classes %v, want %v, %v", got, classes, completed, want)
			}
		})
	}
}

// What an engine is known for can be tolerated; it is counted and does not fail the request.
func TestTolerated(t *testing.T) {
	bare := whole(completionEvent(" a", "null"), completionEvent(" b", "null"))
	p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool { io.WriteString(c, bare); return true }))
	p.Tolerate = []Class{MissingUsage, MissingFinishReason, MissingDone}
	q := mustRun(t, p).Requests[0]
	if !q.OK() || !slices.Equal(q.Tolerated, p.Tolerate) {
		t.Errorf("got %q: %s, tolerated %v", q.Failure, q.Detail, q.Tolerated)
	}
	if q.OutputLen != 2 || q.InputLen != 3 || q.TokensSource != TokensUnknown {
		t.Errorf("without usage: got %d of %d tokens, source %s", q.OutputLen, q.InputLen, q.TokensSource)
	}
	p.Tolerate = p.Tolerate[:2]
	if q := mustRun(t, p).Requests[0]; q.Failure != MissingDone {
		t.Errorf("not tolerated: got %q", q.Failure)
	}
}

func TestConnectFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	p := fourPlan(url)
	p.NumPrompts = 3
	res := mustRun(t, p)
	for _, q := range res.Requests {
		if q.Failure != ConnectRefused || q.Sent != 0 {
			t.Errorf("nobody listens: got %q: %s, sent %d", q.Failure, q.Detail, q.Sent)
		}
	}
	p = fourPlan("http://no-such-host.invalid")
	if q := mustRun(t, p).Requests[0]; q.Failure != ConnectFailed && q.Failure != ConnectTimeout {
		t.Errorf("no such host: got %q: %s", q.Failure, q.Detail)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := Run(ctx, fourPlan(url)); err != context.Canceled || res.Requests[0].Failure != Canceled {
		t.Errorf("canceled before: got %v, %+v", err, res)
	}
	// A handshake that never ends.
	silent := rawServer(t, func(net.Conn, int) bool { return true })
	p = fourPlan(strings.Replace(silent, "http:", "https:", 1))
	p.ConnectTimeout = 50 * time.Millisecond
	if q := mustRun(t, p).Requests[0]; q.Failure != ConnectTimeout {
		t.Errorf("no handshake: got %q: %s", q.Failure, q.Detail)
	}
}

// An engine that fails half its requests fails exactly these, and they stay out of every latency.
func TestFailuresStayOutOfLatencies(t *testing.T) {
	e := startEngine(t, &fakeEngine{answer: func(w http.ResponseWriter, req *askedFor) bool {
		if !strings.HasSuffix(req.ID, "0") && !strings.HasSuffix(req.ID, "2") {
			return false
		}
		time.Sleep(20 * time.Millisecond)
		http.Error(w, "no", http.StatusServiceUnavailable)
		return true
	}})
	p := smallPlan(e)
	p.NumPrompts, p.SLO = 4, SLO{TTFT: time.Hour}
	res := mustRun(t, p)
	exp := res.Export(true)
	for key, want := range map[string]float64{"completed": 2, "failed": 2, "total_output_tokens": 16} {
		if got, _ := exp.Float(key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	if n, _ := Pool([]float64{50}, res, res).Float("pooled_n_ttft"); n != 4 {
		t.Errorf("pooled_n_ttft: got %v, want 4", n)
	}
	errs, _ := exp.Get("errors")
	if got := errs.([]string); !strings.HasPrefix(got[0], "http_status: 503") || got[1] != "" {
		t.Errorf("errors: got %q", got)
	}
}

func TestMaxFailuresStops(t *testing.T) {
	e := startEngine(t, &fakeEngine{answer: func(w http.ResponseWriter, _ *askedFor) bool {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return true
	}})
	for _, rate := range []float64{0, 500} {
		p := smallPlan(e)
		p.NumPrompts, p.MaxConcurrency, p.MaxFailures, p.RequestRate = 200, 2, 5, rate
		res := mustRun(t, p)
		failed, unsent := 0, 0
		for _, q := range res.Requests {
			switch q.Failure {
			case HTTPStatus:
				failed++
			case NotSent:
				unsent++
			}
		}
		if failed < 5 || failed > 8 || failed+unsent != 200 {
			t.Errorf("rate %v: %d failed, %d not sent", rate, failed, unsent)
		}
		if !slices.Contains(res.Tags, TagLoadNotDelivered) {
			t.Errorf("rate %v: tags %v", rate, res.Tags)
		}
	}
}

// An engine that never stops must not fill the memory until the step's time is over.
func TestEndlessStreamIsCutOff(t *testing.T) {
	burst := chunk(strings.Repeat(sse(completionEvent(" a", "null")), 2000))
	url := rawServer(t, func(c net.Conn, _ int) bool {
		_, err := io.WriteString(c, chunkedHead)
		for err == nil {
			_, err = io.WriteString(c, burst)
		}
		return false
	})
	result, err := Run(t.Context(), fourPlan(url))
	if err != nil {
		t.Fatal(err)
	}
	r := result.Requests[0]
	if r.Failure != BadResponse || r.Detail != errTooManyEvents.Error() || len(r.Events) > maxEvents+2000 {
		t.Errorf("got %s: %s after %d events, want %s: %s", r.Failure, r.Detail, len(r.Events), BadResponse, errTooManyEvents)
	}
}
