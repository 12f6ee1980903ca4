package loadgen

// Request is one request as it happened. Times are monotonic nanoseconds; 0 means that the phase was not reached.
type Request struct {
	// Index is the place in the plan, from 0; ID is the x-request-id it carried.
	Index int
	ID    string
	// Slot is the stream slot that sent it; FirstWave tells the first request of a slot in a closed loop.
	Slot      int
	FirstWave bool

	// Intended is when the request should have started: the arrival in an open loop, the moment its slot became free
	// in a closed one.
	Intended int64
	// Dispatch is when a slot took it up.
	Dispatch int64
	// Connected is when its connection stood: before Dispatch, unless the slot had to dial again.
	Connected int64
	// Sent is t0, immediately before the request was written; Written is when the write returned.
	Sent, Written int64
	// FirstByte is the first byte of the answer.
	FirstByte int64
	// FirstEvent is the first choices event, FirstText the first with non-empty text of any channel, FirstContent the
	// first with non-empty text or content (reasoning left out).
	FirstEvent, FirstText, FirstContent int64
	// LastToken is the last choices event, Usage the event that carried usage, Done the clean end of the body.
	LastToken, Usage, Done int64
	// End is when the request left the client's hands, however it ended.
	End int64

	// Events are the choices events in order.
	Events []Event
	// TokensSource says where Event.Tokens come from.
	TokensSource TokensSource
	// Reads counts arrivals that completed an event; Coalesced counts events that came in the same arrival as the one
	// before, and share its stamp: a segment with kernel stamps, a read otherwise.
	Reads, Coalesced int
	// Bytes is the size of the answer's body.
	Bytes int64

	// InputLen and OutputLen are tokens by usage; without usage the planned input and the events with text.
	InputLen, OutputLen int
	// CachedTokens is usage.prompt_tokens_details.cached_tokens, -1 when not reported.
	CachedTokens int
	// WantInput and WantOutput are the planned lengths.
	WantInput, WantOutput int
	// FinishReason is the last non-null finish_reason.
	FinishReason string

	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Failure is empty on success; Detail says more in words.
	Failure Class
	Detail  string
	// Tolerated lists what was wrong and forgiven by Plan.Tolerate.
	Tolerated []Class
	// Redialled tells that the slot's connection was gone and had to be dialled again; Retried that the request was
	// written a second time because the engine closed the reused connection without answering.
	Redialled, Retried bool
}

// OK reports success.
func (r *Request) OK() bool { return r.Failure == "" }

// Event is one choices event.
type Event struct {
	// T is the receive stamp, monotonic nanoseconds.
	T int64
	// Bytes is the size of its data.
	Bytes int32
	// Tokens is how many tokens it carried, 0 when it carried none or the number is not known.
	Tokens float32
}

// TokensSource says how the tokens of an event are known.
type TokensSource string

const (
	// TokensFromUsage: usage in every event.
	TokensFromUsage TokensSource = "usage_each_event"
	// TokensOnePerEvent: as many events with text as tokens.
	TokensOnePerEvent TokensSource = "one_per_event"
	// TokensEstimated: the total by usage, spread over the events.
	TokensEstimated TokensSource = "estimated"
	// TokensUnknown: no usage.
	TokensUnknown TokensSource = "unknown"
)
