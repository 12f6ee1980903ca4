package loadgen

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// order is one request ready to be written, and what is expected of its answer.
type order struct {
	wire      []byte
	id        string
	wantIn    int
	wantOut   int
	tolerance float64
	exact     bool // the output must be of wantOut tokens
}

// accepts tells whether the engine's count of prompt tokens is near enough; -1 is no count.
func (o *order) accepts(prompt int) bool {
	if prompt < 0 || o.wantIn == 0 || o.tolerance < 0 {
		return true
	}
	return math.Abs(float64(prompt-o.wantIn)) <= o.tolerance*float64(o.wantIn)
}

// writer builds requests for one plan.
type writer struct {
	plan   *Plan
	target target
	head   string // up to the request id
	rest   []byte // the body's constant keys, from ',' to '}'
	gen    prompter
	ids    []int32
}

func newWriter(p *Plan, t target) (*writer, error) {
	w := &writer{plan: p, target: t, gen: newPrompter(p.Seed, p.VocabSize)}
	rest, err := json.Marshal(w.constant())
	if err != nil {
		return nil, &PlanError{"ExtraBody", err.Error()}
	}
	w.rest = append([]byte{','}, rest[1:]...)
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: gatehouse-loadgen\r\n", t.path, t.host)
	b.WriteString("Content-Type: application/json\r\nAccept: text/event-stream\r\n")
	if p.APIKey != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", p.APIKey)
	}
	b.WriteString("X-Request-Id: ")
	w.head = b.String()
	return w, nil
}

// constant is the body without prompt and max_tokens: what TokenSpeed's bench client sends, ExtraBody over it.
func (w *writer) constant() map[string]any {
	p := w.plan
	options := map[string]any{"include_usage": true}
	if p.UsageEachChunk {
		options["continuous_usage_stats"] = true
	}
	b := map[string]any{
		"model": p.Model, "stream": true, "stream_options": options, "repetition_penalty": 1.0,
	}
	if p.Endpoint == Completions {
		b["logprobs"] = nil
	}
	if p.IgnoreEOS {
		b["ignore_eos"] = true
	}
	for k, v := range p.ExtraBody {
		b[k] = v
	}
	for _, k := range p.OmitBody {
		delete(b, k)
	}
	// An object must not be empty for rest to begin with a comma.
	b["stream"] = true
	return b
}

// orders builds n requests of a series into one block of memory.
func (w *writer) orders(s series, n int) ([]order, error) {
	out := make([]order, n)
	ends := make([]int, n)
	var block, body []byte
	for i := range out {
		q := w.prompt(s, i)
		out[i] = order{id: w.id(s, i), wantIn: q.InputLen, wantOut: q.OutputLen, tolerance: w.plan.LengthTolerance, exact: w.plan.IgnoreEOS}
		if len(q.IDs) > 0 && w.plan.Prompt == Text {
			out[i].tolerance = 0
		}
		var err error
		if body, err = w.body(body[:0], q); err != nil {
			return nil, &PlanError{"Prompts", err.Error()}
		}
		block = append(block, w.head...)
		block = append(block, out[i].id...)
		block = append(block, "\r\nContent-Length: "...)
		block = strconv.AppendInt(block, int64(len(body)), 10)
		block = append(block, "\r\n\r\n"...)
		block = append(block, body...)
		ends[i] = len(block)
	}
	begin := 0
	for i, end := range ends {
		out[i].wire = block[begin:end:end]
		begin = end
	}
	return out, nil
}

// id names a request; every part has its separator, so that step 1 request 10 is not step 11 request 0.
func (w *writer) id(s series, i int) string {
	kind := [seriesCount]string{"s%d-r%d", "s%d-w%d", "d%d-r%d", "d%d-w%d", "c%d-r%d"}[s]
	return w.plan.RequestIDPrefix + "-" + fmt.Sprintf(kind, w.plan.Step, i)
}

// prompt chooses the given or makes the generated prompt. The slice of ids is reused.
func (w *writer) prompt(s series, i int) Prompt {
	p := w.plan
	if len(p.Prompts) > 0 && (s == measured || s == discarded) {
		q := p.Prompts[i]
		fill(&q.OutputLen, p.OutputLen)
		if len(q.IDs) > 0 {
			q.InputLen = len(q.IDs)
		}
		return q
	}
	q := Prompt{InputLen: p.InputLen, OutputLen: p.OutputLen}
	if p.Prompt == Text {
		words := int(math.Round(float64(p.InputLen) * p.WordsPerToken))
		q.Text = w.gen.text(number(s, p.Step, i), words)
		return q
	}
	w.ids = slices.Grow(w.ids[:0], p.InputLen)[:p.InputLen]
	q.IDs = w.gen.ids(w.ids, number(s, p.Step, i))
	return q
}

// body appends the request's JSON.
func (w *writer) body(b []byte, q Prompt) ([]byte, error) {
	b = append(b, `{"max_tokens":`...)
	b = strconv.AppendInt(b, int64(q.OutputLen), 10)
	switch {
	case len(q.IDs) > 0:
		b = append(b, `,"prompt":[`...)
		for i, id := range q.IDs {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(id), 10)
		}
		b = append(b, ']')
	default:
		text, err := json.Marshal(q.Text)
		if err != nil {
			return nil, err
		}
		if w.plan.Endpoint == ChatCompletions {
			b = append(append(append(b, `,"messages":[{"role":"user","content":`...), text...), `}]`...)
		} else {
			b = append(append(b, `,"prompt":`...), text...)
		}
	}
	return append(b, w.rest...), nil
}
