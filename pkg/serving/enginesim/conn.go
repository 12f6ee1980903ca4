package enginesim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How long and how much hangUp listens on to a client it has refused.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 20
)

// conn is one connection of the gateway port. Its goroutine reads requests
// and composes answers; the pacer writes them.
type conn struct {
	server   *Server
	net      *net.TCPConn
	raw      syscall.RawConn
	number   int
	requests int

	reader  requestReader
	request request
	stream  *stream
	compose composer
	head    []byte // scratch for a head that goes out early
	active  bool   // the stream has been started and not been waited for

	// The write in progress. One closure serves all writes, so that none of
	// them allocates.
	writing  func(fd uintptr) bool
	out      []byte
	written  int
	writeErr error
}

func newConn(s *Server, c *net.TCPConn, number int) (*conn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	v := &conn{server: s, net: c, raw: raw, number: number}
	v.reader = requestReader{in: bufio.NewReaderSize(c, 16<<10), out: c, maxBody: int64(s.profile.MaxBody)}
	v.stream = newStream(v, s)
	v.compose.p = &s.profile
	v.writing = func(fd uintptr) bool {
		v.written, v.writeErr = unix.Write(int(fd), v.out)
		return true
	}
	return v, nil
}

// write writes what the socket takes now, and never waits.
func (c *conn) write(b []byte) (int, error) {
	c.out = b
	if err := c.raw.Write(c.writing); err != nil {
		return 0, err
	}
	return c.written, c.writeErr
}

func (c *conn) close() { c.net.Close() }

// reset closes the connection with an RST.
func (c *conn) reset() {
	_ = c.net.SetLinger(0)
	c.close()
}

// serve answers requests until the connection ends.
func (c *conn) serve() {
	defer c.close()
	for {
		// While a stream is on its way, the wait for the next request is what
		// notices that the client has gone.
		_, err := c.reader.in.Peek(1)
		if !c.settle(err) {
			return
		}
		err = c.reader.read(&c.request)
		now := monotonic()
		var refused *httpError
		if errors.As(err, &refused) {
			c.hangUp(refused)
			return
		}
		if err != nil {
			return
		}
		c.requests++
		c.answer(now)
	}
}

// settle waits for the stream on its way, if any, once the next request
// begins to arrive or the connection has failed; false ends the connection.
func (c *conn) settle(err error) bool {
	if c.active {
		if err != nil {
			c.stream.cancel(c.server.causeOfEnd())
		}
		<-c.stream.done
		c.active = false
	}
	return err == nil
}

// answer starts the answer to the request that was read at time now.
func (c *conn) answer(now int64) {
	q := &c.request
	generates := q.path == completionsPath || q.path == chatPath
	switch {
	case generates && q.method == http.MethodPost:
		c.generate(now)
	case generates:
		c.reply(http.StatusMethodNotAllowed, (&apiError{http.StatusMethodNotAllowed, "BadRequestError", "", "use POST"}).body())
	case q.path == "/v1/models" && isRead(q.method):
		c.reply(http.StatusOK, c.server.modelList())
	case q.path == "/readiness" && isRead(q.method):
		c.reply(c.server.readiness())
	default:
		c.reply(http.StatusNotFound, (&apiError{http.StatusNotFound, "NotFoundError", "", fmt.Sprintf("there is no %.20s %.80s here", q.method, q.path)}).body())
	}
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// hangUp answers a request that could not be read, and ends the connection so
// that the answer arrives: closing with unread bytes would reset it.
func (c *conn) hangUp(why *httpError) {
	b := (&apiError{why.status, "BadRequestError", "", why.text}).body()
	head := appendHead(nil, why.status, jsonType, c.request.id, len(b), false)
	if _, err := c.net.Write(append(head, b...)); err != nil {
		return
	}
	_ = c.net.CloseWrite()
	_ = c.net.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c.reader.in, lingerBytes)
}

// reply answers at once, outside schedule and log.
func (c *conn) reply(status int, body []byte) {
	b := appendHead(nil, status, jsonType, c.request.id, len(body), !c.request.close)
	if c.request.method != http.MethodHead {
		b = append(b, body...)
	}
	if _, err := c.net.Write(b); err != nil || c.request.close {
		c.close()
	}
}

// newRecord counts a request in and opens its record.
func (c *conn) newRecord(now int64) (*Record, ticket) {
	c.server.active.Add(1)
	t := c.server.census.arrive(now)
	r := c.server.log.record()
	r.N, r.Burst, r.InFlight = t.number, t.burst, t.inFlight
	r.ID, r.Path = c.request.id, c.request.path
	r.Conn, r.OnConn = c.number, c.requests
	r.Read = now
	r.HeaderBytes, r.BodyBytes = c.request.headBytes, len(c.request.body)
	return r, t
}

