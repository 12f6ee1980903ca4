package enginesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what to serve, and where.
type Config struct {
	Model      string // what the command line names
	ServedName string // what requests must ask for; "" means Model
	Host       string // "" means 127.0.0.1
	Port       int    // 0 takes a free one
	// ControlPort is the control port; 0 takes a free one, negative opens none.
	ControlPort int
	Profile     Profile
	// CacheReport puts the cached tokens into usage.
	CacheReport bool
	// SendLog receives the send log; nil keeps none. Close ends it, and does
	// not close the writer.
	SendLog io.Writer
	// SendLogLimit bounds the send log in bytes; 0 means 1 GiB.
	SendLogLimit int64
	// Say receives lines for people, without a newline; nil drops them. It is
	// called from several goroutines, one at a time.
	Say func(format string, args ...any)
}

// Server is a running simulator.
type Server struct {
	model, name string
	profile     Profile
	cacheReport bool
	created     int64 // Unix seconds, for the answers

	faults  faultSet
	census  census
	queue   admission
	cache   *prefixCache
	pacer   *pacer
	log     *logWriter
	gateway *gateway
	control *http.Server
	ctlAddr net.Addr
	say     func(format string, args ...any)
	sayMu   sync.Mutex

	// active counts the streams that have not been finished. It lags behind
	// the census, which counts a request out before its last write.
	active   atomic.Int64
	ready    atomic.Bool
	draining atomic.Bool
	stopping atomic.Bool
	readyC   chan struct{}
	died     chan int
	timer    *time.Timer
	leakMu   sync.Mutex
	leaked   [][]byte
}

// Start binds the ports and begins the start-up. The server is ready after its
// profile's start-up time; see Ready. A gateway port that cannot be bound is
// an error; a control port that cannot is a warning, as in the engine.
func Start(c Config) (*Server, error) {
	s := &Server{model: c.Model, name: c.ServedName, profile: c.Profile, cacheReport: c.CacheReport,
		created: time.Now().Unix(), say: c.Say, readyC: make(chan struct{}), died: make(chan int, 1)}
	if s.name == "" {
		s.name = c.Model
	}
	if c.Host == "" {
		c.Host = "127.0.0.1"
	}
	s.faults = faultSet{all: s.profile.Faults, seed: uint64(s.profile.Seed)}
	s.queue.limit = s.profile.MaxRunning
	if s.profile.PrefixCache {
		s.cache = newPrefixCache(s.profile.BlockSize, s.profile.CacheBlocks)
	}
	if err := s.open(c); err != nil {
		return nil, err
	}
	s.begin()
	return s, nil
}

// open takes what can fail: ports, timer, log.
func (s *Server) open(c Config) error {
	l, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port)))
	if err != nil {
		return fmt.Errorf("binding the gateway port: %w", err)
	}
	listener := l.(*net.TCPListener)
	if err := s.shrinkBacklog(listener); err != nil {
		l.Close()
		return err
	}
	if s.pacer, err = newPacer(); err != nil {
		l.Close()
		return err
	}
	s.census = census{started: monotonic(), burstGap: s.profile.BurstGap}
	if c.SendLogLimit == 0 {
		c.SendLogLimit = 1 << 30
	}
	if c.SendLog == nil {
		c.SendLog = io.Discard
	}
	s.log, err = newLogWriter(c.SendLog, c.SendLogLimit, Header{Version: sendLogVersion, Model: s.name,
		PID: os.Getpid(), Started: s.census.started, WallOffset: wallOffset()})
	if err != nil {
		l.Close()
		s.pacer.close()
		return err
	}
	s.gateway = newGateway(s, listener)
	s.openControl(c)
	return nil
}

func (s *Server) openControl(c Config) {
	if c.ControlPort < 0 {
		return
	}
	err := errors.New("simulated fault no-control")
	var l net.Listener
	if s.faults.process("no-control") == nil {
		l, err = net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.ControlPort)))
	}
	if err != nil {
		s.logf("warning: control server could not bind its port, going on without: %v", err)
		return
	}
	s.ctlAddr = l.Addr()
	s.control = s.serveControl(l)
}

// begin lets connections in and the start-up time run.
func (s *Server) begin() {
	s.logf("loading model %s", s.model)
	go s.gateway.run()
	if f := s.faults.process("die-at-start"); f != nil {
		s.timer = time.AfterFunc(s.profile.Startup/2, func() {
			s.logf("error: engine died while loading the model: simulated fault die-at-start")
			s.die(f.number)
		})
		return
	}
	if s.faults.process("never-ready") != nil {
		return
	}
	if s.profile.Startup == 0 {
		s.becomeReady()
		return
	}
	s.timer = time.AfterFunc(s.profile.Startup, s.becomeReady)
}

func (s *Server) becomeReady() {
	s.ready.Store(true)
	close(s.readyC)
	s.logf("gateway ready, serving %s on %s", s.name, s.Addr())
	if url := s.ControlURL(); url != "" {
		s.logf("control port ready, %s", url)
	}
}

// Addr is the address of the gateway port, host:port.
func (s *Server) Addr() string { return s.gateway.listener.Addr().String() }

// URL is the base URL of the gateway port.
func (s *Server) URL() string { return "http://" + s.Addr() }

// ControlURL is the base URL of the control port, "" when there is none.
func (s *Server) ControlURL() string {
	if s.ctlAddr == nil {
		return ""
	}
	return "http://" + s.ctlAddr.String()
}

// Ready is closed when the server is ready.
func (s *Server) Ready() <-chan struct{} { return s.readyC }

// Died receives the exit status of a death that a fault brings about.
func (s *Server) Died() <-chan int { return s.died }

// Summary gives the counts so far.
func (s *Server) Summary() Summary {
	sum := s.census.summary()
	sum.Connections = s.gateway.connections()
	return sum
}

// Drain refuses new requests and waits until those in flight have ended, or
// ctx is done: then its error is returned.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Store(true)
	s.gateway.listener.Close()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.active.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("draining %d requests: %w", s.active.Load(), ctx.Err())
		}
	}
	return nil
}

// Close ends all connections, the ports and the send log.
func (s *Server) Close() error {
	if s.stopping.Swap(true) {
		return nil
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.gateway.close()
	s.pacer.close()
	if s.control != nil {
		s.control.Close()
	}
	return s.log.close(s.Summary())
}

// logf says one line to people.
func (s *Server) logf(format string, args ...any) {
	if s.say == nil {
		return
	}
	s.sayMu.Lock()
	defer s.sayMu.Unlock()
	s.say(format, args...)
}
