package enginesim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// TestMain lets the test binary stand for engine-sim, for the tests that need
// it as a process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(step.Main(Run))
	}
	os.Exit(m.Run())
}

// quick is a profile that keeps tests short.
func quick() Profile {
	p := DefaultProfile()
	p.TTFT, p.ITL = 2*time.Millisecond, 100*time.Microsecond
	return p
}

// lockedBuffer is a send log that a test may look at.
type lockedBuffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	discard bool
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.discard {
		return len(b), nil
	}
	return l.b.Write(b)
}

// simulator is a server under test with its log.
type simulator struct {
	*Server
	t    *testing.T
	sent *lockedBuffer
}

// launch starts a simulator for the length of a test.
func launch(t *testing.T, p Profile, faults ...string) *simulator {
	t.Helper()
	return launchConfig(t, Config{Model: "m", Profile: p}, faults...)
}

func launchConfig(t *testing.T, c Config, faults ...string) *simulator {
	t.Helper()
	for _, text := range faults {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Profile.Faults = append(c.Profile.Faults, f)
	}
	sent := &lockedBuffer{}
	c.SendLog = sent
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &simulator{s, t, sent}
}

// log closes the simulator and reads its log.
func (s *simulator) log() *SendLog {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	log, err := ReadSendLog(&s.sent.b)
	if err != nil {
		s.t.Fatal(err)
	}
	return log
}

// dial opens a connection that a stuck test gives up.
func (s *simulator) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// post is a request as bytes.
func post(path, body string, headers ...string) string {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: sim\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, len(body))
	for _, h := range headers {
		head += h + "\r\n"
	}
	return head + "\r\n" + body
}

// raw sends a request and gives all bytes until the connection ends.
func (s *simulator) raw(request string) []byte {
	s.t.Helper()
	c := s.dial()
	if _, err := io.WriteString(c, request); err != nil {
		s.t.Fatal(err)
	}
	all, _ := io.ReadAll(c) // a reset ends the bytes as well as a close
	return all
}

// ask posts body and parses the response; its body is read as far as it goes.
func (s *simulator) ask(path, body string, headers ...string) *answer {
	s.t.Helper()
	all := s.raw(post(path, body, append(headers, "Connection: close")...))
	return parseAnswer(s.t, all)
}

// answer is a response as it came.
type answer struct {
	status int
	header http.Header
	body   string
	whole  bool // the body ended as HTTP wants it
}

func parseAnswer(t *testing.T, all []byte) *answer {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(all)), nil)
	if err != nil {
		t.Fatalf("no HTTP response: %v in %q", err, all)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return &answer{resp.StatusCode, resp.Header, string(body), err == nil}
}

// chunk is an event of a stream.
type chunk struct {
	Object  string
	Choices []struct {
		Index        int
		Text         *string
		Delta        *struct{ Role, Content, ReasoningContent *string }
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    *struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *struct{ Message string }
}

// events parses a stream's events, and says whether [DONE] came last.
func (a *answer) events(t *testing.T) (all []chunk, done bool) {
	t.Helper()
	text := strings.ReplaceAll(a.body, "\r\n", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		data, ok := strings.CutPrefix(block, "data:")
		if !ok {
			continue // a comment, or the end
		}
		if done {
			t.Errorf("%q comes after [DONE]", block)
		}
		if data = strings.TrimSpace(data); data == "[DONE]" {
			done = true
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(strings.ReplaceAll(data, "reasoning_content", "ReasoningContent")), &c); err != nil {
			t.Errorf("event %q: %v", data, err)
		}
		all = append(all, c)
	}
	return all, done
}

const streamBody = `{"model":"m","prompt":[1,2,3],"max_tokens":8,"stream":true,"stream_options":{"include_usage":true}}`

const chatBody = `{"model":"m","messages":[{"role":"user","content":"hello, world"}],"max_tokens":8,"stream":true,"stream_options":{"include_usage":true}}`

// eventually polls until ok is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came about that %s", what)
		}
	}
}

// readAll reads a connection to its end.
func readAll(t *testing.T, c net.Conn) []byte {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
