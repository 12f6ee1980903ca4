package loadgen

import (
	"strings"
	"testing"
)

// segments stands for a socket's receive queue: a read takes up to limit bytes and gets the stamp of the last segment
// it touched, as recvmsg does.
type segments struct {
	data   []string
	stamps []int64
	next   int
	reads  int
}

func (q *segments) read(limit int) (b string, at int64, queued bool) {
	q.reads++
	for limit > 0 && q.next < len(q.data) {
		part := q.data[q.next][:min(limit, len(q.data[q.next]))]
		b, at, limit = b+part, q.stamps[q.next], limit-len(part)
		if q.data[q.next] = q.data[q.next][len(part):]; q.data[q.next] == "" {
			q.next++
		}
	}
	return b, at, q.next < len(q.data)
}

// pull takes a whole answer off the queue, every segment of which is there from the beginning: the client slept all along.
func pull(t *testing.T, s *stream, data []string) (*Request, *segments) {
	t.Helper()
	q := &segments{data: data}
	for i := range data {
		q.stamps = append(q.stamps, int64(i+1))
	}
	r := &Request{Sent: 1}
	s.begin(r)
	for over := false; !over; {
		limit := s.limit()
		if limit <= 0 {
			t.Fatalf("a limit of %d", limit)
		}
		b, at, queued := q.read(limit)
		if b == "" {
			t.Fatal("the queue is empty and the answer has not ended")
		}
		s.pace.read(len(b), at, queued)
		var err error
		if over, err = s.take([]byte(b), at); err != nil {
			t.Fatal(err)
		}
	}
	return r, q
}

// answerOf cuts an answer into segments: the head, then so many events, of varying size, each.
func answerOf(events, perSegment int) []string {
	data := []string{chunkedHead}
	for i := 0; i < events; i += perSegment {
		var b strings.Builder
		for k := range perSegment {
			b.WriteString(chunk(sse(completionEvent(strings.Repeat("t", 1+(i+k)*7%5), "null"))))
		}
		data = append(data, b.String())
	}
	return append(data, chunk(sse(usageEvent(3, events), "[DONE]"))+"0\r\n\r\n")
}

// Every event keeps the stamp of its own segment however many are queued.
func TestReadsKeepToSegments(t *testing.T) {
	s := &stream{}
	s.prepare(false)
	pull(t, s, answerOf(20, 1)) // learns the size of head and chunks
	r, q := pull(t, s, answerOf(100, 1))
	for i, e := range r.Events {
		if want := int64(i + 2); e.T != want {
			t.Fatalf("event %d has the stamp of segment %d, want %d", i, e.T, want)
		}
	}
	if r.Coalesced != 0 || r.Reads != 100 || q.reads > 310 {
		t.Errorf("coalesced %d, arrivals %d, %d reads of the socket", r.Coalesced, r.Reads, q.reads)
	}
}

// A server that bundles events does not cost a read an event.
func TestReadsGrowWithBundles(t *testing.T) {
	s := &stream{}
	s.prepare(false)
	pull(t, s, answerOf(64, 16))
	r, q := pull(t, s, answerOf(1600, 16))
	if q.reads > 800 || r.Coalesced < 1400 {
		t.Errorf("%d reads for 1600 events in 100 segments, %d coalesced", q.reads, r.Coalesced)
	}
	// The next server answer of single events is read singly again.
	r, _ = pull(t, s, answerOf(100, 1))
	if r.Coalesced > 20 {
		t.Errorf("%d of 100 single events share a stamp after bundles", r.Coalesced)
	}
}

// Bodies without chunks are read as they come.
func TestReadsOfUnchunkedBodies(t *testing.T) {
	s := &stream{}
	s.prepare(false)
	body := sse(fourTokens()...)
	pull(t, s, []string{"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + body + strings.Repeat(": x\n", (99999-len(body))/4) + strings.Repeat("\n", (99999-len(body))%4)})
	if s.limit() <= 0 {
		t.Error("no limit left")
	}
}
