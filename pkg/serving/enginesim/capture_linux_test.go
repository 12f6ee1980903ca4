package enginesim

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// segment is one TCP segment of the gateway port as the kernel saw it leave.
type segment struct {
	at    int64 // CLOCK_MONOTONIC, ns
	bytes int   // of payload
}

// capture records what leaves a port of the loopback, with the kernel's time.
type capture struct {
	fd   int
	port int
}

func openCapture(t *testing.T, port int) *capture {
	t.Helper()
	// All protocols: a socket for IP alone is not shown what leaves.
	protocol := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(protocol))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skip("capturing packets takes CAP_NET_RAW")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
	check(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20))
	check(unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: protocol, Ifindex: lo.Index}))
	return &capture{fd, port}
}

// segments gives the payload-carrying segments from the port, by the port they
// went to. What has been sent has been captured, so it waits for nothing.
func (c *capture) segments(t *testing.T) map[int][]segment {
	t.Helper()
	all := map[int][]segment{}
	offset := wallOffset()
	packet, oob := make([]byte, 1<<17), make([]byte, 128)
	for {
		n, oobn, _, from, err := unix.Recvmsg(c.fd, packet, oob, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		// The loopback shows each packet leaving and arriving; take one.
		if ll, ok := from.(*unix.SockaddrLinklayer); !ok || ll.Pkttype != unix.PACKET_OUTGOING {
			continue
		}
		to, payload, ok := payloadFrom(packet[:n], c.port)
		if ok && payload > 0 {
			all[to] = append(all[to], segment{kernelTime(t, oob[:oobn]) - offset, payload})
		}
	}
}

// payloadFrom reads an IPv4 packet: where a TCP segment from the port goes,
// and how much it carries.
func payloadFrom(p []byte, port int) (to, payload int, ok bool) {
	if len(p) < 40 || p[0]>>4 != 4 || p[9] != unix.IPPROTO_TCP {
		return 0, 0, false
	}
	head := int(p[0]&15) * 4
	tcp := p[head:]
	if int(binary.BigEndian.Uint16(tcp)) != port {
		return 0, 0, false
	}
	return int(binary.BigEndian.Uint16(tcp[2:])), len(tcp) - int(tcp[12]>>4)*4, true
}

func kernelTime(t *testing.T, oob []byte) int64 {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS {
			return (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano()
		}
	}
	t.Fatal("a packet without a time")
	return 0
}

// TestLogAgainstCapture checks the send log's claim once against the kernel's
// own record: every write of the log is a segment of the capture, of the same
// size and in the same order, that left after the time in the log and soon.
func TestLogAgainstCapture(t *testing.T) {
	p := quick()
	p.TTFT, p.ITL = 20*time.Millisecond, 2*time.Millisecond
	s := launch(t, p)
	c := openCapture(t, s.gateway.listener.Addr().(*net.TCPAddr).Port)
	ports := map[int]int{} // connection number to client port
	for n := 1; n <= 4; n++ {
		conn := s.dial()
		ports[n] = conn.LocalAddr().(*net.TCPAddr).Port
		conn.Write([]byte(post(completionsPath, streamBody, "Connection: close")))
		readAll(t, conn)
	}
	captured := c.segments(t)
	var lates []time.Duration
	for _, r := range s.log().Records {
		segments := captured[ports[r.Conn]]
		if len(segments) != len(r.Writes) {
			t.Fatalf("request %d: %d writes in the log, %d segments captured", r.N, len(r.Writes), len(segments))
		}
		for k, w := range r.Writes {
			seg := segments[k]
			if seg.bytes != w.Bytes {
				t.Errorf("request %d, write %d: %d bytes in the log, %d captured", r.N, k, w.Bytes, seg.bytes)
			}
			// Two clocks are compared by an offset that is itself measured.
			late := time.Duration(seg.at - w.At)
			if late < -100*time.Microsecond || late > 100*time.Millisecond {
				t.Errorf("request %d, write %d: captured %s after the time in the log", r.N, k, late)
			}
			lates = append(lates, late)
			if k > 0 && seg.at < segments[k-1].at {
				t.Errorf("request %d, write %d: captured before the one before", r.N, k)
			}
		}
	}
	t.Logf("%d writes, captured after the logged time: median %s", len(lates), median(lates))
}
