package loadgen

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// conn is one connection to the engine, for one stream at a time.
type conn struct {
	net.Conn
	tcp    *net.TCPConn
	kernel *kernelReader // nil: user clock
	// dialled is how long it took to stand, stood when.
	dialled time.Duration
	stood   int64
	// idle is when it last became free.
	idle int64
	// begin are the kernel's counters when it stood.
	begin tcpInfo
}

// tcpInfo is what TCP_INFO tells about a connection; ok is false where it is not to be had.
type tcpInfo struct {
	retransmits int
	rtt         time.Duration
	ok          bool
}

// dialer opens connections as the plan wants them. It knows no proxies and no pool.
type dialer struct {
	target  target
	tls     *tls.Config
	timeout time.Duration
	wall    *wallOffset
}

// dial opens one connection, handshake included.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	start := Now()
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.target.address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, tcp: nc.(*net.TCPConn)}
	if d.target.secure {
		secured := tls.Client(nc, d.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, err
		}
		c.Conn = secured
	} else {
		c.kernel = newKernelReader(c.tcp, d.wall)
	}
	c.stood = Now()
	c.idle = c.stood
	c.dialled = time.Duration(c.stood - start)
	c.begin = readTCPInfo(c.tcp)
	return c, nil
}

// read reads an answer: up to limit bytes at a time into b, handed to took with the time at which the last of them came
// and whether more is queued. took returns the next limit, 0 to end.
func (c *conn) read(b []byte, limit int, took func(n int, at int64, queued bool) int) error {
	if c.kernel != nil {
		return c.kernel.read(b, limit, took)
	}
	for limit > 0 {
		n, err := c.Conn.Read(b)
		if n > 0 {
			limit = took(n, Now(), false)
		}
		if err != nil && limit > 0 {
			return err
		}
	}
	return nil
}

// expiry is the shortest time after which a server is taken to close an idle connection.
const expiry = time.Second

// mayHaveExpired tells whether a connection that ended with err, before a byte of the answer, was closed for idleness
// or after its last answer while the request was under way: the one case in which sending again is right. A reset says
// that nobody read the request. An orderly close of a connection that had no pause is a crash or done on purpose, and
// that is the engine's failure; where stale cannot be asked any pause will do.
func (c *conn) mayHaveExpired(sent int64, err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		c.kernel == nil || time.Duration(sent-c.idle) >= expiry
}

// clock says where read's times come from.
func (c *conn) clock() Clock {
	if c.kernel != nil {
		return KernelClock
	}
	return UserClock
}

// connectClass names why a dial failed.
func connectClass(ctx context.Context, err error) Class {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return Canceled
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnectRefused
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT),
		errors.As(err, &timeout) && timeout.Timeout():
		return ConnectTimeout
	}
	return ConnectFailed
}
