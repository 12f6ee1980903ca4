package step

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/sethvargo/go-githubactions"
)

// annotationLimit is how many annotations of one level GitHub shows for a step;
// what is over it would vanish without a word.
const annotationLimit = 10

type level int

const (
	levelError level = iota
	levelWarning
	levelNotice
	levels
)

var levelNames = [levels]string{"error", "warning", "notice"}

// annotations holds what the job's page should show, until the step ends: the
// first of each level, and a count of the rest.
type annotations struct {
	kept   [levels][]strict.Problem
	passed [levels]int
}

// Error shows a problem to people, and as an error annotation in a job.
func (s *Step) Error(p strict.Problem) { s.annotate(levelError, p) }

// Warn shows a problem that does not decide the result, as a warning in a job.
func (s *Step) Warn(p strict.Problem) { s.annotate(levelWarning, p) }

// Notice shows something worth knowing, as a notice in a job.
func (s *Step) Notice(p strict.Problem) { s.annotate(levelNotice, p) }

func (s *Step) annotate(l level, p strict.Problem) {
	prefix := ""
	if l != levelError {
		prefix = levelNames[l] + ": "
	}
	if p.Path != "" {
		// A finding keeps its place at the start of the line, where editors look.
		s.line(prefix + p.Error())
	} else {
		s.Say("%s%s", prefix, p.Error())
	}
	if p.Hint != "" {
		s.Hint("%s", p.Hint)
	}
	if !s.InJob() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// One place is kept for the count of what is left out.
	if len(s.notes.kept[l]) < annotationLimit {
		s.notes.kept[l] = append(s.notes.kept[l], p)
		return
	}
	s.notes.passed[l]++
}

// flushAnnotations writes the annotations as workflow commands. They go to stderr,
// which the runner reads for commands as it reads stdout.
func (s *Step) flushAnnotations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := steadyWriter{s.Stderr}
	for l := range levels {
		kept := s.notes.kept[l]
		if s.notes.passed[l] > 0 {
			n := s.notes.passed[l] + 1
			kept = append(kept[:annotationLimit-1:annotationLimit-1],
				strict.Problem{Message: fmt.Sprintf("%d more of this kind: see the log or the summary", n)})
		}
		for _, p := range kept {
			action := githubactions.New(githubactions.WithWriter(w), githubactions.WithGetenv(s.Getenv)).
				WithFieldsMap(s.fields(p))
			text := strings.TrimSpace(p.Text())
			switch l {
			case levelError:
				action.Errorf("%s", text)
			case levelWarning:
				action.Warningf("%s", text)
			case levelNotice:
				action.Noticef("%s", text)
			}
		}
	}
	s.notes = annotations{}
}

// fields are the annotation's place. GitHub wants the path from the repository's
// top.
func (s *Step) fields(p strict.Problem) map[string]string {
	f := map[string]string{"title": s.door.Name}
	if p.Path == "" {
		return f
	}
	f["file"] = strings.TrimPrefix(p.Path, s.Root()+"/")
	if p.Line > 0 {
		f["line"] = strconv.Itoa(p.Line)
	}
	if p.Col > 0 {
		f["col"] = strconv.Itoa(p.Col)
	}
	return f
}

var unspeakable = strings.NewReplacer("\r", "␍", "\n", "␊", "##[", "##\u200b[", "\x1b[", "\x1b[", "\x1b", "␛")

// isControl finds what moves a terminal's cursor or turns the text around; colours (ESC [) stay, for
// engines' logs have them.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != 0x1B || r >= 0x7F && r <= 0x9F && r != 0x85 || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

func visible(r rune) rune {
	switch {
	case !isControl(r):
		return r
	case r < ' ':
		return '␀' + r
	}
	return '\uFFFD'
}

// defuse makes a line harmless to the runner: it reads "::" at the start of a line
// (after blanks) and "##[" anywhere in it as a command.
func defuse(line string) string {
	line = unspeakable.Replace(line)
	if strings.ContainsFunc(line, isControl) {
		line = strings.Map(visible, line)
	}
	if strings.HasPrefix(strings.TrimLeft(line, " \t\v\f\u0085\u00a0"), "::") {
		i := strings.Index(line, "::")
		return line[:i] + "\u200b" + line[i:]
	}
	return line
}
