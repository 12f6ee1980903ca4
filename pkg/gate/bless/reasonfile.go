package bless

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// given is a reason of a reason file.
type given struct {
	key  baseline.Key
	gate string // "" is every gate of the cell
	text string
	line int
	used bool
}

// reasonFile is a text with lines such as
//
//   - reason serve_smoke::baseline median_tpot_ms: ROCm 10 costs 4 % of decode
//
// and anything else between them: the text of a pull request is one.
type reasonFile []*given

var (
	reasonStart = regexp.MustCompile(`^\s*(?:[-*]\s+)?reason\s+\S*::`)
	reasonLine  = regexp.MustCompile(`^\s*(?:[-*]\s+)?reason\s+([A-Za-z0-9_.-]+::[A-Za-z0-9_.-]+)(?:\s+([A-Za-z0-9_.-]+))?:\s+(\S.*?)\s*$`)
)

// reasonLimit is the size of a reason file, many times that of any pull request's text.
const reasonLimit = 4 << 20

func readReasons(path string) (reasonFile, strict.Problems) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > reasonLimit {
		err = fmt.Errorf("%s is larger than %d bytes", path, reasonLimit)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, strict.Problems{{Path: path, Field: "--reason-file", Message: err.Error()}}
	}
	return parseReasons(path, string(text))
}

// parseReasons reads the lines that begin like a reason. One that is none is refused: it was meant to be.
func parseReasons(path, text string) (reasonFile, strict.Problems) {
	var file reasonFile
	var problems strict.Problems
	for i, line := range strings.Split(text, "\n") {
		if !reasonStart.MatchString(line) {
			continue
		}
		m := reasonLine.FindStringSubmatch(line)
		if m == nil {
			problems = append(problems, strict.Problem{Path: path, Line: i + 1, Col: 1, Message: "this line begins like a reason and is none", Hint: "write reason ENTRY::CELL [GATE]: TEXT", Rule: "reason"})
			continue
		}
		key, err := baseline.ParseKey(m[1])
		if err != nil {
			problems = append(problems, strict.Problem{Path: path, Line: i + 1, Col: 1, Message: err.Error(), Rule: "reason"})
			continue
		}
		file = append(file, &given{key: key, gate: m[2], text: m[3], line: i + 1})
	}
	return file, problems
}

// find returns the reason for a change, "" where there is none, and marks it used.
func (f reasonFile) find(c baseline.Change) string {
	text := ""
	for _, g := range f {
		if g.key == c.Key && (g.gate == "" || g.gate == c.Gate) {
			g.used = true
			text = g.text
		}
	}
	return text
}
