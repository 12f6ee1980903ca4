package loadgen

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeEngine answers completions over a real socket, as its fields say. It exists for answers that a well-behaved
// engine does not give.
type fakeEngine struct {
	*httptest.Server

	first, gap time.Duration
	tokens     int                                             // 0: as asked for
	perEvent   int                                             // tokens an event, 0: 1
	answer     func(w http.ResponseWriter, req *askedFor) bool // true: it answered

	inFlight, peak, requests atomic.Int64
}

// askedFor is a request as the engine got it.
type askedFor struct {
	ID        string
	Model     string          `json:"model"`
	Prompt    json.RawMessage `json:"prompt"`
	MaxTokens int             `json:"max_tokens"`
	IgnoreEOS bool            `json:"ignore_eos"`
	Stream    bool            `json:"stream"`
	Messages  []struct {
		Role, Content string
	} `json:"messages"`
	Raw map[string]any `json:"-"`
}

// promptLen is the number of ids or words.
func (a *askedFor) promptLen() int {
	var ids []int32
	if json.Unmarshal(a.Prompt, &ids) == nil {
		return len(ids)
	}
	var text string
	_ = json.Unmarshal(a.Prompt, &text)
	for _, m := range a.Messages {
		text += m.Content
	}
	return len(strings.Fields(text))
}

func startEngine(t *testing.T, e *fakeEngine) *fakeEngine {
	t.Helper()
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := e.inFlight.Add(1)
	defer e.inFlight.Add(-1)
	e.requests.Add(1)
	for p := e.peak.Load(); n > p && !e.peak.CompareAndSwap(p, n); p = e.peak.Load() {
	}
	raw, _ := io.ReadAll(r.Body)
	req := &askedFor{ID: r.Header.Get("X-Request-Id")}
	if err := json.Unmarshal(raw, req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.Unmarshal(raw, &req.Raw)
	if e.answer != nil && e.answer(w, req) {
		return
	}
	e.stream(w, req)
}

// stream is the proper answer.
func (e *fakeEngine) stream(w http.ResponseWriter, req *askedFor) {
	w.Header().Set("Content-Type", "text/event-stream")
	total, per := e.tokens, max(e.perEvent, 1)
	if total == 0 {
		total = req.MaxTokens
	}
	time.Sleep(e.first)
	for sent := 0; sent < total; {
		n := min(per, total-sent)
		sent += n
		finish := "null"
		if sent == total {
			finish = `"length"`
		}
		fmt.Fprintf(w, "data: %s\n\n", completionEvent(strings.Repeat(" tok", n), finish))
		w.(http.Flusher).Flush()
		if sent < total {
			time.Sleep(e.gap)
		}
	}
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", usageEvent(req.promptLen(), total))
}

func completionEvent(text, finish string) string {
	return fmt.Sprintf(`{"id":"c","object":"text_completion","choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":%s}],"usage":null}`, text, finish)
}

func usageEvent(prompt, output int) string {
	return fmt.Sprintf(`{"id":"c","choices":[],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":0}}}`,
		prompt, prompt+output, output)
}

// smallPlan is a plan for the engine.
func smallPlan(e *fakeEngine) Plan {
	return Plan{BaseURL: e.URL, Model: "m", NumPrompts: 12, InputLen: 20, OutputLen: 8, IgnoreEOS: true, MaxConcurrency: 4}
}

func mustRun(t *testing.T, p Plan) *Result {
	t.Helper()
	res, err := Run(t.Context(), p)
	if err != nil {
		t.Fatalf("running: %v", err)
	}
	return res
}
