package loadgen

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the CPU time of this process so far.
func processCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runDelay sums the time that threads of this process were runnable and waited for a core.
func runDelay() time.Duration {
	tasks, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil || len(tasks) == 0 {
		return -1
	}
	var sum time.Duration
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		if f := bytes.Fields(b); len(f) == 3 {
			ns, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// hostKeys are the counters that tell a transport stall from a slow engine.
var hostKeys = map[string]bool{
	"TcpExt.TCPTimeouts": true, "TcpExt.TCPSynRetrans": true, "TcpExt.ListenOverflows": true, "TcpExt.ListenDrops": true,
	"Tcp.RetransSegs": true,
}

// hostCounters reads them; nil when the kernel shows none.
func hostCounters() map[string]int64 {
	m := map[string]int64{}
	for _, path := range []string{"/proc/net/netstat", "/proc/net/snmp"} {
		if b, err := os.ReadFile(path); err == nil {
			parseCounters(m, string(b))
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// parseCounters reads pairs of lines: "Group: name name", "Group: value value".
func parseCounters(into map[string]int64, text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(names) != len(values) || len(names) == 0 || names[0] != values[0] {
			continue
		}
		group := strings.TrimSuffix(names[0], ":")
		for j, name := range names[1:] {
			key := group + "." + name
			if !hostKeys[key] {
				continue
			}
			if v, err := strconv.ParseInt(values[j+1], 10, 64); err == nil {
				into[name] = v
			}
		}
	}
}
