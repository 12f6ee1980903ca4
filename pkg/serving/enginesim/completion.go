package enginesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// The gateway's paths that generate.
const (
	completionsPath = "/v1/completions"
	chatPath        = "/v1/chat/completions"
)

// completion is a request for tokens, decoded and checked.
type completion struct {
	chat         bool
	prompt       prompt
	maxTokens    int
	choices      int
	stream       bool
	includeUsage bool
}

// completionBody is what is read of a request body. Other keys are accepted
// and do nothing, as in the engines (temperature, top_p, stop, seed, ...).
type completionBody struct {
	Model               *string         `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	IgnoreEOS   *bool    `json:"ignore_eos"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	Seed        *int64   `json:"seed"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// apiError is an error for the client, in OpenAI's shape.
type apiError struct {
	status  int
	kind    string
	param   string
	message string
}

func (e *apiError) Error() string { return e.message }

func invalid(param, format string, a ...any) *apiError {
	return &apiError{http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, a...)}
}

// body is the error as JSON.
func (e *apiError) body() []byte {
	var param any
	if e.param != "" {
		param = e.param
	}
	// Strings and numbers alone: encoding cannot fail.
	b, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": e.message, "type": e.kind, "param": param, "code": e.status}})
	return b
}

// decodeCompletion reads a request body for the model of that name.
func decodeCompletion(body []byte, chat bool, model string, p *Profile) (completion, *apiError) {
	var in completionBody
	if err := json.Unmarshal(body, &in); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return completion{}, invalid(wrong.Field, "%s must be %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return completion{}, invalid("", "the request body is no JSON: %v", err)
	}
	if in.Model == nil {
		return completion{}, invalid("model", "model is missing")
	}
	if *in.Model != model {
		return completion{}, &apiError{http.StatusNotFound, "NotFoundError", "model",
			fmt.Sprintf("the model %q does not exist here; ask for %q", *in.Model, model)}
	}
	c := completion{chat: chat, choices: 1, maxTokens: 16, stream: in.Stream}
	c.includeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	if in.StreamOptions != nil && !in.Stream {
		return completion{}, invalid("stream_options", "stream_options is for stream: true only")
	}
	if chat {
		c.maxTokens = 128
	}
	failed := c.fill(&in, p)
	return c, failed
}

// fill takes over and checks the lengths and the prompt.
func (c *completion) fill(in *completionBody, p *Profile) *apiError {
	if in.MaxTokens != nil {
		c.maxTokens = *in.MaxTokens
	}
	if c.chat && in.MaxCompletionTokens != nil {
		c.maxTokens = *in.MaxCompletionTokens
	}
	if c.maxTokens < 1 {
		return invalid("max_tokens", "max_tokens must be at least 1, not %d", c.maxTokens)
	}
	if in.N != nil {
		c.choices = *in.N
	}
	if c.choices < 1 || c.choices > 1024 {
		return invalid("n", "n must be 1 to 1024, not %d", c.choices)
	}
	if in.Temperature != nil && *in.Temperature < 0 {
		return invalid("temperature", "temperature must not be negative")
	}
	var err error
	if c.chat {
		c.prompt, err = parseMessages(in.Messages)
	} else {
		c.prompt, err = parsePrompt(in.Prompt, p.VocabSize)
	}
	if err != nil {
		return invalid("prompt", "%v", err)
	}
	if len(c.prompt.tokens) == 0 {
		return invalid("prompt", "prompt is empty")
	}
	// The sum is compared by a difference: max_tokens can be any int.
	if c.maxTokens > p.MaxModelLen-len(c.prompt.tokens) {
		return invalid("max_tokens", "this model's context is %d tokens; %d of prompt and %d of output were asked for",
			p.MaxModelLen, len(c.prompt.tokens), c.maxTokens)
	}
	return nil
}

// chatOverhead is the tokens a chat template puts around a message.
const chatOverhead = 4

func parseMessages(all []message) (prompt, error) {
	if len(all) == 0 {
		return prompt{}, fmt.Errorf("messages is missing or empty")
	}
	var p prompt
	for i, m := range all {
		text, err := messageText(m.Content)
		if err != nil {
			return prompt{}, fmt.Errorf("messages[%d]: %w", i, err)
		}
		for range chatOverhead {
			p.tokens = append(p.tokens, 1<<29)
		}
		p.tokens = appendTextTokens(p.tokens, m.Role)
		p.tokens = appendTextTokens(p.tokens, text)
	}
	return p, nil
}

// messageText reads a message's content: a string or a list of text parts.
func messageText(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", fmt.Errorf("content must be a string or a list of text parts")
	}
	for _, part := range parts {
		if part.Type != "text" {
			return "", fmt.Errorf("a content part of type %q is not supported", part.Type)
		}
		s += part.Text
	}
	return s, nil
}
