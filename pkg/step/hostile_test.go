package step

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What moves a terminal's cursor, retitles it or turns text around is shown, not obeyed; the colours of an engine's log
// stay.
func TestLinesAreDefused(t *testing.T) {
	for line, want := range map[string]string{
		"\x1b[31mred\x1b[0m":  "\x1b[31mred\x1b[0m",
		"a\x1b]0;title\x07b":  "a␛]0;title␇b",
		"a\x00b\bc":           "a␀b␈c",
		"a\u202eb\u2066c":     "a\uFFFDb\uFFFDc",
		"a\x7fb\u009bc":       "a\uFFFDb\uFFFDc",
		"tab\tand ümlaut, 中文": "tab\tand ümlaut, 中文",
		"a\r\n::error::b":     "a␍␊::error::b",
	} {
		if got := defuse(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// A child must die of a broken pipe as it does under a shell: `yes | head` in an entry's script would otherwise fail
// with a write error.
func TestChildrenDieOfABrokenPipe(t *testing.T) {
	var out string
	Main(func(context.Context, Proc) int {
		raw, err := exec.Command("/bin/sh", "-c", "grep SigIgn /proc/self/status").CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		out = string(raw)
		return OK
	})
	mask, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(out, "SigIgn:")), 16, 64)
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if mask&(1<<(syscall.SIGPIPE-1)) != 0 {
		t.Errorf("got a child that ignores SIGPIPE (mask %x)", mask)
	}
}
