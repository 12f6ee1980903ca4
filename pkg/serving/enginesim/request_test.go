package enginesim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzReadRequest holds the reader to net/http's: what both take, they take
// alike, and what is taken is what was sent, no more and no less.
func FuzzReadRequest(f *testing.F) {
	for _, seed := range []string{
		post(completionsPath, streamBody, "X-Request-Id: a"),
		"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
		"POST /x?y HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n3;e\r\nabc\r\n0\r\nT: u\r\n\r\n",
		"POST / HTTP/1.0\r\nConnection: keep-alive, Close\r\nContent-Length: 03\r\n\r\nabc",
		"POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nab",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := requestReader{in: bufio.NewReaderSize(bytes.NewReader(b), 16), out: io.Discard, maxBody: 1 << 16}
		var q request
		if err := r.read(&q); err != nil {
			return
		}
		if q.method == "" || int64(len(q.body)) > r.maxBody || strings.ContainsAny(q.id, "\r\n") {
			t.Fatalf("got %+v", q)
		}
		theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		body, err := io.ReadAll(io.LimitReader(theirs.Body, r.maxBody+1))
		if err != nil {
			return
		}
		if theirs.Method != q.method || !bytes.Equal(body, q.body) {
			t.Errorf("got %s with body %q, net/http has %s with %q", q.method, q.body, theirs.Method, body)
		}
	})
}

// FuzzPrompt holds the reader of token ids to encoding/json's.
func FuzzPrompt(f *testing.F) {
	for _, seed := range []string{`[1,2,3]`, `[[1, 2]]`, `"a b"`, `["a"]`, `[]`, `[[]]`, `null`, `[1.5]`, `[1,"a"]`, `[12345678901]`, `[[[1]]]`, `{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return // the body around it would have been refused
		}
		got, err := parsePrompt(json.RawMessage(text), 1<<30)
		if err != nil || !got.byID {
			return
		}
		var want []uint32
		if json.Unmarshal([]byte(text), &want) != nil {
			var nested [][]uint32
			if err := json.Unmarshal([]byte(text), &nested); err != nil || len(nested) != 1 {
				t.Fatalf("%s is taken for token ids: %v", text, err)
			}
			want = nested[0]
		}
		if !slices.Equal(got.tokens, want) {
			t.Errorf("%s: got %v, want %v", text, got.tokens, want)
		}
	})
}
