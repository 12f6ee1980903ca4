package loadgen

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// decode feeds parts to a fresh decoder.
func decode(f framing, length int64, parts ...[]byte) (payload string, left int, done bool, err error) {
	d := newBody(f, length)
	var out bytes.Buffer
	for _, b := range parts {
		for len(b) > 0 && !d.done {
			var p []byte
			if p, b, err = d.next(b); err != nil {
				return out.String(), 0, false, err
			}
			out.Write(p)
		}
		left += len(b)
	}
	return out.String(), left, d.done, nil
}

func TestBody(t *testing.T) {
	tests := []struct {
		name    string
		framing framing
		length  int64
		in      string
		want    string
		left    int
		done    bool
		bad     bool
	}{
		{name: "chunked", framing: chunked, in: "3\r\nabc\r\n0\r\n\r\n", want: "abc", done: true},
		{name: "two chunks", framing: chunked, in: "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", want: "abc0123456789", done: true},
		{name: "extensions", framing: chunked, in: "3;name=\"v;1\"\r\nabc\r\n0;last\r\n\r\n", want: "abc", done: true},
		{name: "trailers", framing: chunked, in: "1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", want: "a", done: true},
		{name: "bare LF", framing: chunked, in: "1\na\n0\n\n", want: "a", done: true},
		{name: "blank before the end of the size", framing: chunked, in: "1  \r\na\r\n0\r\n\r\n", want: "a", done: true},
		{name: "bytes behind the body", framing: chunked, in: "1\r\na\r\n0\r\n\r\nHTTP", want: "a", left: 4, done: true},
		{name: "cut in the data", framing: chunked, in: "5\r\nab", want: "ab"},
		{name: "cut before the last chunk", framing: chunked, in: "1\r\na\r\n", want: "a"},
		{name: "no size", framing: chunked, in: "\r\n", bad: true},
		{name: "no number", framing: chunked, in: "xyz\r\n", bad: true},
		{name: "size too long", framing: chunked, in: "1111111111111111\r\n", bad: true},
		{name: "data longer than its size", framing: chunked, in: "1\r\nab\r\n", bad: true},
		{name: "by length", framing: byLength, length: 3, in: "abcd", want: "abc", left: 1, done: true},
		{name: "nothing by length", framing: byLength, done: true},
		{name: "short of its length", framing: byLength, length: 3, in: "ab", want: "ab"},
		{name: "until close", framing: untilClose, in: "abc", want: "abc"},
	}
	for _, tt := range tests {
		for how, parts := range map[string][][]byte{"whole": {[]byte(tt.in)}, "bytewise": bytewise([]byte(tt.in))} {
			got, left, done, err := decode(tt.framing, tt.length, parts...)
			if tt.bad {
				if !isProtocol(err) {
					t.Errorf("%s, %s: got %v, want a protocol error", tt.name, how, err)
				}
				continue
			}
			if err != nil || got != tt.want || left != tt.left || done != tt.done {
				t.Errorf("%s, %s: got %q, %d left, done %v (%v); want %q, %d, %v", tt.name, how, got, left, done, err, tt.want, tt.left, tt.done)
			}
		}
	}
}

// FuzzBody holds that splits never matter, and that what was encoded comes back.
func FuzzBody(f *testing.F) {
	f.Add([]byte("3\r\nabc\r\n0\r\n\r\n"), []byte("abc"), uint8(2))
	f.Add([]byte("1;x\r\na\r\n0\r\nA: b\r\n\r\n"), []byte("data: x\n\n"), uint8(1))
	f.Fuzz(func(t *testing.T, raw, payload []byte, size uint8) {
		a, l1, d1, err1 := decode(chunked, 0, raw)
		b, l2, d2, err2 := decode(chunked, 0, bytewise(raw)...)
		if a != b || l1 != l2 || d1 != d2 || (err1 == nil) != (err2 == nil) {
			t.Fatalf("whole %q %d %v %v, bytewise %q %d %v %v", a, l1, d1, err1, b, l2, d2, err2)
		}
		var coded strings.Builder
		for rest := payload; len(rest) > 0; {
			n := min(int(size)%32+1, len(rest))
			fmt.Fprintf(&coded, "%x;e=%d\r\n%s\r\n", n, n, rest[:n])
			rest = rest[n:]
		}
		coded.WriteString("0\r\nT: v\r\n\r\n")
		if got, _, done, err := decode(chunked, 0, []byte(coded.String())); got != string(payload) || !done || err != nil {
			t.Fatalf("round trip: got %q, done %v (%v), want %q", got, done, err, payload)
		}
	})
}

