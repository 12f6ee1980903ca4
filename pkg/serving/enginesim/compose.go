package enginesim

import (
	"time"
	"unicode/utf8"
)

// composer turns a completion into a script, faults and all.
type composer struct {
	*script
	p      *Profile
	c      *completion
	faults applied
	w      eventWriter

	n      int    // number of the request, for its jitter
	chunk  []byte // the chunk being made
	events int    // in the chunk
	tokens int
	// lastFrom and lastTo bound the chunk's last output event.
	lastFrom, lastTo int
	lastTokens       int

	total  int // tokens a choice gets
	finish string
	ttft   time.Duration
}

// prepare settles how long the output is and when it begins.
func (m *composer) prepare() {
	m.total, m.finish = m.c.maxTokens, "length"
	if f := m.faults.get("short-output"); f != nil && f.number < m.total {
		m.total, m.finish = f.number, "stop"
	}
	if f := m.faults.get("long-output"); f != nil {
		m.total += f.number
	}
	if m.faults.has("no-finish-reason") {
		m.finish = ""
	}
	m.ttft = m.p.TTFT + time.Duration(len(m.c.prompt.tokens)-m.w.cachedTokens)*m.p.PrefillPerToken
	for _, name := range []string{"compile", "stall"} {
		if f := m.faults.get(name); f != nil {
			m.ttft += f.duration
		}
	}
	m.w.wide = m.faults.has("split-utf8")
	m.chunk = m.chunk[:0]
}

// writeSize is how many tokens of a choice write k carries at most.
func (m *composer) writeSize(k int) int {
	if k == 0 && m.p.FirstTokens > 0 {
		return m.p.FirstTokens
	}
	return m.p.TokensPerEvent * m.p.EventsPerWrite
}

// whole composes an answer that does not stream: due when the last token is.
func (m *composer) whole(requestID string) {
	m.prepare()
	at := m.ttft
	for k, done := 0, 0; done < m.total; k++ {
		size := min(m.writeSize(k), m.total-done)
		if k > 0 {
			at += time.Duration(size) * m.p.pace()
		}
		done += size
	}
	body := m.w.appendWhole(nil, m.c.choices, m.total, m.finish, !m.faults.has("no-usage"))
	m.buf = appendHead(m.buf, 200, jsonType, requestID, len(body), m.keepAlive)
	m.buf = append(m.buf, body...)
	m.push(at+m.p.jitterOf(m.n, 0), 1, m.total*m.c.choices)
}

// cutAfter gives after how many output writes a fault ends the stream, and
// which; or -1.
func (m *composer) cutAfter() (int, *Fault) {
	for _, name := range []string{"hang", "truncate", "error-event"} {
		if f := m.faults.get(name); f != nil {
			return f.number, f
		}
	}
	return -1, nil
}

// stream composes the events. What the script's buffer holds already (the
// response head, when it does not go out early) goes with the first write.
func (m *composer) stream() {
	m.prepare()
	m.opening()
	cut, cause := m.cutAfter()
	at := m.ttft
	for k, done := 0, 0; done < m.total; k++ {
		if k == cut {
			break
		}
		size := min(m.writeSize(k), m.total-done)
		if k > 0 {
			at += time.Duration(size) * m.p.pace()
		}
		m.output(k, done, size)
		done += size
		if done == m.total && cause == nil && m.p.Tail == 0 {
			m.closing()
		}
		m.flush(at + m.p.jitterOf(m.n, k))
	}
	switch {
	case cause != nil:
		m.breakOff(cause, at)
	case m.p.Tail > 0:
		m.closing()
		m.flush(at + m.p.Tail)
	}
	m.endChunks()
}

// opening composes the events that come before the first tokens.
func (m *composer) opening() {
	role, empty := m.faults.get("role-first"), m.faults.get("empty-first")
	if role != nil && m.c.chat {
		m.early(role, delta{role: true})
	}
	if empty != nil {
		m.early(empty, delta{role: m.c.chat && role == nil})
	}
}

func (m *composer) early(f *Fault, d delta) {
	for i := range m.c.choices {
		d.choice = i
		m.event(d, false)
	}
	m.flush(m.ttft - f.duration)
}

