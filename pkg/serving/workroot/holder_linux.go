package workroot

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder finds who holds the flock on file in /proc/locks, whose lines read
// "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF".
func lockHolder(file *os.File) string {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		return ""
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	inode := ":" + strconv.FormatUint(stat.Ino, 10)
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err != nil || pid <= 0 {
			return "" // the holder lives in another PID namespace
		}
		return describe(pid)
	}
	return ""
}

func describe(pid int) string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(raw) == 0 {
		return fmt.Sprintf("process %d", pid)
	}
	const most = 200
	text := string(bytes.ReplaceAll(bytes.TrimRight(raw, "\x00"), []byte{0}, []byte{' '}))
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Sprintf("process %d (%s)", pid, text)
}
