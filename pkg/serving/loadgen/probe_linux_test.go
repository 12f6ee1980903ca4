package loadgen

import (
	"maps"
	"os"
	"testing"
	"time"
)

func TestParseCounters(t *testing.T) {
	got := map[string]int64{}
	parseCounters(got, "TcpExt: SyncookiesSent TCPTimeouts TCPSynRetrans ListenOverflows ListenDrops\nTcpExt: 0 12 3 4 5\n"+
		"IpExt: InOctets\nIpExt: 7\n")
	parseCounters(got, "Tcp: RtoAlgorithm RetransSegs\nTcp: 1 -6\nUdp: InDatagrams\n")
	want := map[string]int64{"TCPTimeouts": 12, "TCPSynRetrans": 3, "ListenOverflows": 4, "ListenDrops": 5, "RetransSegs": -6}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	parseCounters(got, "garbage\n\nA: b\nC: d\n")
	if !maps.Equal(got, want) {
		t.Errorf("after garbage: got %v", got)
	}
}

func FuzzParseCounters(f *testing.F) {
	for _, path := range []string{"/proc/net/netstat", "/proc/net/snmp"} {
		if b, err := os.ReadFile(path); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(func(_ *testing.T, text string) { parseCounters(map[string]int64{}, text) })
}

// The clock is CLOCK_MONOTONIC to some microseconds, and kernel stamps come out on it.
func TestClockIsTheSystems(t *testing.T) {
	closest := int64(1 << 62)
	for range 100 {
		before := systemMonotonic()
		mid := Now()
		after := systemMonotonic()
		off := max(before-mid, mid-after, 0)
		closest = min(closest, off)
	}
	if closest > int64(time.Millisecond) {
		t.Errorf("off by %d ns", closest)
	}
	var w wallOffset
	w.take()
	if d := w.mono(time.Now().UnixNano()) - Now(); d > int64(time.Second) || d < -int64(time.Second) {
		t.Errorf("a wall time converts %d ns off", d)
	}
	w.offset.Add(int64(time.Second))
	w.take()
	if w.steps.Load() != 1 {
		t.Error("a step of the wall clock is not noticed")
	}
}

// The receive stamp lies between the engine's write and the read.
func TestKernelStamps(t *testing.T) {
	e := startEngine(t, &fakeEngine{first: 10 * time.Millisecond, gap: time.Millisecond})
	before := Now()
	res := mustRun(t, smallPlan(e))
	after := Now()
	allOK(t, res)
	if res.Clock != KernelClock {
		t.Fatalf("clock: got %s", res.Clock)
	}
	for i := range res.Requests {
		q := &res.Requests[i]
		if q.FirstByte < before || q.Done > after || q.FirstEvent-q.Sent < int64(e.first) {
			t.Errorf("request %d: %d..%d not in %d..%d", i, q.FirstByte, q.Done, before, after)
		}
	}
}
