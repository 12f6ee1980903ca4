package step

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/sethvargo/go-githubactions"
)

// go-githubactions v1.3.2 has three faults that this file and steadyWriter guard:
// its heredoc delimiter is a constant that a value can forge (CVE-2022-35954 is
// about that very string), it panics when a write fails, and Fatalf ends the
// process. So command files are written here, workflow commands go through a writer
// that never fails, and Fatalf is never called.

var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// Output sets an output of the step. Outside a job it does nothing; in a job, an
// output that cannot be set is shown as a warning.
func (s *Step) Output(name, text string) {
	s.door.mustDeclare(name)
	file := s.Getenv("GITHUB_OUTPUT")
	if file == "" {
		return
	}
	record, err := commandRecord(name, text, rand.Text())
	if err == nil {
		err = appendFile(file, record)
	}
	if err != nil {
		s.Warn(strict.Problem{Message: fmt.Sprintf("setting output %s: %v", name, err)})
	}
}

func (d *Door) mustDeclare(name string) {
	for _, out := range d.Outputs {
		if out.Name == name {
			return
		}
	}
	panic("step: no output named " + name)
}

// commandRecord is one record of a command file, in the heredoc form that the
// runner's FileCommandManager reads. The delimiter must be one that nobody could
// have put into the value.
func commandRecord(name, text, delimiter string) (string, error) {
	if !outputName.MatchString(name) {
		return "", fmt.Errorf("%q is not a name", name)
	}
	if strings.Contains(text, delimiter) {
		return "", errors.New("the value holds its own delimiter")
	}
	return fmt.Sprintf("%s<<%s\n%s\n%s\n", name, delimiter, text, delimiter), nil
}

// appendFile appends to a file that the runner made; it is never created here, so
// that a wrong path is an error and not a stray file.
func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

// Mask hides a secret from now on: in a job by the runner's own mask, line by line,
// and everywhere in what this process writes.
func (s *Step) Mask(secret string) {
	action := githubactions.New(githubactions.WithWriter(steadyWriter{s.Proc.Stderr}), githubactions.WithGetenv(s.Getenv))
	for line := range strings.Lines(secret) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if s.InJob() {
			action.AddMask(line)
		}
		s.redactor.add(line)
	}
}

// steadyWriter keeps a failed write from panicking in the library: a job whose log
// is gone must still end its children and set its exit status.
type steadyWriter struct{ w io.Writer }

func (s steadyWriter) Write(b []byte) (int, error) {
	s.w.Write(b)
	return len(b), nil
}