// fail makes the error the answer of the stream that has begun.
func (c *conn) fail(now int64, e *apiError) {
	st := c.stream
	st.record.Status = e.status
	body := e.body()
	keep := !c.request.close
	st.script.buf = appendHead(st.script.buf, e.status, jsonType, c.request.id, len(body), keep)
	st.script.buf = append(st.script.buf, body...)
	st.script.keepAlive = keep
	st.script.push(0, 0, 0)
	c.active = true
	st.start(now)
}

// generate answers a request for tokens.
func (c *conn) generate(now int64) {
	r, t := c.newRecord(now)
	st := c.stream
	st.begin(r)
	s := c.server
	faults := s.faults.forRequest(subject{t.number, t.burst, t.place, c.request.id})
	for _, f := range faults {
		r.Faults = append(r.Faults, f.Name)
	}
	if f := faults.get("leak"); f != nil {
		s.leak(f.number)
	}
	in, failed := s.accept(&c.request, faults)
	if failed != nil {
		c.fail(now, failed)
		return
	}
	r.Stream, r.Status, r.PromptTokens = in.stream, http.StatusOK, len(in.prompt.tokens)
	if s.cache != nil {
		st.blocks = s.cache.chain(in.prompt.tokens)
		r.CachedTokens = s.cache.match(st.blocks, r.PromptTokens)
	}
	c.active = true
	c.script(&in, faults, r)
	if in.stream && s.profile.EarlyHeaders && !c.sendHead(r) {
		st.finish(EndWriteFail)
		return
	}
	if s.queue.enter(st) {
		st.placed = true
		st.start(now)
	}
}

// script composes the answer to in.
func (c *conn) script(in *completion, faults applied, r *Record) {
	m := &c.compose
	m.script, m.c, m.faults, m.n = &c.stream.script, in, faults, r.N
	m.keepAlive = !c.request.close
	m.w = c.server.eventWriter(in, faults, r)
	if !in.stream {
		m.whole(r.ID)
		return
	}
	if !m.p.EarlyHeaders {
		m.buf = appendHead(m.buf, 200, sseType, r.ID, -1, m.keepAlive)
	}
	m.stream()
}

// sendHead sends the response head of a stream ahead of its schedule.
func (c *conn) sendHead(r *Record) bool {
	c.head = appendHead(c.head[:0], 200, sseType, r.ID, -1, !c.request.close)
	at := monotonic()
	_, err := c.net.Write(c.head)
	r.Writes = append(r.Writes, Write{At: at, Due: r.Read, Bytes: len(c.head)})
	return err == nil
}

// causeOfEnd is why a connection that failed did so.
func (s *Server) causeOfEnd() string {
	if s.stopping.Load() {
		return EndShutdown
	}
	return EndClient
}

// accept decodes a request for tokens, or says why it is refused.
func (s *Server) accept(q *request, faults applied) (completion, *apiError) {
	if !s.ready.Load() || s.draining.Load() {
		return completion{}, &apiError{http.StatusServiceUnavailable, "ServiceUnavailableError", "", "the engine is not ready"}
	}
	if f := faults.get("status"); f != nil {
		return completion{}, &apiError{f.number, "SimulatedFault", "", fmt.Sprintf("simulated fault: status %d", f.number)}
	}
	in, failed := decodeCompletion(q.body, q.path == chatPath, s.name, &s.profile)
	if failed == nil && in.prompt.byID && faults.has("refuse-token-ids") {
		failed = invalid("prompt", "prompt must be a string: this engine takes no token ids")
	}
	return in, failed
}

func (s *Server) eventWriter(in *completion, faults applied, r *Record) eventWriter {
	kind := "cmpl-"
	if in.chat {
		kind = "chatcmpl-"
	}
	w := eventWriter{chat: in.chat, id: kind + requestName(r), model: s.name, created: s.created,
		promptTokens: r.PromptTokens, cachedTokens: r.CachedTokens, cacheReport: s.cacheReport}
	if f := faults.get("prompt-inflate"); f != nil {
		w.promptTokens = int(float64(r.PromptTokens) * f.factor)
	}
	return w
}

// requestName is what the answer's id is made of.
func requestName(r *Record) string {
	if r.ID != "" {
		return strings.ToValidUTF8(r.ID, "?")
	}
	return fmt.Sprintf("sim-%d", r.N)
}
