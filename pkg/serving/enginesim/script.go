package enginesim

import (
	"net/http"
	"strconv"
	"time"
)

// script is everything a request will be answered with: the bytes, cut into
// writes, and when each is due. It is made when the request has been read, so
// that keeping the schedule is nothing but writing.
type script struct {
	buf    []byte
	writes []planned
	ending ending
	// keepAlive says that the connection serves the next request afterwards.
	keepAlive bool
}

// planned is one write: buf up to to, from where the last one ended.
type planned struct {
	at     time.Duration // after the request's start
	to     int
	events int
	tokens int
}

// ending is what follows the last write.
type ending int

const (
	endComplete ending = iota // the answer is whole
	endCut                    // close the connection in the middle
	endHang                   // nothing, for ever
	endCutShort               // the answer is framed properly but a fault cut it
)

func (s *script) reset() {
	if cap(s.buf) > bodyKeep {
		s.buf = nil
	}
	if cap(s.writes) > keepWrites {
		s.writes = nil
	}
	*s = script{buf: s.buf[:0], writes: s.writes[:0]}
}

// push ends a write at the end of buf. Writes never overtake one another.
func (s *script) push(at time.Duration, events, tokens int) {
	if n := len(s.writes); n > 0 {
		at = max(at, s.writes[n-1].at)
	}
	s.writes = append(s.writes, planned{max(at, 0), len(s.buf), events, tokens})
}

// appendHead appends a response head. length < 0 means chunks follow.
func appendHead(b []byte, status int, contentType, requestID string, length int, keepAlive bool) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, contentType...)
	if requestID != "" {
		b = append(b, "\r\nX-Request-Id: "...)
		b = append(b, requestID...)
	}
	if status == 429 || status == 503 {
		b = append(b, "\r\nRetry-After: 1"...)
	}
	if !keepAlive {
		b = append(b, "\r\nConnection: close"...)
	}
	if length < 0 {
		return append(b, "\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"...)
	}
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(length), 10)
	return append(b, "\r\n\r\n"...)
}

// appendChunk appends data as one HTTP chunk.
func appendChunk(b, data []byte) []byte {
	b = strconv.AppendInt(b, int64(len(data)), 16)
	b = append(b, '\r', '\n')
	b = append(b, data...)
	return append(b, '\r', '\n')
}

const (
	jsonType  = "application/json"
	sseType   = "text/event-stream; charset=utf-8"
	lastChunk = "0\r\n\r\n"
)
