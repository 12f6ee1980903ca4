package step

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestBarOnATerminal runs a door whose stderr is a real terminal: the bar is drawn, lines come out whole
// above it, secrets are kept out of them, and nothing of the bar is left.
func TestBarOnATerminal(t *testing.T) {
	master, slave := openTerminal(t)
	shown := make(chan []byte)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error once the slave is closed
		shown <- text
	}()
	var out bytes.Buffer
	d := Door{Name: "worker", Summary: "works"}
	p := Proc{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: slave, Dir: t.TempDir(), Now: time.Now}
	status := d.Run(context.Background(), p, func(_ context.Context, s *Step) int {
		s.Mask("hunter2hunter2")
		bar := s.Progress("counting", 3)
		bar.Set(1)
		bar.Note("first")
		s.Say("one line with hunter2hunter2")
		bar.Done()
		return s.Done(nil)
	})
	slave.Close()
	text := string(<-shown)
	if status != OK {
		t.Errorf("got exit %d, want %d", status, OK)
	}
	for _, want := range []string{"worker: counting [", "1/3", "worker: one line with ***\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal lacks %q:\n%q", want, text)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("the secret is on the terminal:\n%q", text)
	}
	if !strings.HasSuffix(text, "\x1b[J") {
		t.Errorf("the bar is left on the terminal:\n%q", text)
	}
}

// openTerminal returns both ends of a new terminal of 100 columns.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
