package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

func TestDocumentProblem(t *testing.T) {
	text := `version: 1
entries:
  - name: a
    recipe: r.yaml
  - {name: b}
baselines:
  "serve::a": {metrics: {m: {value: 2.5}}}
  'with "quotes"': 1
empty:
`
	var into any
	doc, err := strict.YAML("m.yaml", []byte(text), &into)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		field string
		has   bool
		want  string
	}{
		{"", true, "m.yaml:1:1: bad"},
		{"version", true, "m.yaml:1:10: version: bad"},
		{"entries", true, "m.yaml:3:3: entries: bad"},
		{"entries[0].recipe", true, "m.yaml:4:13: entries[0].recipe: bad"},
		{"entries[1].recipe", false, "m.yaml:5:5: entries[1].recipe: bad"},
		{"entries[7].recipe", false, "m.yaml:3:3: entries[7].recipe: bad"},
		{"entries.name", false, "m.yaml:3:3: entries.name: bad"},
		{`baselines["serve::a"].metrics.m.value`, true, `m.yaml:7:37: baselines["serve::a"].metrics.m.value: bad`},
		{`baselines["with \"quotes\""]`, true, `m.yaml:8:20: baselines["with \"quotes\""]: bad`},
		{"empty", true, "m.yaml:9:7: empty: bad"},
		{"empty.deeper", false, "m.yaml:9:7: empty.deeper: bad"},
		{"--flag", false, "m.yaml:1:1: --flag: bad"},
		{"a..b[", false, "m.yaml:1:1: a..b[: bad"},
	}
	for _, tt := range tests {
		if got := doc.Problem(tt.field, "b%s", "ad").Error(); got != tt.want {
			t.Errorf("Problem(%q): got %s, want %s", tt.field, got, tt.want)
		}
		if got := doc.Has(tt.field); got != tt.has {
			t.Errorf("Has(%q): got %v, want %v", tt.field, got, tt.has)
		}
	}
	if string(doc.Bytes()) != text || doc.Path() != "m.yaml" {
		t.Errorf("got %q at %q, want the text and its path", doc.Bytes(), doc.Path())
	}
}

// port is a value with two spellings.
type port int

func (p *port) UnmarshalStrict(v strict.Value) {
	if v.Kind() == strict.Text && v.Text() == "auto" {
		*p = -1
		return
	}
	var n int
	if v.Decode(&n) && n < 1024 {
		v.Refuse("range", "use 1024 or more", "must not be %d", n)
	}
	*p = port(n)
}

func TestUnmarshaler(t *testing.T) {
	var into struct {
		Ports []port `json:"ports"`
		Own   *port  `json:"own"`
	}
	_, err := strict.YAML("f", []byte("ports: [auto, 8080, 80, maybe, ~]\nown: ~\n"), &into)
	want := []string{
		"f:1:21: ports[2]: must not be 80 [range] (use 1024 or more)",
		`f:1:25: ports[3]: must be an integer, not text "maybe" [number]`,
		"f:1:32: ports[4]: must be an integer, not null [type]",
	}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if into.Ports[0] != -1 || into.Ports[1] != 8080 || into.Own != nil {
		t.Errorf("got %v, want -1, 8080 and no own port", into)
	}
}

func TestOtherTargets(t *testing.T) {
	type common struct {
		Path string `json:"path"`
	}
	var got struct {
		common
		At     time.Time   `json:"at"`
		Number json.Number `json:"number"`
		Hidden string      `json:"-"`
		Plain  string
	}
	_, err := strict.YAML("f", []byte("path: p\nat: 2031-03-04T05:06:07Z\nnumber: 1.50\nPlain: x\n"), &got)
	if err != nil || got.Path != "p" || got.At.Unix() != 1930367167 || got.Number != "1.50" || got.Plain != "x" {
		t.Errorf("got %+v, %v, want each field read", got, err)
	}
	_, err = strict.YAML("f", []byte("at: soon\nnumber: 017\nHidden: x\n"), &got)
	want := []string{
		`f:1:5: at: parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006" [type]`,
		"f:2:9: number: must be a number, not 017 [number] (write 17, or 15 if octal was meant)",
		"f:3:1: Hidden: unknown key [unknown-key]",
	}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProblemError(t *testing.T) {
	for _, tt := range []struct {
		problem strict.Problem
		want    string
	}{
		{strict.Problem{Path: "f", Line: 2, Col: 3, Field: "a.b", Message: "bad", Rule: "r"}, "f:2:3: a.b: bad [r]"},
		{strict.Problem{Path: "f", Message: "bad", Hint: "do"}, "f: bad"},
		{strict.Problem{Field: "--flag", Message: "bad"}, "--flag: bad"},
	} {
		if got := tt.problem.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	both := strict.Problems{{Path: "g", Message: "y"}, {Path: "f", Line: 9, Message: "x"}, {Path: "g", Message: "y"}}
	if got, want := both.Sort().Error(), "f:9: x\ng: y"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := (strict.Problems{}).Err(); err != nil {
		t.Errorf("got %v, want no error of no problem", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(path, []byte(`{"a": [1]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var into any
	for name, read := range map[string]func(string, any) (*strict.Document, error){"YAML": strict.ReadYAML, "JSON": strict.ReadJSON} {
		if _, err := read(path, &into); err != nil {
			t.Errorf("%s: got %v, want it read", name, err)
		}
		_, err := read(filepath.Join(dir, "none"), &into)
		var problems strict.Problems
		if !errors.As(err, &problems) || problems[0].Path != filepath.Join(dir, "none") || problems[0].Rule != strict.RuleUnreadable {
			t.Errorf("%s: got %v, want an unreadable file by its path", name, err)
		}
		if _, err := read(dir, &into); err == nil {
			t.Errorf("%s: got no error, want a folder refused", name)
		}
	}
}

// A named pipe without a writer must not hold the reader, nor a device feed it.
func TestReadTakesFilesAlone(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", "/dev/null"} {
		var into any
		for name, read := range map[string]func(string, any) (*strict.Document, error){"YAML": strict.ReadYAML, "JSON": strict.ReadJSON} {
			if _, err := read(path, &into); err == nil || err.Error() != path+": is no regular file [unreadable]" {
				t.Errorf("%s of %s: got %v, want it refused as no regular file", name, path, err)
			}
		}
	}
}

// A tree is larger than its text: without the limit, 128 MiB of brackets took 5 GB.
func TestValuesAreCounted(t *testing.T) {
	var into any
	text := []byte("[" + strings.Repeat("0,", 3<<20) + "0]")
	_, err := strict.JSON("f", text, &into)
	if want := "f:1:4194304: has more than the limit of 2097152 values [size]"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLongKeysAreShortened(t *testing.T) {
	var into struct{}
	_, err := strict.YAML("f", []byte(strings.Repeat("ü", 100000)+": 1\n"), &into)
	if err == nil || len(err.Error()) > 1500 {
		t.Errorf("got %d bytes of message, want a short one", len(fmt.Sprint(err)))
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var into []bool
	_, err := strict.JSON("f", []byte("["+strings.Repeat("1,", 4000)+"1]"), &into)
	problems := err.(strict.Problems)
	if got, want := len(problems), 1001; got != want {
		t.Fatalf("got %d problems, want %d", got, want)
	}
	if got, want := problems[1000].Error(), "f: 3001 more problems are not listed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTargetMustBeAPointer(t *testing.T) {
	defer func() {
		if got, want := fmt.Sprint(recover()), "strict: the target is a int; it must be a pointer"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}()
	strict.JSON("f", []byte("1"), 1)
}
