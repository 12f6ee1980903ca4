package enginesim

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// retryAfter is how long a write waits when the client does not read. The
// pacer serves everybody and must not wait with it.
const retryAfter = int64(time.Millisecond)

// stream is the answer to one request on its way. A connection has one, used
// again for each request. From start to done it belongs to the pacer's
// goroutine; the connection's may only call cancel, and wait for done.
type stream struct {
	conn   *conn
	server *Server
	job    *job
	script script
	record *Record
	blocks []uint64 // prompt prefix, to be cached at the first tokens

	base   int64 // start of the schedule
	next   int   // index of the next write
	from   int   // where in the script's buffer it begins
	tries  int   // of the next write that were put off
	placed bool  // it holds a place of the admission queue
	gone   bool  // it is counted out of the requests in flight
	ended  bool

	cancelled atomic.Pointer[string] // an End constant
	done      chan struct{}
}

func newStream(c *conn, s *Server) *stream {
	st := &stream{conn: c, server: s, done: make(chan struct{}, 1)}
	st.job = newJob(st.fire)
	return st
}

// begin makes st ready for a request that has arrived.
func (st *stream) begin(r *Record) {
	st.script.reset()
	st.record = r
	st.blocks = nil
	st.next, st.from, st.tries = 0, 0, 0
	st.placed, st.gone, st.ended = false, false, false
	st.cancelled.Store(nil)
}

// start puts the script on the schedule that begins at base.
func (st *stream) start(base int64) {
	st.base = base
	st.record.Admitted = base
	switch {
	case len(st.script.writes) > 0:
		st.server.pacer.add(st.job, st.dueNext())
	case st.script.ending == endHang:
	default:
		st.server.pacer.add(st.job, base)
	}
}

// cancel ends the stream from outside, for the reason given.
func (st *stream) cancel(end string) {
	st.cancelled.CompareAndSwap(nil, &end)
	st.server.pacer.hurry(st.job)
}

func (st *stream) dueNext() int64 { return st.base + int64(st.script.writes[st.next].at) }

// fire does the write that is due.
func (st *stream) fire() int64 {
	if st.ended {
		return never
	}
	if why := st.cancelled.Load(); why != nil {
		return st.finish(*why)
	}
	if st.next == len(st.script.writes) {
		return st.finish(EndFault) // cut before the first write
	}
	w := st.script.writes[st.next]
	last := st.next == len(st.script.writes)-1
	now := monotonic()
	if last && st.script.ending != endHang {
		// Before the bytes: whoever reads them may send the next request
		// before this goroutine runs again.
		st.leave(now)
	}
	n, err := st.conn.write(st.script.buf[st.from:w.to])
	st.from += max(n, 0)
	switch {
	case err != nil && !errors.Is(err, unix.EAGAIN):
		return st.finish(EndWriteFail)
	case st.from < w.to:
		st.record.Retries++
		return now + retryAfter
	}
	st.note(w, now)
	if !last {
		return st.dueNext()
	}
	return st.afterLast()
}

// note logs a write, and what the first tokens bring about.
func (st *stream) note(w planned, now int64) {
	bytes := w.to
	if st.next > 0 {
		bytes -= st.script.writes[st.next-1].to
	}
	due := st.dueNext()
	st.next++
	r := st.record
	r.Writes = append(r.Writes, Write{At: now, Due: due, Bytes: bytes, Events: w.events, Tokens: w.tokens})
	if w.tokens > 0 && r.OutputTokens == 0 {
		st.server.prefilled(r.N, st.blocks)
	}
	r.OutputTokens += w.tokens
}

func (st *stream) afterLast() int64 {
	switch st.script.ending {
	case endHang:
		return never // until the client goes away or the server stops
	case endComplete:
		if st.record.Status >= 400 {
			return st.finish(EndRefused)
		}
		return st.finish(EndOK)
	}
	return st.finish(EndFault)
}

// leave counts the request out and hands its place on.
func (st *stream) leave(now int64) {
	if st.gone {
		return
	}
	st.gone = true
	st.record.Ended = now
	st.server.census.depart(now)
	if !st.placed {
		return
	}
	if heir := st.server.queue.leave(); heir != nil {
		heir.placed = true
		heir.start(now)
	}
}

// finish ends the stream and lets its connection go on.
func (st *stream) finish(end string) int64 {
	st.ended = true
	if !st.placed {
		st.server.queue.drop(st)
	}
	st.leave(monotonic())
	if end == EndWriteFail && st.server.stopping.Load() {
		end = EndShutdown
	}
	st.record.End = end
	st.server.log.put(st.record)
	if !st.script.keepAlive || end != EndOK && end != EndRefused && st.script.ending != endCutShort {
		st.conn.close()
	}
	st.server.active.Add(-1)
	st.done <- struct{}{}
	return never
}
