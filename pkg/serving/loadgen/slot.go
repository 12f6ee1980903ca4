package loadgen

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// readSize is what one read can take. It is small enough to touch beforehand for thousands of slots, and holds more
// events than a server writes at once.
const readSize = 16 << 10

// slot is one stream: a connection, the parsers and their buffers, reused from request to request.
type slot struct {
	id     int
	dial   *dialer
	conn   *conn
	wake   chan struct{}
	stream stream
	buf    []byte
	lag    *lags
	stats  slotStats

	took func(n int, at int64, queued bool) int // take
	bad  error                                  // what take found wrong

	lastRead atomic.Int64 // when bytes last came
	closing  atomic.Bool  // the stream said it was over, the body has not ended

	mu     sync.Mutex
	active bool
	sent   int64
	cause  Class // why the watchdog ended the request
	looked int64 // the lastRead after which it nudged
}

// slotStats counts what becomes of a slot's connections. Only the slot's goroutine writes it.
type slotStats struct {
	dialled, redialled, failed int
	times                      []float64 // ms
	syn                        int       // SYN retransmissions
	retransmits                int
	maxRTT                     time.Duration
	unknown                    bool // a connection without TCP_INFO
}

// ready allocates and touches the slot's buffers.
func (s *slot) ready(chat bool) {
	if s.buf != nil {
		return
	}
	s.buf = touched[byte](readSize)
	s.lag = new(lags)
	s.took = s.take
	s.stream.prepare(chat)
}

// touched makes a slice whose pages are there: a page fault while streaming costs more than parsing an event.
func touched[T any](n int) []T {
	b := make([]T, n)
	var zero T
	for i := range b {
		b[i] = zero
	}
	return b
}

// connect dials and books the connection.
func (s *slot) connect(ctx context.Context) error {
	c, err := s.dial.dial(ctx)
	if err != nil {
		s.stats.failed++
		return err
	}
	s.conn = c
	s.stats.dialled++
	s.stats.times = append(s.stats.times, float64(c.dialled)/1e6)
	s.stats.syn += c.begin.retransmits
	s.stats.unknown = s.stats.unknown || !c.begin.ok
	return nil
}

// drop closes the connection and books what the kernel knows of it.
func (s *slot) drop() {
	if s.conn == nil {
		return
	}
	if end := readTCPInfo(s.conn.tcp); end.ok {
		s.stats.retransmits += end.retransmits - s.conn.begin.retransmits
		s.stats.maxRTT = max(s.stats.maxRTT, end.rtt)
	}
	s.conn.Close()
	s.conn = nil
}

// perform sends one request and takes its answer in. written is called once the request is on its way, or as soon as
// it turns out that it will take longer.
func (s *slot) perform(ctx context.Context, o *order, r *Request, tolerate []Class, written func()) {
	defer written()
	r.Dispatch = Now()
	reused := s.conn != nil
	if reused && s.conn.stale() {
		s.drop()
		reused = false
	}
	for {
		if s.conn == nil {
			written()
			r.Redialled = true
			s.stats.redialled++
			if err := s.connect(ctx); err != nil {
				r.End = Now()
				r.Failure, r.Detail = connectClass(ctx, err), err.Error()
				return
			}
		}
		r.Connected = s.conn.stood
		err := s.exchange(o, r, written)
		cause := s.finish()
		ended := cause != ""
		r.End = Now()
		if r.Done != 0 {
			r.End, cause = r.Done, "" // it was over before the watchdog's word took effect
		}
		again := reused && r.FirstByte == 0 && err != nil && cause == "" && s.conn.mayHaveExpired(r.Sent, err)
		if err != nil || ended || !s.stream.reusable() {
			s.drop()
		} else {
			s.conn.idle = r.End
		}
		if again {
			reused, r.Retried = false, true
			continue
		}
		s.stream.judge(r, o, err, cause, tolerate)
		return
	}
}

// exchange writes the request and reads until its answer has ended.
func (s *slot) exchange(o *order, r *Request, written func()) error {
	s.stream.begin(r)
	s.bad = nil
	s.closing.Store(false)
	s.mu.Lock()
	s.active, s.cause = true, ""
	s.sent = Now()
	s.lastRead.Store(s.sent)
	s.mu.Unlock()

	r.Sent = Now()
	_, err := s.conn.Write(o.wire)
	r.Written = Now()
	written()
	if err != nil {
		return err
	}
	return s.receive()
}

// receive reads the answer to its end.
func (s *slot) receive() error {
	for {
		err := s.conn.read(s.buf, s.stream.limit(), s.took)
		switch {
		case err == nil:
			return s.bad
		case errors.Is(err, io.EOF) && s.stream.closed():
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && s.nudged():
			continue
		}
		return err
	}
}

// take is the hot path: what one read brought.
func (s *slot) take(n int, at int64, queued bool) (limit int) {
	st := &s.stream
	if s.conn.kernel != nil {
		s.lag.add(Now() - at)
		st.pace.read(n, at, queued)
	}
	s.lastRead.Store(at)
	if st.r.FirstByte == 0 {
		st.r.FirstByte = at
	}
	over, bad := st.take(s.buf[:n], at)
	if s.bad = bad; over || bad != nil {
		return 0
	}
	if st.done {
		s.closing.Store(true)
	}
	return st.limit()
}

// nudged tells a read that was only to look again from one that was to end.
func (s *slot) nudged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != "" {
		return false
	}
	s.conn.SetReadDeadline(time.Time{})
	return true
}

// nudge makes a silent stream look at its socket again, once a silence: a reset that comes together with data is not
// announced a second time.
func (s *slot) nudge() {
	if last := s.lastRead.Load(); s.active && s.conn.kernel != nil && s.cause == "" && s.looked != last {
		s.looked = last
		s.conn.SetReadDeadline(past)
	}
}

// finish ends the watchdog's interest in the request and returns the cause if it ended it.
func (s *slot) finish() Class {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = false
	return s.cause
}

// past makes any blocked read or write return.
var past = time.Unix(1, 0)

// end breaks the running request off, if there is one.
func (s *slot) end(cause Class) {
	if s.active && s.cause == "" {
		s.cause = cause
		s.conn.SetDeadline(past)
	}
}
