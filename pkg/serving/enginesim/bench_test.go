package enginesim

import (
	"strconv"
	"testing"
)

// smokeBody is a request of the smoke cell: 512 token ids, 128 tokens.
func smokeBody() []byte {
	b := []byte(`{"model":"m","prompt":[`)
	for i := range 512 {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(1000+i), 10)
	}
	return append(b, `],"max_tokens":128,"stream":true,"ignore_eos":true,"stream_options":{"include_usage":true}}`...)
}

// BenchmarkDecode is what the decoding of one request costs the schedule.
func BenchmarkDecode(b *testing.B) {
	p := DefaultProfile()
	body := smokeBody()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeCompletion(body, false, "m", &p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompose is what the composing of one answer costs the schedule.
func BenchmarkCompose(b *testing.B) {
	p := DefaultProfile()
	in, err := decodeCompletion(smokeBody(), false, "m", &p)
	if err != nil {
		b.Fatal(err)
	}
	var s script
	m := composer{p: &p}
	b.ReportAllocs()
	for b.Loop() {
		s.reset()
		m.script, m.c = &s, &in
		m.w = eventWriter{id: "cmpl-1", model: "m"}
		m.stream()
	}
}

// BenchmarkChain is what naming the blocks of one prompt costs the schedule.
func BenchmarkChain(b *testing.B) {
	c := newPrefixCache(16, 1<<16)
	tokens := make([]uint32, 512)
	b.ReportAllocs()
	for b.Loop() {
		c.match(c.chain(tokens), len(tokens))
	}
}

// BenchmarkAppendRecord is what logging one request costs.
func BenchmarkAppendRecord(b *testing.B) {
	r := Record{N: 1, ID: "x", Writes: make([]Write, 128)}
	for i := range r.Writes {
		r.Writes[i] = Write{At: 1526697957868, Due: 1526697565494, Bytes: 200, Events: 1, Tokens: 1}
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = appendRecord(buf[:0], &r)
	}
}

// BenchmarkMonotonic is what one look at the clock costs; a write takes two or three.
func BenchmarkMonotonic(b *testing.B) {
	for b.Loop() {
		monotonic()
	}
}
