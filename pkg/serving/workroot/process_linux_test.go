package workroot

import (
	"fmt"
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	// A name may hold blanks and brackets; field 22 is the start time.
	raw := "4711 (a) b (c) S 1 4712 4713 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10 18446744073709551615"
	got, err := ParseStat([]byte(raw))
	if want := (Stat{PID: 4711, Parent: 1, Group: 4712, Session: 4713, State: 'S', Start: 987654}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "12", "12 (x", "x (y) S 1 1 1", "12 (x) S 1 2", "12 (x) SS 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"} {
		if got, err := ParseStat([]byte(bad)); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}

func TestSelfIsAlive(t *testing.T) {
	self := Self()
	if self.PID != os.Getpid() || self.Start == 0 || !self.Alive() {
		t.Errorf("got %+v, alive %v, want this process alive", self, self.Alive())
	}
	self.Start++
	if self.Alive() {
		t.Error("a process with this number and another start time counts as alive")
	}
}

// Whatever a process calls itself, its fields are found.
func FuzzParseStat(f *testing.F) {
	f.Add("sh", 1, 2, 3, uint64(4))
	f.Add("a) S 9 9 9 (", 0, -1, 1<<22, uint64(1)<<63)
	f.Add("", 0, 0, 0, uint64(0))
	f.Fuzz(func(t *testing.T, name string, parent, group, session int, start uint64) {
		want := Stat{PID: 17, Parent: parent, Group: group, Session: session, State: 'R', Start: start}
		raw := fmt.Sprintf("17 (%s) R %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0", name, parent, group, session, start)
		if got, err := ParseStat([]byte(raw)); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		_, _ = ParseStat([]byte(name)) // no text makes it panic
	})
}
