package history

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzRunFile reads run files of all kinds. What is accepted is valid JSON to everybody else too, and
// comes back the same when it is written again.
func FuzzRunFile(f *testing.F) {
	whole := `{"schema_version":1,"started_at":"2026-09-09T04:00:00+00:00","event":"schedule","run_id":902,"run_attempt":1,"build":{"lane":"gate"},"entries":[{"entry":"e","cell":"c","verdict":"pass","metrics":{"summary":{"m":2.4}},"step_times_ms":[1,2]}],"sources":[{"name":"a","sha256":"b"}]}`
	const path = "runs/2026/09/09/902-1-gate.json"
	for _, s := range []string{whole, whole[:80], whole + ";", "", "<<<<<<< a", "\ufeff" + whole, `{"schema_version":1,"run_id":1,"RUN_ID":2}`, `{"entries":[{"metrics":{"summary":{"m":NaN}}}]}`, "null", "[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse("h", path, data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q was accepted and is no JSON", data)
		}
		once, err := r.encode()
		if err != nil {
			t.Fatalf("encoding what was read: %v", err)
		}
		again, err := parse("h", path, once)
		if err != nil {
			t.Fatalf("reading what was written: %v\n%s", err, once)
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("got %s, %v, want %s", twice, err, once)
		}
	})
}

// FuzzRunPath: a name that is read as a run file's is the one spelling of it.
func FuzzRunPath(f *testing.F) {
	for _, s := range []string{"runs/2026/09/09/902-1-gate.json", "runs/2026/02/31/1-1-a.json", "runs/2026/09/09/0902-1-gate.json", "runs/2026/09/09/902-1-../x.json", "runs/2026/09/09/902-1-a.json.orig"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if i, ok := parsePath(path); ok && i.path() != path {
			t.Errorf("%q is read as %q", path, i.path())
		}
	})
}
