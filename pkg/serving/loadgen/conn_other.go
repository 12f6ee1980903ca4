//go:build !linux

package loadgen

import "net"

// kernelReader has no portable counterpart: stamps are taken when the read returns.
type kernelReader struct{}

func newKernelReader(*net.TCPConn, *wallOffset) *kernelReader { return nil }

func (*kernelReader) read([]byte, int, func(int, int64, bool) int) error { return nil }

// stale cannot be asked without reading; a request on a closed connection is written again instead.
func (*conn) stale() bool { return false }

func readTCPInfo(*net.TCPConn) tcpInfo { return tcpInfo{} }
