package loadgen

// Class names why a request failed. The zero value is success.
type Class string

const (
	// ConnectRefused: the engine refused the connection (nobody listens).
	ConnectRefused Class = "connect_refused"
	// ConnectTimeout: no connection within Plan.ConnectTimeout.
	ConnectTimeout Class = "connect_timeout"
	// ConnectFailed: any other failure to connect (name, route, TLS).
	ConnectFailed Class = "connect_failed"
	// HTTPStatus: an answer other than 200; Request.Status has the code.
	HTTPStatus Class = "http_status"
	// BadResponse: not HTTP, not an event stream, or an event that is no JSON object.
	BadResponse Class = "bad_response"
	// ErrorEvent: the engine reported an error inside the stream, after 200.
	ErrorEvent Class = "error_event"
	// Truncated: the connection ended in the middle of the stream.
	Truncated Class = "truncated"
	// IdleTimeout: nothing arrived for Plan.IdleTimeout.
	IdleTimeout Class = "idle_timeout"
	// RequestTimeout: the request took longer than Plan.RequestTimeout.
	RequestTimeout Class = "request_timeout"
	// NoToken: the stream ended cleanly without one token.
	NoToken Class = "no_token"
	// ShortOutput: fewer tokens than asked for under ignore_eos.
	ShortOutput Class = "short_output"
	// LongOutput: more tokens than asked for.
	LongOutput Class = "long_output"
	// MissingUsage: the stream carried no usage, so its length is unknown.
	MissingUsage Class = "missing_usage"
	// MissingFinishReason: no event said why the output ended.
	MissingFinishReason Class = "missing_finish_reason"
	// MissingDone: the stream ended without [DONE].
	MissingDone Class = "missing_done"
	// PromptLengthMismatch: usage.prompt_tokens is not the planned length.
	PromptLengthMismatch Class = "prompt_length_mismatch"
	// Canceled: the context ended while the request was waiting or running.
	Canceled Class = "canceled"
	// NotSent: dispatching stopped after Plan.MaxFailures failures.
	NotSent Class = "not_sent"
)

// Tolerable lists the classes that Plan.Tolerate accepts: the stream ended, and something of it was missing or odd.
var Tolerable = []Class{ShortOutput, LongOutput, MissingUsage, MissingFinishReason, MissingDone, PromptLengthMismatch}

// protocolError is an answer that is not what HTTP or an event stream can be.
type protocolError struct {
	reason string
}

// Error implements error.
func (e *protocolError) Error() string { return e.reason }
