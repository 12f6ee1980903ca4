package loadgen

import (
	"context"
	"fmt"
	"slices"
)

// canaryOutput is how many tokens a canary asks for: enough to see how events carry them.
const canaryOutput = 16

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
	// TokensPerEvent is output tokens over choices events; 0 without usage.
	TokensPerEvent float64
	// WordsPerToken is what Plan.WordsPerToken should be for text prompts; 0 without usage.
	WordsPerToken float64
	// Missing lists the tolerable failure classes the engine showed.
	Missing []Class
}

// Canary sends one streamed request with a prompt of its own and reports what the engine does. It is an error when no
// token came back: readiness ends in this one real token. Plan.NumPrompts and the load are left out of account.
func Canary(ctx context.Context, p Plan) (*Findings, error) {
	undecided := p.Prompt == ""
	p.NumPrompts, p.NumWarmups, p.MaxConcurrency, p.ConnLimit, p.Prompts = 1, 0, 0, 0, nil
	p.RequestRate, p.Ramp, p.Stagger = 0, nil, 0
	fill(&p.InputLen, canaryOutput)
	fill(&p.OutputLen, canaryOutput)
	fill(&p.WordsPerToken, 1)
	p.OutputLen = min(p.OutputLen, canaryOutput)
	p.Tolerate, p.LengthTolerance = Tolerable, 0
	f, err := p.canary(ctx)
	if err != nil {
		return nil, err
	}
	q := &f.Request
	if undecided && f.Prompt == TokenIDs && q.Failure == HTTPStatus && (q.Status == 400 || q.Status == 422) {
		refusal := q.Detail
		p.Prompt = Text
		if f, err = p.canary(ctx); err != nil {
			return nil, err
		}
		f.TokenIDsRefused = refusal
	}
	if q := &f.Request; !q.OK() {
		return f, fmt.Errorf("canary: %s: %s", q.Failure, q.Detail)
	}
	f.learn(p.WordsPerToken)
	return f, nil
}

// canary performs the one request.
func (p Plan) canary(ctx context.Context) (*Findings, error) {
	r, err := newRunner(p)
	if err != nil {
		return nil, err
	}
	orders, err := r.write.orders(canary, 1)
	if err != nil {
		return nil, err
	}
	defer r.close()
	ph := newPhase(orders)
	r.perform(ctx, ph, &closedLoop{slots: r.slots, start: Now(), n: 1})
	return &Findings{Request: ph.requests[0], Prompt: r.plan.Prompt}, ctx.Err()
}

// learn reads the findings off the request, whose text had so many words a token.
func (f *Findings) learn(wordsPerToken float64) {
	q := &f.Request
	f.Missing = q.Tolerated
	shown := func(c Class) bool { return !slices.Contains(q.Tolerated, c) }
	f.Usage, f.FinishReason, f.Done = shown(MissingUsage), shown(MissingFinishReason), shown(MissingDone)
	f.UsageEachEvent = q.TokensSource == TokensFromUsage
	if f.Usage {
		f.TokensPerEvent = float64(q.OutputLen) / float64(len(q.Events))
		if f.Prompt == Text && q.InputLen > 0 {
			f.WordsPerToken = wordsPerToken * float64(q.WantInput) / float64(q.InputLen)
		}
	}
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
