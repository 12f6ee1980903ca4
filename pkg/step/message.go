package step

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Step is one run of a door: its process, its inputs, and its ways to speak.
type Step struct {
	Proc

	// In are the checked inputs.
	In Values

	door     *Door
	redactor *redactor
	terminal *os.File // stderr, where it is a terminal
	notes    annotations
	mu       sync.Mutex // guards bar and the order of lines on stderr
	bar      *Progress
	root     string
}

func newStep(d *Door, p Proc, in Values) *Step {
	s := &Step{Proc: p, In: in, door: d, redactor: &redactor{}, terminal: terminal(p.Stderr)}
	s.Stdout = s.redactor.wrap(p.Stdout)
	s.Stderr = s.redactor.wrap(p.Stderr)
	return s
}

// close flushes what was held back: a progress bar, annotations.
func (s *Step) close() {
	if s.bar != nil {
		s.bar.Done()
	}
	s.flushAnnotations()
}

// InJob reports whether the step runs in a GitHub Actions job.
func (s *Step) InJob() bool { return s.Getenv("GITHUB_ACTIONS") == "true" }

// Say writes one message for people to stderr as "name: text".
func (s *Step) Say(format string, args ...any) {
	s.line(s.door.Name + ": " + fmt.Sprintf(format, args...))
}

// Hint writes the next step for people to stderr as "name: hint: text".
func (s *Step) Hint(format string, args ...any) {
	s.line(s.door.Name + ": hint: " + fmt.Sprintf(format, args...))
}

// Text writes prepared text, such as a table, to stderr as it is, but for workflow
// commands, which are defused.
func (s *Step) Text(text string) {
	for line := range strings.Lines(text) {
		s.line(strings.TrimSuffix(line, "\n"))
	}
}

func (s *Step) line(text string) {
	text = defuse(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil && s.bar.print(text) {
		return
	}
	fmt.Fprintln(s.Stderr, text)
}

// Path resolves a path of the repository (a manifest, a matrix, an --out) against
// ROOT: the git top level of Dir, or Dir itself outside a repository.
func (s *Step) Path(path string) string {
	return resolve(s.Root(), path)
}

// DirPath resolves a path that a person typed (a log, a bundle) against Dir.
func (s *Step) DirPath(path string) string { return resolve(s.Dir, path) }

// Root is the git top level of Dir, or Dir itself outside a repository.
func (s *Step) Root() string {
	if s.root == "" {
		s.root = gitrepo.Root(s.Dir)
	}
	return s.root
}

func resolve(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Done prints {"ok": true} with the keys of doc on stdout and returns [OK].
func (s *Step) Done(doc any) int { return s.Finish(OK, doc) }

// Finish ends the run with a status. It prints the one JSON document of stdout:
// "ok", the problems as "errors" (also shown to people and as annotations), and the
// keys of doc, a struct, a map or nil.
func (s *Step) Finish(status int, doc any, problems ...strict.Problem) int {
	for _, p := range problems {
		s.Error(p)
	}
	out, err := document(status == OK, doc, problems)
	if err == nil {
		_, err = s.Stdout.Write(out)
	}
	if err != nil {
		s.Say("writing the result to standard output: %v", err)
		if status == OK {
			return CouldNotRun
		}
	}
	return status
}

// document is the JSON text: "ok" first, then "errors", then doc's own keys in
// their order.
func document(ok bool, doc any, problems strict.Problems) ([]byte, error) {
	head := struct {
		OK     bool            `json:"ok"`
		Errors strict.Problems `json:"errors,omitempty"`
	}{ok, problems}
	out, err := marshal(head)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return append(out, '\n'), nil
	}
	body, err := marshal(doc)
	if err != nil {
		return nil, err
	}
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("result is not a JSON object: %.40s", body)
	}
	if rest := bytes.TrimSpace(body[1 : len(body)-1]); len(rest) > 0 {
		out = append(append(append(out[:len(out)-1], ','), rest...), '}')
	}
	return append(out, '\n'), nil
}

// marshal is json.Marshal without HTML escapes, which people would have to read.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Child returns a writer for a child process's output: whole lines go to stderr
// behind "prefix | ", with workflow commands defused, so that a benchmark's output
// can neither break the protocol of the job nor the one document of stdout.
func (s *Step) Child(prefix string) io.WriteCloser {
	return &childWriter{step: s, prefix: prefix + " | "}
}

// childLineLimit keeps a child that never ends its line from filling memory.
const childLineLimit = 64 << 10

type childWriter struct {
	step   *Step
	prefix string
	mu     sync.Mutex
	buf    []byte
}

func (c *childWriter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\n\r")
		if i < 0 {
			c.buf = append(c.buf, b...)
			if len(c.buf) >= childLineLimit {
				c.flush()
			}
			break
		}
		c.buf = append(c.buf, b[:i]...)
		if len(c.buf) > 0 {
			c.flush()
		}
		b = b[i+1:]
	}
	return n, nil
}

// Close writes an unfinished last line.
func (c *childWriter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buf) > 0 {
		c.flush()
	}
	return nil
}

func (c *childWriter) flush() {
	c.step.line(c.prefix + strings.ToValidUTF8(string(c.buf), "\uFFFD"))
	c.buf = c.buf[:0]
}
