package loadgen

import "bytes"

// Events are scanned for a few keys, never decoded. That is safe on any valid JSON: inside a string a quote is
// escaped, so `"key"` with both quotes bare can only be a whole string, and the colon behind it makes it a key.

// Keys with their quotes.
var (
	keyChoices      = []byte(`"choices"`)
	keyError        = []byte(`"error"`)
	keyUsage        = []byte(`"usage"`)
	keyFinish       = []byte(`"finish_reason"`)
	keyText         = []byte(`"text"`)
	keyContent      = []byte(`"content"`)
	keyPromptTokens = []byte(`"prompt_tokens"`)
	keyOutputTokens = []byte(`"completion_tokens"`)
	keyCachedTokens = []byte(`"cached_tokens"`)

	// otherChannels carry text that is not content.
	otherChannels = [][]byte{[]byte(`"reasoning_content"`), []byte(`"reasoning"`), []byte(`"arguments"`), []byte(`"refusal"`)}
)

// valueOf returns what follows the first occurrence of key as a key, blanks skipped; nil when there is none.
func valueOf(data, key []byte) []byte {
	for {
		i := bytes.Index(data, key)
		if i < 0 {
			return nil
		}
		data = skipBlanks(data[i+len(key):])
		if len(data) > 0 && data[0] == ':' {
			return skipBlanks(data[1:])
		}
	}
}

func skipBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// choicesOf returns the inside of a non-empty choices array and all that follows it; nil when absent or empty.
func choicesOf(data []byte) []byte {
	v := valueOf(data, keyChoices)
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	if v = skipBlanks(v[1:]); len(v) == 0 || v[0] == ']' {
		return nil
	}
	return v
}

// textLen is the number of bytes of the first non-empty string under key, as written (escapes counted); 0 when every
// one is empty or null. With several choices in an event, any of them counts.
func textLen(data, key []byte) int {
	for {
		v := valueOf(data, key)
		if len(v) == 0 {
			return 0
		}
		if v[0] == '"' {
			if n := stringLen(v[1:]); n > 0 {
				return n
			}
		}
		data = v
	}
}

// stringLen is the length of a JSON string up to its closing quote.
func stringLen(b []byte) int {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return len(b)
		}
		i += j
		slashes := 0
		for k := i - 1; k >= 0 && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		i++
	}
}

// textOf measures the text of a choices event; content tells that some of it is content and not reasoning.
func textOf(choices []byte, chat bool) (n int, content bool) {
	key := keyText
	if chat {
		key = keyContent
	}
	if n := textLen(choices, key); n > 0 {
		return n, true
	}
	if chat {
		for _, key := range otherChannels {
			if n := textLen(choices, key); n > 0 {
				return n, false
			}
		}
	}
	return 0, false
}

// finishOf is the first finish_reason of a choices event that is not null or empty; nil when there is none.
func finishOf(choices []byte) []byte {
	for {
		v := valueOf(choices, keyFinish)
		if len(v) < 2 {
			return nil
		}
		if n := stringLen(v[1:]); v[0] == '"' && n > 0 {
			return v[1 : 1+n]
		}
		choices = v
	}
}

// hasError reports an error object or string of an event. It is asked of events whose bytes hold the key at all.
func hasError(data []byte) bool {
	v := valueOf(data, keyError)
	return len(v) > 0 && (v[0] == '{' || v[0] == '"' && stringLen(v[1:]) > 0)
}

// usage holds the counts of a usage object; -1 for what it does not carry.
type usage struct {
	prompt, output, cached int
}

var noUsage = usage{-1, -1, -1}

// usageOf reads the usage object of an event; false when there is none, or null.
func usageOf(data []byte) (usage, bool) {
	v := valueOf(data, keyUsage)
	if len(v) == 0 || v[0] != '{' {
		return noUsage, false
	}
	u := usage{intOf(v, keyPromptTokens), intOf(v, keyOutputTokens), intOf(v, keyCachedTokens)}
	return u, u.output >= 0
}

// intOf reads the whole number under key; -1 when there is none.
func intOf(data, key []byte) int {
	v := valueOf(data, key)
	n, i := 0, 0
	for ; i < len(v) && '0' <= v[i] && v[i] <= '9' && n < 1<<40; i++ {
		n = n*10 + int(v[i]-'0')
	}
	if i == 0 || i < len(v) && (v[i] == '.' || v[i] == 'e' || v[i] == 'E') {
		return -1
	}
	return n
}
