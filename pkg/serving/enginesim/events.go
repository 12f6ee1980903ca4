package enginesim

import "strconv"

// eventWriter makes the JSON of one request's answer.
type eventWriter struct {
	chat    bool
	id      string // of the completion
	model   string
	created int64
	wide    bool // words hold characters of several bytes

	promptTokens int // as usage reports them
	cachedTokens int
	cacheReport  bool
}

// words are what tokens read as, each with its blank; wideWords hold
// characters of two to four bytes.
var (
	words     = [...]string{" over", " the", " long", " night", " one", " more", " token", " went", " down", " its", " own", " line", " and", " was", " not", " late"}
	wideWords = [...]string{" é", " ß", " 夜", " 門", " ночь", " 😀", " ü", " 橋"}
)

// appendText appends the text of tokens from to from+n, with what JSON wants.
func (w *eventWriter) appendText(b []byte, from, n int) []byte {
	for i := from; i < from+n; i++ {
		if w.wide {
			b = append(b, wideWords[i%len(wideWords)]...)
		} else {
			b = append(b, words[i%len(words)]...)
		}
	}
	return b
}

// delta is what one event brings.
type delta struct {
	choice    int
	from, n   int // tokens
	role      bool
	reasoning bool
	finish    string // "" for null
}

// appendOpen appends the part that every event begins with.
func (w *eventWriter) appendOpen(b []byte, object string) []byte {
	b = append(b, `{"id":`...)
	b = appendJSONString(b, w.id)
	b = append(b, `,"object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, w.created, 10)
	b = append(b, `,"model":`...)
	b = appendJSONString(b, w.model)
	return append(b, `,"choices":[`...)
}

func (w *eventWriter) object() string {
	if w.chat {
		return "chat.completion.chunk"
	}
	return "text_completion"
}

// appendDelta appends an event with one choice, left open after its choices.
func (w *eventWriter) appendDelta(b []byte, d delta) []byte {
	b = w.appendOpen(b, w.object())
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(d.choice), 10)
	if w.chat {
		b = append(b, `,"delta":{`...)
		if d.role {
			b = append(b, `"role":"assistant",`...)
		}
		if d.reasoning {
			b = append(b, `"reasoning_content":"`...)
		} else {
			b = append(b, `"content":"`...)
		}
		b = w.appendText(b, d.from, d.n)
		b = append(b, `"}`...)
	} else {
		b = append(b, `,"text":"`...)
		b = w.appendText(b, d.from, d.n)
		b = append(b, '"')
	}
	b = append(b, `,"logprobs":null`...)
	b = appendFinish(b, d.finish)
	return append(b, "}]"...)
}

func appendFinish(b []byte, reason string) []byte {
	if reason == "" {
		return append(b, `,"finish_reason":null`...)
	}
	b = append(b, `,"finish_reason":"`...)
	b = append(b, reason...)
	return append(b, '"')
}

// appendUsage appends the usage member, its comma included.
func (w *eventWriter) appendUsage(b []byte, completionTokens int) []byte {
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(w.promptTokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(w.promptTokens+completionTokens), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(completionTokens), 10)
	if w.cacheReport {
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = strconv.AppendInt(b, int64(w.cachedTokens), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendWhole appends the answer of a request that does not stream.
func (w *eventWriter) appendWhole(b []byte, choices, tokens int, finish string, usage bool) []byte {
	object := "text_completion"
	if w.chat {
		object = "chat.completion"
	}
	b = w.appendOpen(b, object)
	for i := range choices {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		if w.chat {
			b = append(b, `,"message":{"role":"assistant","content":"`...)
			b = w.appendText(b, 0, tokens)
			b = append(b, `"}`...)
		} else {
			b = append(b, `,"text":"`...)
			b = w.appendText(b, 0, tokens)
			b = append(b, '"')
		}
		b = append(b, `,"logprobs":null`...)
		b = appendFinish(b, finish)
		b = append(b, '}')
	}
	b = append(b, ']')
	if usage {
		b = w.appendUsage(b, choices*tokens)
	}
	return append(b, '}')
}
