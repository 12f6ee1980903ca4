package enginesim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	maxHead  = 64 << 10 // request line and headers
	bodyKeep = 1 << 20  // a larger body buffer is not kept for the next request
)

// request is one HTTP/1.1 request as it was read.
type request struct {
	method, path string
	id           string // x-request-id
	close        bool   // the client asked to close after the answer
	headBytes    int
	body         []byte // valid until the next read

	length   int64 // Content-Length, -1 when absent
	chunked  bool
	expected bool // Expect: 100-continue
}

// httpError is a request that cannot be answered but by an error status, after
// which the connection is closed.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

func badRequest(format string, a ...any) error {
	return &httpError{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

// requestReader reads the requests of one connection.
type requestReader struct {
	in      *bufio.Reader
	out     io.Writer // for 100 Continue
	maxBody int64
	buf     []byte
}

// read reads the next request whole. The error is an *httpError when an answer
// is due, else the connection's.
func (r *requestReader) read(req *request) error {
	*req = request{length: -1}
	if err := r.readHead(req); err != nil {
		return err
	}
	if req.chunked && req.length >= 0 {
		return badRequest("a request may not have both Content-Length and Transfer-Encoding")
	}
	if req.length > r.maxBody {
		return r.tooLarge()
	}
	if req.expected && (req.chunked || req.length > 0) {
		if _, err := io.WriteString(r.out, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	if cap(r.buf) > bodyKeep {
		r.buf = nil
	}
	r.buf = r.buf[:0]
	var err error
	switch {
	case req.chunked:
		err = r.readChunks()
	case req.length > 0:
		err = r.readN(int(req.length))
	}
	req.body = r.buf
	return err
}

func (r *requestReader) tooLarge() error {
	return &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the request body is larger than %d bytes", r.maxBody)}
}

func (r *requestReader) readHead(req *request) error {
	line, err := r.line(req)
	for err == nil && line == "" && req.headBytes < 8 {
		line, err = r.line(req) // blank lines before a request are to be ignored
	}
	if err != nil {
		return err
	}
	if err := req.parseLine(line); err != nil {
		return err
	}
	for {
		line, err := r.line(req)
		if err != nil {
			return noEOF(err)
		}
		if line == "" {
			return nil
		}
		if err := req.parseHeader(line); err != nil {
			return err
		}
	}
}

// line reads one line of the head without its end.
func (r *requestReader) line(req *request) (string, error) {
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		req.headBytes += len(part)
		if req.headBytes > maxHead {
			return "", &httpError{http.StatusRequestHeaderFieldsTooLarge, "the request's headers are too large"}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil {
			if req.headBytes > 0 {
				err = noEOF(err)
			}
			return "", err
		}
		return strings.TrimSuffix(string(append(long, part[:len(part)-1]...)), "\r"), nil
	}
}

func (q *request) parseLine(line string) error {
	method, rest, ok1 := strings.Cut(line, " ")
	target, proto, ok2 := strings.Cut(rest, " ")
	if !ok1 || !ok2 || method == "" || target == "" {
		return badRequest("the request line %.80q is no HTTP request", line)
	}
	if proto != "HTTP/1.1" && proto != "HTTP/1.0" {
		return &httpError{http.StatusHTTPVersionNotSupported, "only HTTP/1.1 and HTTP/1.0 are spoken here"}
	}
	q.method = method
	q.path, _, _ = strings.Cut(target, "?")
	q.close = proto == "HTTP/1.0"
	return nil
}

func (q *request) parseHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return badRequest("the header line %.80q is malformed", line)
	}
	value = strings.Trim(value, " \t")
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return badRequest("the header %.80s holds a control character", name)
	}
	switch strings.ToLower(name) {
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil || q.length >= 0 && q.length != int64(n) {
			return badRequest("the Content-Length %.40q is malformed", value)
		}
		q.length = int64(n)
	case "transfer-encoding":
		if !strings.EqualFold(value, "chunked") || q.chunked {
			return badRequest("the only Transfer-Encoding spoken here is chunked")
		}
		q.chunked = true
	case "connection":
		for token := range strings.SplitSeq(value, ",") {
			switch strings.ToLower(strings.TrimSpace(token)) {
			case "close":
				q.close = true
			case "keep-alive":
				q.close = false
			}
		}
	case "expect":
		q.expected = strings.EqualFold(value, "100-continue")
	case "x-request-id":
		q.id = value
	}
	return nil
}

func (r *requestReader) readN(n int) error {
	from := len(r.buf)
	if cap(r.buf)-from < n {
		r.buf = append(make([]byte, 0, from+n), r.buf...)
	}
	r.buf = r.buf[:from+n]
	_, err := io.ReadFull(r.in, r.buf[from:])
	return noEOF(err)
}

func (r *requestReader) readChunks() error {
	for {
		var scratch request
		line, err := r.line(&scratch)
		if err != nil {
			return noEOF(err)
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 62)
		if err != nil {
			return badRequest("the chunk size %.40q is malformed", line)
		}
		if n == 0 {
			return r.readTrailer()
		}
		if int64(len(r.buf))+int64(n) > r.maxBody {
			return r.tooLarge()
		}
		if err := r.readN(int(n)); err != nil {
			return err
		}
		if end, err := r.line(&scratch); err != nil || end != "" {
			return badRequest("a chunk does not end where its size says")
		}
	}
}

func (r *requestReader) readTrailer() error {
	var scratch request
	for {
		line, err := r.line(&scratch)
		if err != nil || line == "" {
			return noEOF(err)
		}
	}
}

// noEOF turns an end in the middle of a request into the error it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
