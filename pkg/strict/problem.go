package strict

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Problem is one thing that is wrong with a document.
type Problem struct {
	// Path is the file, spelled as the caller named it.
	Path string `json:"path"`
	// Line is 1-based; 0 when the problem has no place in the text.
	Line int `json:"line,omitempty"`
	// Col is 1-based and counts characters (runes), not bytes.
	Col int `json:"col,omitempty"`
	// Field names the value, as in `cells[2].name` or `baselines["serve::a"].passed`.
	Field string `json:"field,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Rule is the short name of the rule that was broken.
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

// Error returns "path:line:col: field: message [rule]"; parts that are unset are left out.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(max(p.Col, 1)))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	if p.Rule != "" {
		b.WriteString(" [" + p.Rule + "]")
	}
	return b.String()
}

// Problems is everything that is wrong with one or more documents.
type Problems []Problem

// Error joins the problems by newlines.
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
