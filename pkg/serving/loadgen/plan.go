package loadgen

import (
	"crypto/tls"
	"time"
)

// Endpoints that Plan.Endpoint accepts.
const (
	Completions     = "/v1/completions"
	ChatCompletions = "/v1/chat/completions"
)

// PromptKind says how prompts travel.
type PromptKind string

const (
	// TokenIDs sends the prompt as an array of token ids, whose length is exact without a tokenizer.
	TokenIDs PromptKind = "token_ids"
	// Text sends words; the length is audited by the engine's usage.
	Text PromptKind = "text"
)

// Plan is one step: what to send, where, when, and what counts as success. The zero value of a field means its
// default; Run refuses what cannot be meant with a *PlanError.
type Plan struct {
	// BaseURL is the engine's address, http or https, e.g. "http://127.0.0.1:8000". A path is kept as a prefix.
	BaseURL string
	// Endpoint is Completions (default) or ChatCompletions.
	Endpoint string
	// Model is the model name in the request. Required.
	Model string
	// Tokenizer is only echoed in the export (tokenizer_id). Default: Model.
	Tokenizer string
	// Label is only echoed in the export.
	Label string
	// APIKey, when set, travels as a bearer token.
	APIKey string
	// TLS configures https. Default: the system's roots.
	TLS *tls.Config

	// NumPrompts is the number of measured requests. Required.
	NumPrompts int
	// NumWarmups is the number of untimed requests sent first, with prompts of their own.
	NumWarmups int
	// InputLen and OutputLen are tokens a request. Required unless Prompts is given.
	InputLen, OutputLen int
	// IgnoreEOS asks the engine for exactly OutputLen tokens; then another length is a failure.
	IgnoreEOS bool
	// Prompt says how generated prompts travel. Default: TokenIDs, and Text for ChatCompletions.
	Prompt PromptKind
	// Prompts, when given, are sent instead of generated ones, in order; at least NumPrompts.
	Prompts []Prompt
	// VocabSize bounds generated token ids. Default: 32000.
	VocabSize int
	// WordsPerToken scales generated text prompts; Canary finds it out. Default: 1.
	WordsPerToken float64
	// LengthTolerance is the accepted relative difference between usage.prompt_tokens and the planned length.
	// Default: 0 for token ids, 0.25 for text; negative accepts anything.
	LengthTolerance float64
	// Seed and Step choose the prompts and the arrival gaps: no two (Seed, Step) share a prompt prefix.
	Seed int64
	Step int
	// Discarded marks a whole warm-up step: its prompts are disjoint from those of the measured step of that number.
	Discarded bool
	// ExtraBody is merged over the request body; OmitBody names default keys to leave out.
	ExtraBody map[string]any
	OmitBody  []string
	// UsageEachChunk asks for usage in every chunk (stream_options.continuous_usage_stats).
	UsageEachChunk bool
	// RequestIDPrefix prefixes x-request-id. Default: "gatehouse".
	RequestIDPrefix string

	// MaxConcurrency caps the requests in flight. 0: no cap.
	MaxConcurrency int
	// RequestRate is the open-loop arrival rate in 1/s. 0: infinite, all at once within MaxConcurrency (closed loop).
	RequestRate float64
	// Burstiness is the shape of the gamma gaps: 1 (default) is Poisson, +Inf constant gaps.
	Burstiness float64
	// Ramp changes the rate over the step. Nil: constant.
	Ramp *Ramp
	// Stagger delays the start of each further request of a closed loop's first wave.
	Stagger time.Duration
	// ConnLimit forces fewer connections than the plan needs, as a client with a pool limit has. 0: no limit.
	ConnLimit int

	// ConnectTimeout bounds a dial. Default: 30 s.
	ConnectTimeout time.Duration
	// IdleTimeout bounds the silence of a stream, the wait for the first byte included. Default: 2 min.
	IdleTimeout time.Duration
	// RequestTimeout bounds one request. Default: 1 h.
	RequestTimeout time.Duration
	// MaxFailures stops dispatching after that many failed requests. 0: never.
	MaxFailures int

	// Tolerate names failure classes that this engine is known for and that do not fail a request. They are counted
	// all the same. Default: none.
	Tolerate []Class
	// SLO, when any is set, makes the export carry request_goodput.
	SLO SLO
	// Percentiles to export. Default: 50, 90, 99.
	Percentiles []float64
	// PercentileMetrics selects ttft, tpot, itl, e2el for percentiles. Default: all. Mean, median and std are always
	// exported, unlike TokenSpeed's, where leaving a metric out takes these away too.
	PercentileMetrics []string
	// Progress, when set, is called a few times a second and once at the end, never concurrently.
	Progress func(Progress)
}

// Prompt is one prepared prompt: token ids or a text, and the lengths it is expected to have.
type Prompt struct {
	// IDs are token ids; Text is used when empty.
	IDs []int32
	// Text is the prompt, or the user message on a chat endpoint.
	Text string
	// InputLen is the expected usage.prompt_tokens; 0 is not audited. For IDs it is their number.
	InputLen int
	// OutputLen is max_tokens. Default: the plan's.
	OutputLen int
}

// Ramp changes the request rate from From to To (1/s) over the step, by request index.
type Ramp struct {
	// Exponential interpolates geometrically instead of linearly.
	Exponential bool
	// From and To are rates in 1/s.
	From, To float64
}

// SLO holds the goodput limits; a zero limit is not applied.
type SLO struct {
	TTFT, TPOT, E2EL time.Duration
}

// Progress is the state of a running step.
type Progress struct {
	// Done, Failed and InFlight count measured requests; Total is NumPrompts.
	Done, Failed, InFlight, Total int
}

// PlanError names the field of a Plan that cannot be used.
type PlanError struct {
	// Field is the name of the Plan field.
	Field string
	// Reason says what is wrong and what to do.
	Reason string
}

// Error implements error.
func (e *PlanError) Error() string { return "plan: " + e.Field + ": " + e.Reason }
