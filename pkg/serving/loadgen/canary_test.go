package loadgen

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestCanary(t *testing.T) {
	e := startEngine(t, &fakeEngine{perEvent: 4})
	f, err := Canary(t.Context(), smallPlan(e))
	if err != nil {
		t.Fatal(err)
	}
	if f.Prompt != TokenIDs || !f.Usage || !f.FinishReason || !f.Done || f.UsageEachEvent || f.TokensPerEvent != 4 || len(f.Missing) != 0 {
		t.Errorf("got %+v", f)
	}
	if n := e.requests.Load(); n != 1 {
		t.Errorf("a canary is one request, not %d", n)
	}
}

// An engine that wants texts is found out, and how long its words are.
func TestCanaryFindsTextPrompts(t *testing.T) {
	e := startEngine(t, &fakeEngine{})
	e.answer = func(w http.ResponseWriter, req *askedFor) bool {
		if strings.HasPrefix(string(req.Prompt), "[") {
			http.Error(w, `{"error":{"message":"prompt must be a string"}}`, http.StatusBadRequest)
			return true
		}
		// Two tokens a word.
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, sse(textEvent(1), completionEvent("b", `"length"`), usageEvent(2*req.promptLen(), req.MaxTokens), "[DONE]"))
		return true
	}
	p := smallPlan(e)
	f, err := Canary(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if f.Prompt != Text || !strings.Contains(f.TokenIDsRefused, "must be a string") || f.WordsPerToken != 0.5 {
		t.Errorf("got %+v", f)
	}
	res := mustRun(t, p.With(f))
	allOK(t, res)
	if got := res.Requests[0].InputLen; got != 20 {
		t.Errorf("prompt of %d tokens, want 20", got)
	}
	// Without the canary's word count the lengths are off, and every request says so.
	p.Prompt = Text
	if q := mustRun(t, p).Requests[0]; q.Failure != PromptLengthMismatch {
		t.Errorf("got %q: %s", q.Failure, q.Detail)
	}
	// Declared token ids are not second-guessed.
	p.Prompt = TokenIDs
	if _, err := Canary(t.Context(), p); err == nil || !strings.Contains(err.Error(), "http_status: 400") {
		t.Errorf("declared token ids: got %v", err)
	}
}

func TestCanaryReportsWhatIsMissing(t *testing.T) {
	p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool {
		io.WriteString(c, whole(textEvent(1)))
		return true
	}))
	f, err := Canary(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Class{MissingUsage, MissingFinishReason, MissingDone}; !slices.Equal(f.Missing, want) || f.Usage || f.FinishReason || f.Done {
		t.Errorf("got %+v, want missing %v", f, want)
	}
}

func TestCanaryNeedsAToken(t *testing.T) {
	p := fourPlan(rawServer(t, func(c net.Conn, _ int) bool {
		io.WriteString(c, whole("[DONE]"))
		return true
	}))
	if f, err := Canary(t.Context(), p); err == nil || f.Request.Failure != NoToken {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestChat(t *testing.T) {
	e := startEngine(t, &fakeEngine{})
	e.answer = func(w http.ResponseWriter, req *askedFor) bool {
		if len(req.Messages) != 1 || req.Messages[0].Role != "user" {
			http.Error(w, "no messages", http.StatusBadRequest)
			return true
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, sse(chatEvent(`{"role":"assistant","content":""}`, "null"), chatEvent(`{"content":"a"}`, "null"),
			chatEvent(`{"content":"b"}`, `"length"`), usageEvent(req.promptLen(), 2), "[DONE]"))
		return true
	}
	p := smallPlan(e)
	p.Endpoint, p.OutputLen = ChatCompletions, 2
	res := mustRun(t, p)
	allOK(t, res)
	if backend, _ := res.Export(false).Get("backend"); backend != "openai-chat" {
		t.Errorf("backend: got %v", backend)
	}
}

func TestGivenPrompts(t *testing.T) {
	e := startEngine(t, &fakeEngine{})
	p := smallPlan(e)
	p.NumPrompts, p.InputLen, p.OutputLen = 2, 0, 0
	p.Prompts = []Prompt{{Text: "one two three", InputLen: 3, OutputLen: 5}, {IDs: []int32{7, 8}, OutputLen: 6}}
	res := mustRun(t, p)
	allOK(t, res)
	if a, b := res.Requests[0], res.Requests[1]; a.InputLen != 3 || a.OutputLen != 5 || b.InputLen != 2 || b.OutputLen != 6 {
		t.Errorf("got %d/%d and %d/%d", a.InputLen, a.OutputLen, b.InputLen, b.OutputLen)
	}
}
