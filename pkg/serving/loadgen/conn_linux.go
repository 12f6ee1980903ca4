package loadgen

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelReader reads a TCP socket with recvmsg and takes the kernel's receive stamp from beside the bytes. The stamp
// is that of the last segment a read covered, wherever scheduling, the collector or parsing made the read late.
type kernelReader struct {
	raw  syscall.RawConn
	wall *wallOffset

	msg     unix.Msghdr
	iov     unix.Iovec
	control [128]byte
	pump    func(fd uintptr) bool
	buf     []byte
	limit   int
	took    func(n int, at int64, queued bool) int
	err     error
}

// newKernelReader turns stamps on; nil when the kernel refuses.
func newKernelReader(c *net.TCPConn, wall *wallOffset) *kernelReader {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	refused := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		// Without it (before Linux 4.18) a read more is needed to learn that there is nothing left.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1)
		delayAcks(fd)
	})
	if refused != nil || err != nil {
		return nil
	}
	k := &kernelReader{raw: raw, wall: wall}
	k.msg.Iov, k.msg.Iovlen, k.msg.Control = &k.iov, 1, &k.control[0]
	k.pump = k.drain
	return k
}

// read reads up to limit bytes at a time into b and hands them to took, with the monotonic time of the last of them and
// whether more is queued. took returns the next limit, 0 to end. It is one call for a whole answer: within it the
// poller keeps what it knows about the socket, so that no read has to find out that there is nothing to read.
func (k *kernelReader) read(b []byte, limit int, took func(n int, at int64, queued bool) int) error {
	k.buf, k.limit, k.took, k.err = b, limit, took, nil
	if err := k.raw.Read(k.pump); err != nil {
		return err
	}
	return k.err
}

// drain reads until the queue is empty (false) or took has enough. Reads are raw system calls: the socket does not
// block, so the scheduler need not hear of them, which spares a quarter of their CPU time.
func (k *kernelReader) drain(fd uintptr) bool {
	for {
		k.iov.Base = &k.buf[0]
		k.iov.SetLen(k.limit)
		k.msg.SetControllen(len(k.control))
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&k.msg)), 0)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			return false
		case errno != 0:
			k.err = os.NewSyscallError("recvmsg", errno)
			return true
		case n == 0:
			k.err = io.EOF
			return true
		}
		at, queued := k.stamp()
		if k.limit = k.took(int(n), at, queued != 0); k.limit == 0 {
			return true
		}
		if queued == 0 {
			return false
		}
	}
}

// stamp finds the time and the number of bytes still queued (-1 when not told) in the control messages.
func (k *kernelReader) stamp() (at int64, queued int) {
	at, queued = 0, -1
	const header = int(unsafe.Sizeof(unix.Cmsghdr{}))
	for rest := k.control[:k.msg.Controllen]; len(rest) >= header; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&rest[0]))
		data := unsafe.Pointer(&rest[unix.CmsgLen(0)])
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS:
			at = k.wall.mono((*unix.Timespec)(data).Nano())
		case h.Level == unix.IPPROTO_TCP && h.Type == unix.TCP_CM_INQ:
			queued = int(*(*int32)(data))
		}
		rest = rest[min(max(unix.CmsgSpace(int(h.Len)-unix.CmsgLen(0)), header), len(rest)):]
	}
	if at == 0 {
		at = Now()
	}
	return at, queued
}

// delayAcks puts the connection into the state in which one that answers requests without a pause is anyway. Each
// segment on loopback then keeps its own receive stamp while it waits: one that was acknowledged is merged with the
// next, and its stamp is lost. The state ends with a pause, so it is set before each request.
func delayAcks(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0)
}

// stale reports that the engine closed the idle connection, or sent bytes nobody asked for. It readies one that stands.
func (c *conn) stale() bool {
	if c.kernel == nil {
		return false
	}
	alive := false
	err := c.kernel.raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN
		delayAcks(fd)
	})
	return err != nil || !alive
}

// readTCPInfo asks the kernel about a connection.
func readTCPInfo(c *net.TCPConn) (info tcpInfo) {
	raw, err := c.SyscallConn()
	if err != nil {
		return info
	}
	_ = raw.Control(func(fd uintptr) {
		if ti, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			info = tcpInfo{int(ti.Total_retrans), time.Duration(ti.Rtt) * time.Microsecond, true}
		}
	})
	return info
}
