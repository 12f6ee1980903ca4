package loadgen

import (
	"bytes"
	"fmt"
	"strconv"
)

// maxHead bounds a response head.
const maxHead = 64 << 10

var errHeadTooLarge = &protocolError{"a response head of more than 64 KiB"}

// head is the status line and what of the header fields matters here.
type head struct {
	buf []byte

	status      int
	framing     framing
	length      int64
	keepAlive   bool
	contentType []byte
	encoded     bool
}

// reset forgets everything but the buffer.
func (h *head) reset() { *h = head{buf: h.buf[:0]} }

// feed takes bytes until the head is whole; rest is what follows it. Interim (1xx) answers are passed over.
func (h *head) feed(b []byte) (rest []byte, whole bool, err error) {
	for {
		old := len(h.buf)
		h.buf = append(h.buf, b...)
		end := headEnd(h.buf, max(old-3, 0))
		if end < 0 {
			if len(h.buf) > maxHead {
				return nil, false, errHeadTooLarge
			}
			return nil, false, nil
		}
		rest = b[end-old:]
		if err := h.parse(h.buf[:end]); err != nil {
			return nil, false, err
		}
		if h.status >= 200 || h.status == 101 {
			return rest, true, nil
		}
		h.buf, b = h.buf[:0], rest
		if len(b) == 0 {
			return nil, false, nil
		}
	}
}

// headEnd is the index behind the empty line that ends a head, -1 when it has not come.
func headEnd(b []byte, from int) int {
	for i := from; ; i++ {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			return -1
		}
		i += j
		switch {
		case i+1 < len(b) && b[i+1] == '\n':
			return i + 2
		case i+2 < len(b) && b[i+1] == '\r' && b[i+2] == '\n':
			return i + 3
		}
	}
}

// parse reads a whole head.
func (h *head) parse(b []byte) error {
	line, b := cutLine(b)
	minor, err := h.statusLine(line)
	if err != nil {
		return err
	}
	h.framing, h.length, h.keepAlive, h.contentType, h.encoded = untilClose, 0, minor >= 1, nil, false
	for len(b) > 0 {
		line, b = cutLine(b)
		name, value, ok := bytes.Cut(line, colon)
		if !ok {
			continue
		}
		if err := h.field(name, bytes.TrimSpace(value)); err != nil {
			return err
		}
	}
	if h.status == 204 || h.status == 304 {
		h.framing, h.length = byLength, 0
	}
	if h.framing == untilClose {
		h.keepAlive = false
	}
	return nil
}

// statusLine reads "HTTP/1.N CODE REASON" and returns N.
func (h *head) statusLine(line []byte) (minor int, err error) {
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return 0, protocolErrorf("not an HTTP/1 answer: %q", line[:min(len(line), 40)])
	}
	h.status, err = strconv.Atoi(string(line[9:12]))
	if err != nil || h.status < 100 {
		return 0, protocolErrorf("no status in %q", line[:min(len(line), 40)])
	}
	return int(line[7] - '0'), nil
}

// field takes one header field. Chunked wins over a length, as RFC 9112 has it.
func (h *head) field(name, value []byte) error {
	switch {
	case is(name, "transfer-encoding"):
		if !is(value, "chunked") {
			return protocolErrorf("transfer coding %q", value)
		}
		h.framing = chunked
	case is(name, "content-length"):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil {
			return protocolErrorf("content length %q", value)
		}
		if h.framing != chunked {
			h.framing, h.length = byLength, int64(n)
		}
	case is(name, "connection"):
		if is(value, "close") {
			h.keepAlive = false
		} else if is(value, "keep-alive") {
			h.keepAlive = true
		}
	case is(name, "content-type"):
		h.contentType = value
	case is(name, "content-encoding"):
		h.encoded = !is(value, "identity")
	}
	return nil
}

func is(b []byte, s string) bool { return len(b) == len(s) && bytes.EqualFold(b, []byte(s)) }

// cutLine splits off the first line, without its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

func protocolErrorf(format string, args ...any) error {
	return &protocolError{fmt.Sprintf(format, args...)}
}
