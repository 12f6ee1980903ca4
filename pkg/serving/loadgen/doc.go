// Package loadgen is the load generator: it drives a streaming OpenAI-compatible engine and measures it.
//
// # One step
//
// Run performs one step: NumWarmups untimed requests, then NumPrompts measured ones, and returns every request's
// phases, the audit of the stimulus and of the client itself, and tags for what spoils the numbers. Export renders the
// step under the key names of TokenSpeed's bench client; Pool takes percentiles over several steps with their count.
// Canary sends a single request with a prompt of its own and reports what the engine does.
//
// # How it measures
//
// Every stream slot owns one connection, dialled before the clock starts. Requests are built beforehand; t0 is taken
// immediately before the write. While a stream runs nothing is decoded and nothing allocated: bytes are scanned in
// place and (time, bytes, tokens) kept per event in arenas touched beforehand. On Linux without TLS the time of an
// event is the kernel's receive stamp of the bytes that completed it, so the client's own scheduling, collector and
// parsing drop out; elsewhere it is taken when the read returns, and Result.Clock says which.
//
// A client that was off its core for some milliseconds finds several segments queued. On loopback, where load
// generator and engine share a network namespace, each keeps its own stamp as long as it is not acknowledged, and
// reads are bounded so as not to span two (see pace.go). After a longer sleep, and on other networks, the kernel
// merges them. What shares a stamp is in coalesced_share.
//
// All times are nanoseconds of the monotonic clock (CLOCK_MONOTONIC on Linux), so they compare with a server's own log.
//
// # Definitions
//
//	ttft       first choices event - t0: any event with a non-empty choices array, a chat's role-only chunk included.
//	           This is TokenSpeed's definition, and it stays behind the reference key (*_ttft_ms) because bounds were
//	           learned under it. first_text_ttft counts from the first non-empty text and shows the difference.
//	e2el       last choices event - t0
//	tpot       (e2el - ttft)/(output tokens - 1), one value a request; requests of one token are left out
//	itl        gaps between choices events, pooled over requests (itl_event is the same sample under an honest name)
//	itl_token  the same gaps spread over the tokens each event carried, weighted by tokens; the first event's tokens
//	           belong to the first token's latency. tokens_source says whether tokens were read from usage in every
//	           event, were one an event, or were estimated from the total.
package loadgen
