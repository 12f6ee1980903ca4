package enginesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// prompt is the input of a request as tokens.
type prompt struct {
	tokens []uint32
	byID   bool // it came as token ids
}

// parsePrompt reads the prompt of a completion: a string, a list of token
// ids, or a list of one such prompt.
func parsePrompt(raw json.RawMessage, vocab int) (prompt, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return prompt{}, fmt.Errorf("prompt is missing")
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return prompt{}, fmt.Errorf("prompt: %w", err)
		}
		return prompt{tokens: appendTextTokens(nil, s)}, nil
	}
	if raw[0] != '[' {
		return prompt{}, errPromptType
	}
	inner := bytes.TrimSpace(raw[1:])
	if len(inner) > 0 && (inner[0] == '"' || inner[0] == '[') {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return prompt{}, fmt.Errorf("prompt: %w", err)
		}
		if len(list) != 1 {
			return prompt{}, fmt.Errorf("prompt holds %d prompts; send one a request", len(list))
		}
		if list[0][0] == '[' && bytes.IndexByte(list[0][1:], '[') >= 0 {
			return prompt{}, errPromptType
		}
		return parsePrompt(list[0], vocab)
	}
	tokens, err := parseIDs(raw, vocab)
	return prompt{tokens: tokens, byID: true}, err
}

var errPromptType = fmt.Errorf("prompt must be a string, a list of token ids, or a list of one of them")

// parseIDs reads a JSON array of token ids. The body has passed json.Valid as
// part of the request, so only the numbers need checking.
func parseIDs(raw []byte, vocab int) ([]uint32, error) {
	tokens := make([]uint32, 0, len(raw)/5+1)
	n, digits := 0, 0
	for i, c := range raw[1:] {
		switch {
		case c >= '0' && c <= '9' && digits < 10:
			n, digits = n*10+int(c-'0'), digits+1
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == ',' || c == ']':
			if digits == 0 {
				return nil, fmt.Errorf("prompt is empty")
			}
			if n >= vocab {
				return nil, fmt.Errorf("prompt[%d]: token id %d is outside the vocabulary of %d", len(tokens), n, vocab)
			}
			tokens = append(tokens, uint32(n))
			n, digits = 0, 0
		default:
			return nil, fmt.Errorf("prompt[%d]: byte %d of the list is no token id", len(tokens), i+1)
		}
	}
	return tokens, nil
}

// appendTextTokens appends the tokens of text. A token is a word (letters,
// digits and marks, with any blank before it) or any other character that is
// no blank, so text of n words has n tokens. Its number is a hash.
func appendTextTokens(tokens []uint32, text string) []uint32 {
	word, in := uint32(2166136261), false
	end := func() {
		if in {
			tokens = append(tokens, word|1<<31)
		}
		word, in = 2166136261, false
	}
	for _, r := range text {
		switch {
		case isWord(r):
			word, in = (word^uint32(r))*16777619, true
		case unicode.IsSpace(r):
			end()
		default:
			end()
			tokens = append(tokens, uint32(r)|1<<30)
		}
	}
	end()
	return tokens
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
