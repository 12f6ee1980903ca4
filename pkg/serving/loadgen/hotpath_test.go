package loadgen

import (
	"strings"
	"testing"
)

// steadyStream is a stream in its middle and the bytes of sixteen more events in a chunk each.
func steadyStream(capacity int) (*stream, []byte) {
	s := &stream{}
	s.prepare(false)
	s.begin(&Request{Sent: 1, Events: make([]Event, 0, capacity)})
	s.take([]byte(chunkedHead), 1)
	var b strings.Builder
	for range 16 {
		b.WriteString(chunk(sse(completionEvent(" token", "null"))))
	}
	return s, []byte(b.String())
}

// While a stream runs nothing is allocated, also when reads split events.
func TestStreamingAllocatesNothing(t *testing.T) {
	s, b := steadyStream(1 << 20)
	cut := len(b) * 2 / 5
	allocated := testing.AllocsPerRun(500, func() {
		s.take(b[:cut], 2)
		s.take(b[cut:], 3)
	})
	if allocated != 0 {
		t.Errorf("sixteen events allocate %v times", allocated)
	}
	if n := len(s.r.Events); n != 16*501 || s.garbage || s.texts != n {
		t.Errorf("%d events, %d with text, garbage %v", n, s.texts, s.garbage)
	}
}

// A finished request allocates for its finish reason only.
func TestARequestAllocatesLittle(t *testing.T) {
	s := &stream{}
	s.prepare(false)
	answer := []byte(whole(fourTokens()...))
	r := &Request{Events: make([]Event, 0, 8)}
	o := &order{wantIn: 3, wantOut: 4, exact: true}
	allocated := testing.AllocsPerRun(500, func() {
		*r = Request{Sent: 1, Events: r.Events[:0]}
		s.begin(r)
		s.take(answer, 2)
		s.judge(r, o, nil, "", nil)
	})
	if !r.OK() || allocated > 3 {
		t.Errorf("%q: %s, %v allocations", r.Failure, r.Detail, allocated)
	}
}

func BenchmarkEvents(b *testing.B) {
	s, text := steadyStream(1 << 10)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.r.Events = s.r.Events[:0]
		s.take(text, 2)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(16*b.N), "ns/event")
}
