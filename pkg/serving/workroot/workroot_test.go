package workroot

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// child is set in the environment of this test program when it runs again as another run of the same work root.
const child = "WORKROOT_TEST_LOCK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

// hold keeps the lock of the work root until its standard input ends.
func hold(dir string) int {
	root, err := Open(dir)
	if err != nil {
		return 1
	}
	if _, err := root.Lock(context.Background(), 0); err != nil {
		return 2
	}
	os.Stdout.WriteString("held\n")
	buf := make([]byte, 1)
	_, _ = os.Stdin.Read(buf)
	return 0
}

func TestOpenMakesWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "root")
	if err := Check(path); err != nil {
		t.Fatalf("Check of a root that is still missing: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("Check made the root")
	}
	root, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{root.Path: os.ModeSticky | 0o777, root.Scratch: 0o700, root.Out(): 0o700, root.Caches().Triton: 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode() & (os.ModePerm | os.ModeSticky); got != want {
			t.Errorf("%s: got mode %v, want %v", path, got, want)
		}
	}
	if filepath.Base(root.Scratch) != "u"+strconv.Itoa(os.Getuid()) {
		t.Errorf("got scratch %s, want u<uid>", root.Scratch)
	}
	if _, err := Open(path); err != nil {
		t.Errorf("opening it again: %v", err)
	}
}

func TestUntrustedRoots(t *testing.T) {
	scratch := "u" + strconv.Itoa(os.Getuid())
	tests := []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string // part of the message
	}{
		{"a symbolic link", func(t *testing.T, path string) {
			must(t, os.Mkdir(path+".real", 0o755))
			must(t, os.Symlink(path+".real", path))
		}, "symbolic link"},
		{"a file", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, "not a folder"},
		{"open to others and not sticky", func(t *testing.T, path string) {
			must(t, os.Mkdir(path, 0o700))
			must(t, os.Chmod(path, 0o777))
		}, "not sticky"},
		{"another's", func(t *testing.T, path string) {
			must(t, os.Mkdir(path, 0o755))
			chown(t, path)
		}, "belongs to uid 4711"},
		{"a scratch that is a link", func(t *testing.T, path string) {
			must(t, os.Mkdir(path, 0o755))
			must(t, os.Symlink("/tmp", filepath.Join(path, scratch)))
		}, "symbolic link"},
		{"a scratch that others may write to", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Join(path, scratch), 0o755))
			must(t, os.Chmod(filepath.Join(path, scratch), 0o775))
		}, "mode 0775"},
		{"another's scratch", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Join(path, scratch), 0o755))
			chown(t, filepath.Join(path, scratch))
		}, "belongs to uid 4711"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "root")
			test.prepare(t, path)
			before := modeOf(t, path)
			for what, err := range map[string]error{"Check": Check(path), "Open": second(Open(path))} {
				var refused *Refused
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) || refused.Hint == "" {
					t.Errorf("%s: got %v, want a refusal that says %q and a hint", what, err, test.want)
				}
			}
			if after := modeOf(t, path); after != before {
				t.Errorf("the mode changed from %v to %v", before, after)
			}
		})
	}
	for _, path := range []string{"relative/root", "/"} {
		if err := Check(path); err == nil {
			t.Errorf("%s: got no error, want a refusal", path)
		}
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	root, err := Open(dir)
	must(t, err)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), child+"="+dir)
	stdin, err := other.StdinPipe()
	must(t, err)
	stdout, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if _, err := stdout.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_, err = root.Lock(t.Context(), 0)
	var busy *Busy
	if !errors.As(err, &busy) {
		t.Fatalf("got %v, want Busy", err)
	}
	if want := strconv.Itoa(other.Process.Pid); busy.Holder != "" && !strings.Contains(busy.Holder, want) {
		t.Errorf("got holder %q, want process %s", busy.Holder, want)
	}
	must(t, stdin.Close())
	must(t, other.Wait())
	lock, err := root.Lock(t.Context(), 10*time.Second)
	if err != nil {
		t.Fatalf("after the other run: %v", err)
	}
	must(t, lock.Release())
}

func TestRecords(t *testing.T) {
	root, err := Open(filepath.Join(t.TempDir(), "root"))
	must(t, err)
	rec := Record{Token: "12-abcdefgh", Cell: "baseline", Engine: Process{7, 8}, Owner: Self(), Boot: Boot(), Namespace: Namespace(), Deadline: time.Now().Add(time.Hour).Round(0)}
	must(t, root.Put(rec))
	must(t, os.WriteFile(filepath.Join(root.runs(), "half.json"), []byte(`{"token": "ha`), 0o600))
	must(t, os.WriteFile(filepath.Join(root.runs(), "34-abcdefgh.json"), []byte(`{"token": "12-abcdefgh"}`), 0o600))
	got, err := root.Records()
	if len(got) != 1 || got[0].Token != rec.Token || got[0].Engine != rec.Engine || !got[0].Deadline.Equal(rec.Deadline) {
		t.Errorf("got %+v, want the one record", got)
	}
	if err == nil || !strings.Contains(err.Error(), "half.json") || !strings.Contains(err.Error(), "34-abcdefgh.json") {
		t.Errorf("got error %v, want both bad records named", err)
	}
	must(t, root.Forget(rec.Token))
	must(t, root.Forget(rec.Token))
	for _, token := range []string{"", "../../etc", "a b c d e f g"} {
		if err := root.Put(Record{Token: token}); err == nil {
			t.Errorf("token %q was taken", token)
		}
	}
}

func TestFate(t *testing.T) {
	now := time.Now()
	alive := Record{Token: "12-abcdefgh", Owner: Self(), Boot: Boot(), Namespace: Namespace(), Deadline: now.Add(time.Hour)}
	tests := []struct {
		name   string
		change func(*Record)
		want   Fate
	}{
		{"a living owner within its time", func(*Record) {}, Keep},
		{"a living owner over its time", func(r *Record) { r.Deadline = now.Add(-time.Second) }, End},
		{"a dead owner", func(r *Record) { r.Owner.PID = 1 << 22 }, End},
		{"an owner whose number is another's by now", func(r *Record) { r.Owner.Start++ }, End},
		{"an earlier boot", func(r *Record) { r.Boot = "another" }, Gone},
		{"another PID namespace", func(r *Record) { r.Namespace, r.Owner.PID = "pid:[1]", 1<<22 }, Keep},
	}
	for _, test := range tests {
		rec := alive
		test.change(&rec)
		if got := rec.Fate(now); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second(_ *Root, err error) error { return err }

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode()
}

// chown gives path to another user, which only root may do.
func chown(t *testing.T, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	must(t, os.Chown(path, 4711, 4711))
}
