package loadgen

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxNote bounds what is kept of an error's words.
const maxNote = 1 << 10

// stream takes in one answer.
type stream struct {
	chat  bool
	frame framer
	head  head
	body  body
	pace  pace
	r     *Request
	at    int64 // time of the bytes being taken

	headed    bool // the head is whole
	eventful  bool // the body is an event stream
	done      bool // [DONE], or an error event: nothing more is expected
	doneMark  bool // [DONE]
	errored   bool
	garbage   bool  // an event that is no JSON object
	leftover  bool  // bytes behind the body
	eventAt   int64 // time of the last choices event
	usage     usage
	perEvent  int // choices events with usage of their own
	textBytes int64
	texts     int // choices events with text
	finish    [32]byte
	finished  int
	note      []byte // start of an error's words
}

// prepare allocates the buffers.
func (s *stream) prepare(chat bool) {
	s.chat = chat
	s.head.buf = touched[byte](4 << 10)[:0]
	s.frame = framer{emit: s.event, line: touched[byte](4 << 10)[:0], data: touched[byte](4 << 10)[:0]}
	s.pace = pace{least: leastEvent, burst: 1}
	s.note = make([]byte, 0, maxNote)
}

// begin is called before each request is written.
func (s *stream) begin(r *Request) {
	s.frame.reset()
	s.head.reset()
	*s = stream{chat: s.chat, frame: s.frame, head: s.head, pace: s.pace, note: s.note[:0], r: r, usage: noUsage}
	r.Events = r.Events[:0]
}

// take takes what one read brought; over tells that the answer has ended.
func (s *stream) take(b []byte, at int64) (over bool, err error) {
	s.at = at
	if !s.headed {
		if b, s.headed, err = s.head.feed(b); err != nil || !s.headed {
			return false, err
		}
		s.r.Status = s.head.status
		s.pace.head = len(s.head.buf) - len(b)
		s.body = newBody(s.head.framing, s.head.length)
		s.eventful = s.head.status == 200 && !s.head.encoded && !s.isDocument()
	}
	for len(b) > 0 && !s.body.done {
		var payload []byte
		if payload, b, err = s.body.next(b); err != nil {
			return false, err
		}
		if s.body.chunkSize > 0 {
			s.pace.chunk(s.body.chunkSize)
			s.body.chunkSize = 0
		}
		s.r.Bytes += int64(len(payload))
		if !s.eventful {
			s.keepNote(payload)
		} else if err := s.frame.feed(payload); err != nil {
			return false, err
		}
		if len(s.r.Events) > maxEvents {
			return false, errTooManyEvents
		}
	}
	if s.body.done {
		s.leftover = len(b) > 0
		s.clean()
	}
	return s.body.done, nil
}

// isDocument tells a whole document from an event stream; engines that name neither are believed.
func (s *stream) isDocument() bool {
	t := bytes.ToLower(s.head.contentType)
	return bytes.HasPrefix(t, []byte("application/json")) || bytes.HasPrefix(t, []byte("text/html"))
}

// clean is the clean end of the body.
func (s *stream) clean() {
	if s.eventful {
		s.frame.end()
	}
	s.r.Done = s.at
}

// closed is told that the connection ended; it reports whether that is how this body ends.
func (s *stream) closed() bool {
	if !s.headed || s.body.framing != untilClose {
		return false
	}
	s.clean()
	return true
}

// reusable tells whether another request may follow on the connection.
func (s *stream) reusable() bool { return s.body.done && s.head.keepAlive && !s.leftover }

func (s *stream) keepNote(b []byte) {
	s.note = append(s.note, b[:min(len(b), maxNote-len(s.note))]...)
}

var doneMark = []byte("[DONE]")

// event takes one server-sent event.
func (s *stream) event(data []byte, isErr bool) {
	if s.done || s.garbage {
		return
	}
	data = bytes.TrimSpace(data)
	switch {
	case bytes.Equal(data, doneMark):
		s.done, s.doneMark = true, true
		return
	case isErr, hasError(data):
		s.done, s.errored = true, true
		s.keepNote(data)
		return
	case len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}':
		s.garbage = true
		s.keepNote(data)
		return
	}
	u, hasUsage := usageOf(data)
	if hasUsage {
		s.usage = u
		s.r.Usage = s.at
	}
	if choices := choicesOf(data); choices != nil {
		s.choices(choices, u)
	}
}

