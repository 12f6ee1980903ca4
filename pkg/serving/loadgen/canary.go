package loadgen

import (
	"context"
	"errors"
)

// Findings is what a canary found out about an engine.
type Findings struct {
	// Request is the canary's request.
	Request Request
	// Prompt is how the engine takes prompts: Text when it refused token ids and Plan.Prompt was empty.
	Prompt PromptKind
	// TokenIDsRefused has the engine's words when it refused token ids.
	TokenIDsRefused string
	// Usage, FinishReason and Done tell whether the stream carried them.
	Usage, FinishReason, Done bool
	// UsageEachEvent tells whether events carry usage of their own.
	UsageEachEvent bool
	// TokensPerEvent is output tokens over choices events.
	TokensPerEvent float64
	// WordsPerToken is what Plan.WordsPerToken should be for text prompts.
	WordsPerToken float64
	// Missing lists the tolerable failure classes the engine showed.
	Missing []Class
}

// Canary sends one streamed request with a prompt of its own and reports what the engine does. It is an error when no
// token came back: readiness ends in this one real token.
func Canary(ctx context.Context, p Plan) (*Findings, error) {
	return nil, errors.New("not built yet")
}

// With returns the plan adapted to the findings: how prompts travel and how long words are. What is tolerated stays
// the caller's decision.
func (p Plan) With(f *Findings) Plan {
	p.Prompt = f.Prompt
	if f.WordsPerToken > 0 {
		p.WordsPerToken = f.WordsPerToken
	}
	return p
}
