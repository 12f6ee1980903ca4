package enginesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// gateway accepts the connections of the gateway port.
type gateway struct {
	server   *Server
	listener *net.TCPListener

	mu     sync.Mutex
	open   map[*conn]struct{}
	total  int
	closed bool
	wg     sync.WaitGroup
}

func newGateway(s *Server, l *net.TCPListener) *gateway {
	return &gateway{server: s, listener: l, open: make(map[*conn]struct{})}
}

// run accepts until the listener is closed.
func (g *gateway) run() {
	faults := &g.server.faults
	for n := 1; ; n++ {
		if faults.forConnection("refuse-connect", n) != nil {
			g.server.logf("gateway stops listening: simulated fault refuse-connect")
			g.listener.Close()
			return
		}
		if f := faults.forConnection("accept-pause", n); f != nil {
			time.Sleep(f.duration)
		}
		c, err := g.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors: what is open must end before more can come.
			g.server.logf("gateway cannot accept: %v", err)
			time.Sleep(10 * time.Millisecond)
			n--
			continue
		}
		g.welcome(c, n)
	}
}

func (g *gateway) welcome(nc *net.TCPConn, n int) {
	c, err := newConn(g.server, nc, n)
	if err != nil {
		nc.Close()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total = n
	if g.server.faults.forConnection("reset-connect", n) != nil {
		c.reset()
		return
	}
	if g.closed {
		c.close()
		return
	}
	g.open[c] = struct{}{}
	g.wg.Go(func() {
		c.serve()
		g.mu.Lock()
		delete(g.open, c)
		g.mu.Unlock()
	})
}

// close ends all connections and waits for their goroutines.
func (g *gateway) close() {
	g.listener.Close()
	g.mu.Lock()
	g.closed = true
	for c := range g.open {
		c.close()
	}
	g.mu.Unlock()
	g.wg.Wait()
}

func (g *gateway) connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

// readiness is what /readiness and the control port's /health say.
func (s *Server) readiness() (int, []byte) {
	if s.ready.Load() && !s.draining.Load() {
		return http.StatusOK, []byte(`{"status":"ready"}`)
	}
	return http.StatusServiceUnavailable, []byte(`{"status":"not ready","reason":"no engine is reachable"}`)
}

func (s *Server) modelList() []byte {
	return fmt.Appendf(nil, `{"object":"list","data":[{"id":%s,"object":"model","created":%d,"owned_by":"engine-sim","max_model_len":%d}]}`,
		jsonText(s.name), s.created, s.profile.MaxModelLen)
}

func jsonText(s string) []byte {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}
