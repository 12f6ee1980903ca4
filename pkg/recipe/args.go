package recipe

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// arguments is a list of arguments, or one text that is split as a shell would.
type arguments []string

// UnmarshalStrict implements [strict.Unmarshaler].
func (a *arguments) UnmarshalStrict(v strict.Value) {
	switch v.Kind() {
	case strict.Text:
		words, why := splitWords(v.Text())
		if why != "" {
			v.Refuse(ruleRange, "quote it, or write a list of arguments", "%s", why)
		}
		*a = words
	case strict.List:
		v.Decode((*[]string)(a))
	default:
		v.Refuse(strict.RuleType, `write a list, or one text such as "--flag value"`, "must be a list of arguments, not %s", v)
	}
	for _, arg := range *a {
		if strings.ContainsRune(arg, 0) {
			v.Refuse(ruleRange, "remove it", "holds a NUL character, which no program can be given")
			return
		}
	}
}

// SplitWords splits a command line into arguments by the shell's rules of quoting. Nothing is expanded:
// the error says what a shell would have expanded or run, because no shell will see it.
func SplitWords(line string) ([]string, error) {
	words, why := splitWords(line)
	if why != "" {
		return nil, errors.New(why)
	}
	return words, nil
}

// splitWords splits s into words by the shell's rules of quoting. Nothing is expanded: what a shell
// would expand or run is refused, with the reason, because no shell will see it.
func splitWords(s string) (words []string, why string) {
	end := 0
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(s)) {
		if err != nil {
			return nil, "cannot be split into words: " + err.Error()
		}
		word, why := unquote(w.Parts, false)
		if why != "" {
			return nil, why
		}
		if !blank(s[end:w.Pos().Offset()]) {
			return nil, "# starts a comment here"
		}
		words, end = append(words, word), int(w.End().Offset())
	}
	if !blank(s[end:]) {
		return nil, "# starts a comment here"
	}
	return words, ""
}

func blank(s string) bool {
	return strings.TrimSpace(strings.ReplaceAll(s, "\\\n", "")) == ""
}

func unquote(parts []syntax.WordPart, quoted bool) (word, why string) {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(part.Value, quoted))
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", "$'…' is not expanded here"
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", `$"…" is not expanded here`
			}
			inner, why := unquote(part.Parts, true)
			if why != "" {
				return "", why
			}
			b.WriteString(inner)
		default:
			return "", "$, ` and other expansions are not done here"
		}
	}
	return b.String(), ""
}

// unescape removes the backslashes a shell would remove.
func unescape(s string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && !strings.ContainsRune("$`\"\\", rune(s[i])):
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