// choices takes an event that carries output. Its tokens are, for now, the running total when it has usage of its own.
func (s *stream) choices(choices []byte, u usage) {
	r := s.r
	n, content := textOf(choices, s.chat)
	e := Event{T: s.at, Bytes: int32(n)}
	if u.output >= 0 {
		e.Tokens = float32(u.output)
		s.perEvent++
	}
	if n > 0 {
		s.texts++
		s.textBytes += int64(n)
		if r.FirstText == 0 {
			r.FirstText = s.at
		}
		if content && r.FirstContent == 0 {
			r.FirstContent = s.at
		}
	}
	if reason := finishOf(choices); reason != nil {
		s.finished = copy(s.finish[:], reason)
	}
	if r.FirstEvent == 0 {
		r.FirstEvent = s.at
	}
	r.LastToken = s.at
	r.Events = append(r.Events, e)
	if s.eventAt == s.at {
		r.Coalesced++
	} else {
		r.Reads++
		s.eventAt = s.at
	}
}

// judge decides whether the request succeeded. err is why reading stopped early, cause why the watchdog stopped it.
func (s *stream) judge(r *Request, o *order, err error, cause Class, tolerate []Class) {
	r.FinishReason = string(s.finish[:s.finished])
	s.lengths(r, o)
	note := strings.TrimSpace(string(s.note))
	switch {
	case cause == Truncated && s.done && !s.errored:
		r.Failure, r.Detail = Truncated, "the stream was over, but the body did not end"
	case cause != "" && !s.errored:
		r.Failure, r.Detail = cause, fmt.Sprintf("after %d events", len(r.Events))
	case s.errored:
		r.Failure, r.Detail = ErrorEvent, note
	case s.garbage:
		r.Failure, r.Detail = BadResponse, "an event is no JSON object: "+note
	case isProtocol(err):
		r.Failure, r.Detail = BadResponse, err.Error()
	case s.headed && s.head.status != 200:
		r.Failure, r.Detail = HTTPStatus, fmt.Sprintf("%d: %s", s.head.status, note)
	case s.headed && !s.eventful:
		r.Failure, r.Detail = BadResponse, fmt.Sprintf("not an event stream (%s): %s", s.head.contentType, note)
	case err != nil:
		r.Failure, r.Detail = Truncated, fmt.Sprintf("after %d events: %v", len(r.Events), err)
	case len(r.Events) == 0:
		r.Failure, r.Detail = NoToken, "the stream ended without a token"
	default:
		s.audit(r, o, tolerate)
	}
}

// isProtocol tells an answer that breaks the protocol from a connection that broke.
func isProtocol(err error) bool {
	var malformed *protocolError
	return errors.As(err, &malformed)
}

// audit holds a stream that ended cleanly against what was asked for.
func (s *stream) audit(r *Request, o *order, tolerate []Class) {
	fault := func(bad bool, c Class, format string, args ...any) {
		switch {
		case !bad:
		case slices.Contains(tolerate, c):
			r.Tolerated = append(r.Tolerated, c)
		case r.Failure == "":
			r.Failure, r.Detail = c, fmt.Sprintf(format, args...)
		}
	}
	known := s.usage.output >= 0
	fault(known && o.exact && r.OutputLen < o.wantOut, ShortOutput, "%d tokens of %d", r.OutputLen, o.wantOut)
	fault(!known, MissingUsage, "no usage after %d events", len(r.Events))
	fault(known && r.OutputLen > o.wantOut, LongOutput, "%d tokens of %d", r.OutputLen, o.wantOut)
	fault(!o.accepts(s.usage.prompt), PromptLengthMismatch, "the engine counts %d prompt tokens of %d", s.usage.prompt, o.wantIn)
	fault(s.finished == 0, MissingFinishReason, "no finish_reason in %d events", len(r.Events))
	fault(!s.doneMark, MissingDone, "the stream ended without [DONE]")
}
