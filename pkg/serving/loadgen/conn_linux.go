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
	control [64]byte
	once    func(fd uintptr) bool
	n       int
	errno   syscall.Errno
}

// newKernelReader turns stamps on; nil when the kernel refuses.
func newKernelReader(c *net.TCPConn, wall *wallOffset) *kernelReader {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	refused := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if refused != nil || err != nil {
		return nil
	}
	k := &kernelReader{raw: raw, wall: wall}
	k.msg.Iov, k.msg.Iovlen, k.msg.Control = &k.iov, 1, &k.control[0]
	k.once = k.recv
	return k
}

// recv is one try. It is a raw system call: the socket does not block, so the scheduler need not hear of it, which
// spares a quarter of the CPU time of a read.
func (k *kernelReader) recv(fd uintptr) bool {
	for {
		k.msg.SetControllen(len(k.control))
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&k.msg)), 0)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		}
		k.n, k.errno = int(n), errno
		return true
	}
}

// read waits for bytes and returns the monotonic time of the last of them.
func (k *kernelReader) read(b []byte) (int, int64, error) {
	k.iov.Base = &b[0]
	k.iov.SetLen(len(b))
	if err := k.raw.Read(k.once); err != nil {
		return 0, Now(), err
	}
	switch {
	case k.errno != 0:
		return 0, Now(), os.NewSyscallError("recvmsg", k.errno)
	case k.n == 0:
		return 0, Now(), io.EOF
	}
	return k.n, k.stamp(), nil
}

// stamp finds the time in the control message, whose layout is a header and a timespec.
func (k *kernelReader) stamp() int64 {
	const size = int(unsafe.Sizeof(unix.Timespec{}))
	if int(k.msg.Controllen) < unix.CmsgLen(size) {
		return Now()
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&k.control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return Now()
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&k.control[unix.CmsgLen(0)]))
	return k.wall.mono(ts.Nano())
}

// stale reports that the engine closed the idle connection, or sent bytes nobody asked for.
func (c *conn) stale() bool {
	if c.kernel == nil {
		return false
	}
	alive := false
	err := c.kernel.raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN
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