func TestHead(t *testing.T) {
	tests := []struct {
		name, in string
		status   int
		framing  framing
		length   int64
		keep     bool
		rest     string
		bad      bool
	}{
		{name: "chunked", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n", status: 200, framing: chunked, keep: true, rest: "3\r\n"},
		{name: "case and blanks", in: "HTTP/1.1 200 OK\r\ntransfer-ENCODING:  Chunked \r\nConnection: Close\r\n\r\n", status: 200, framing: chunked},
		{name: "length", in: "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello", status: 404, framing: byLength, length: 5, keep: true, rest: "hello"},
		{name: "until close", in: "HTTP/1.1 200 OK\r\n\r\n", status: 200, framing: untilClose},
		{name: "HTTP/1.0", in: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, framing: byLength},
		{name: "HTTP/1.0 kept alive", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", status: 200, framing: byLength, keep: true},
		{name: "chunked wins over a length", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", status: 200, framing: chunked, keep: true},
		{name: "interim answers", in: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, framing: byLength, length: 1, keep: true, rest: "x"},
		{name: "bare LF", in: "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", status: 200, framing: byLength, length: 1, keep: true, rest: "x"},
		{name: "no reason", in: "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", status: 200, framing: byLength, length: 1, keep: true, rest: "x"},
		{name: "no HTTP", in: "SSH-2.0-OpenSSH_9.2\r\n\r\n", bad: true},
		{name: "no status", in: "HTTP/1.1 abc OK\r\n\r\n", bad: true},
		{name: "odd coding", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", bad: true},
		{name: "odd length", in: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", bad: true},
		{name: "endless", in: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead), bad: true},
	}
	for _, tt := range tests {
		for how, parts := range map[string][][]byte{"whole": {[]byte(tt.in)}, "bytewise": bytewise([]byte(tt.in))} {
			if how == "bytewise" && len(tt.in) > 1000 {
				continue
			}
			var h head
			rest, whole, err := "", false, error(nil)
			for _, b := range parts {
				if whole {
					rest += string(b)
					continue
				}
				var r []byte
				if r, whole, err = h.feed(b); err != nil {
					break
				}
				rest += string(r)
			}
			if tt.bad {
				if !isProtocol(err) {
					t.Errorf("%s, %s: got %v, want a protocol error", tt.name, how, err)
				}
				continue
			}
			if err != nil || !whole || h.status != tt.status || h.framing != tt.framing || h.length != tt.length || h.keepAlive != tt.keep || rest != tt.rest {
				t.Errorf("%s, %s: got %+v, rest %q, whole %v (%v)", tt.name, how, h, rest, whole, err)
			}
		}
	}
}

// FuzzHead holds that splits never matter and nothing panics.
func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"))
	f.Add([]byte("HTTP/1.0 200 OK\n\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		feed := func(parts [][]byte) (h head, rest string, whole, bad bool) {
			for _, b := range parts {
				if whole {
					rest += string(b)
					continue
				}
				r, w, err := h.feed(b)
				if err != nil {
					return h, rest, w, true
				}
				whole, rest = w, rest+string(r)
			}
			return h, rest, whole, false
		}
		a, r1, w1, b1 := feed([][]byte{raw})
		b, r2, w2, b2 := feed(bytewise(raw))
		if r1 != r2 || w1 != w2 || b1 != b2 || a.status != b.status || a.framing != b.framing || a.length != b.length {
			t.Fatalf("whole %+v %q %v %v, bytewise %+v %q %v %v", a, r1, w1, b1, b, r2, w2, b2)
		}
	})
}