// output composes the events of write k: size tokens of every choice.
func (m *composer) output(k, done, size int) {
	reasoning := false
	if f := m.faults.get("reasoning"); f != nil && m.c.chat {
		reasoning = k < f.number
	}
	for size > 0 {
		n := min(m.p.TokensPerEvent, size)
		d := delta{from: done, n: n, reasoning: reasoning, role: done == 0 && !m.faults.has("role-first")}
		done, size = done+n, size-n
		if done == m.total {
			d.finish = m.finish
		}
		for i := range m.c.choices {
			d.choice = i
			m.event(d, done == m.total && i == m.c.choices-1)
		}
	}
}

// event adds one output event to the chunk.
func (m *composer) event(d delta, last bool) {
	m.lastFrom = len(m.chunk)
	m.open()
	m.chunk = m.w.appendDelta(m.chunk, d)
	if m.faults.has("usage-every") && !m.faults.has("no-usage") {
		real := 0
		if last {
			real = m.total * m.c.choices
		}
		m.chunk = m.w.appendUsage(m.chunk, real)
	}
	m.chunk = append(m.chunk, '}')
	m.shut()
	m.lastTo, m.lastTokens = len(m.chunk), d.n
	m.events++
	m.tokens += d.n
}

// open and shut frame an event.
func (m *composer) open() {
	if m.faults.has("comments") {
		m.chunk = append(m.chunk, ": keep-alive"...)
		m.shut()
	}
	m.chunk = append(m.chunk, "data:"...)
	if !m.faults.has("no-space") {
		m.chunk = append(m.chunk, ' ')
	}
}

func (m *composer) shut() {
	if m.faults.has("crlf") {
		m.chunk = append(m.chunk, "\r\n\r\n"...)
	} else {
		m.chunk = append(m.chunk, "\n\n"...)
	}
}

// closing adds usage and [DONE].
func (m *composer) closing() {
	if m.c.includeUsage && !m.faults.has("no-usage") && !m.faults.has("usage-every") {
		m.open()
		m.chunk = m.w.appendOpen(m.chunk, m.w.object())
		m.chunk = append(m.chunk, ']')
		m.chunk = m.w.appendUsage(m.chunk, m.total*m.c.choices)
		m.chunk = append(m.chunk, '}')
		m.shut()
	}
	m.done()
}

func (m *composer) done() {
	if m.faults.has("no-done") {
		return
	}
	m.open()
	m.chunk = append(m.chunk, "[DONE]"...)
	m.shut()
}

// breakOff ends the stream as a fault wants it.
func (m *composer) breakOff(f *Fault, at time.Duration) {
	switch f.Name {
	case "hang":
		m.ending = endHang
	case "truncate":
		m.ending = endCut
	case "error-event":
		m.ending = endCutShort
		m.open()
		m.chunk = append(m.chunk, `{"error":{"message":"the engine stopped: simulated fault","type":"InternalServerError","param":null,"code":500}}`...)
		m.shut()
		m.done()
		m.flush(at)
	}
}

// endChunks puts the last chunk behind the last write.
func (m *composer) endChunks() {
	n := len(m.writes)
	if n == 0 || m.ending == endHang || m.ending == endCut {
		return
	}
	m.buf = append(m.buf, lastChunk...)
	m.writes[n-1].to = len(m.buf)
}

// flush makes the chunk a write, or two when a fault splits it.
func (m *composer) flush(at time.Duration) {
	if len(m.chunk) == 0 {
		return
	}
	if cut, later := m.split(); cut > 0 {
		m.buf = appendChunk(m.buf, m.chunk[:cut])
		m.push(at, m.events-1, m.tokens-m.lastTokens)
		m.buf = appendChunk(m.buf, m.chunk[cut:])
		m.push(at+later, 1, m.lastTokens)
	} else {
		m.buf = appendChunk(m.buf, m.chunk)
		m.push(at, m.events, m.tokens)
	}
	m.chunk, m.events, m.tokens = m.chunk[:0], 0, 0
}

// split gives where a fault cuts the chunk, 0 for nowhere, and how much later
// the rest follows.
func (m *composer) split() (int, time.Duration) {
	if m.events == 0 {
		return 0, 0
	}
	if f := m.faults.get("split-utf8"); f != nil {
		for i := m.lastTo - 1; i > m.lastFrom; i-- {
			if !utf8.RuneStart(m.chunk[i]) {
				return i, f.duration
			}
		}
	}
	if f := m.faults.get("split-event"); f != nil {
		return (m.lastFrom + m.lastTo) / 2, f.duration
	}
	return 0, 0
}
