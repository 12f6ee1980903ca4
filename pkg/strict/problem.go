package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one finding about a file or an input: where it is, what is wrong, and
// what to do next. It is the JSON of every door's "errors".
type Problem struct {
	// Path is the file, empty for an input that is no file.
	Path string `json:"path,omitempty"`

	// Line and Col are 1-based; Col counts characters. 0 where there is no place.
	Line int `json:"line,omitempty"`
	Col  int `json:"col,omitempty"`

	// Field names what is wrong, such as "entries[2].recipe" or "--timeout".
	Field string `json:"field,omitempty"`

	// Message says what is wrong: lower case, no full stop.
	Message string `json:"message"`

	// Hint says what to do next, where there is something to do.
	Hint string `json:"hint,omitempty"`

	// Rule names the check, where a reader may want to look it up.
	Rule string `json:"rule,omitempty"`
}

// The rules of this package. Callers name their own beside them.
const (
	RuleUnreadable   = "unreadable"
	RuleSize         = "size"
	RuleEncoding     = "encoding"
	RuleSyntax       = "syntax"
	RuleTrailing     = "trailing-data"
	RuleDepth        = "depth"
	RuleAlias        = "alias"
	RuleTag          = "tag"
	RuleKey          = "key"
	RuleDuplicateKey = "duplicate-key"
	RuleUnknownKey   = "unknown-key"
	RuleMissingKey   = "missing-key"
	RuleType         = "type"
	RuleNumber       = "number"
)

// Error is "path:line:col: field: message [rule]", without the parts that are not
// known.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Text()
	}
	place := p.Path
	if p.Line > 0 {
		place += fmt.Sprintf(":%d", p.Line)
		if p.Col > 0 {
			place += fmt.Sprintf(":%d", p.Col)
		}
	}
	return place + ": " + p.Text()
}

// Text is "field: message [rule]", the problem without its place.
func (p Problem) Text() string {
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Rule != "" {
		text += " [" + p.Rule + "]"
	}
	return text
}

// Problems is every finding of one reading, in the order of the file. It is an
// error.
type Problems []Problem

// Error is one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns ps as an error, nil when there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Sort orders the problems by path and position and drops repetitions.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(ps)
}
