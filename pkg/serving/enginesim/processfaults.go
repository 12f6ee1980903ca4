package enginesim

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// maxLeak bounds what the fault leak keeps, in bytes.
const maxLeak = 2048 << 20

// exitMidRun is the exit status of the fault die-after.
const exitMidRun = 70

// die reports a death; the first one counts.
func (s *Server) die(status int) {
	select {
	case s.died <- status:
	default:
	}
}

// prefilled is told when request n sends its first tokens.
func (s *Server) prefilled(n int, blocks []uint64) {
	if s.cache != nil {
		s.cache.insert(blocks)
	}
	if f := s.faults.process("die-after"); f != nil && n >= f.number {
		s.die(exitMidRun)
	}
}

// leak keeps mib MiB more, resident, until maxLeak is reached.
func (s *Server) leak(mib int) {
	s.leakMu.Lock()
	defer s.leakMu.Unlock()
	kept := 0
	for _, b := range s.leaked {
		kept += len(b)
	}
	if kept+mib<<20 > maxLeak {
		return
	}
	b := make([]byte, mib<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	s.leaked = append(s.leaked, b)
}

// shrinkBacklog makes the accept queue as short as the fault backlog wants: a
// second listen on a listening socket sets it anew.
func (s *Server) shrinkBacklog(l *net.TCPListener) error {
	f := s.faults.process("backlog")
	if f == nil {
		return nil
	}
	raw, err := l.SyscallConn()
	if err == nil {
		var inner error
		err = raw.Control(func(fd uintptr) { inner = unix.Listen(int(fd), f.number) })
		if err == nil {
			err = inner
		}
	}
	if err != nil {
		return fmt.Errorf("setting the accept queue: %w", err)
	}
	return nil
}
