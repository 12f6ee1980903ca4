package enginesim

import (
	"strconv"
	"unicode/utf8"
)

// sendLogVersion is the number in the first line of a send log. A reader
// refuses another.
const sendLogVersion = 1

// Header is the first line of a send log.
type Header struct {
	Version int    `json:"engine_sim_send_log"`
	Model   string `json:"model"`
	PID     int    `json:"pid"`
	// Started is CLOCK_MONOTONIC in nanoseconds, as are all times of the log.
	Started int64 `json:"started_ns"`
	// WallOffset is CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds.
	WallOffset int64 `json:"wall_offset_ns"`
}

// Write is one write to the connection.
type Write struct {
	At     int64 // CLOCK_MONOTONIC just before the write, ns
	Due    int64 // when the schedule wanted it, ns
	Bytes  int
	Events int // events that carry output, so neither usage nor [DONE]
	Tokens int // tokens of those events, all choices together
}

// Record is what the server did for one request.
type Record struct {
	N            int    // number of the request, from 1, in the order they were read
	ID           string // x-request-id; "" when the client sent none
	Conn         int    // number of the connection, from 1
	OnConn       int    // number of the request on its connection, from 1
	Path         string
	Burst        int   // number of the burst it came in, from 1
	Read         int64 // when the request had been read whole, ns
	Admitted     int64 // when it left the admission queue, ns; 0 if never
	HeaderBytes  int
	BodyBytes    int
	PromptTokens int // the true count, whatever usage said
	CachedTokens int
	OutputTokens int // tokens sent, all choices together
	Stream       bool
	Status       int
	Faults       []string // faults that applied
	InFlight     int      // requests in flight, this one included, when it was read
	End          string   // one of the End constants
	Ended        int64    // just before the last write, or when it was given up, ns
	Retries      int      // writes put off because the client did not read
	Writes       []Write
}

// How a request ended.
const (
	EndOK        = "ok"       // answered in full
	EndFault     = "fault"    // cut short by a fault
	EndRefused   = "refused"  // answered with an HTTP error
	EndClient    = "client"   // the client went away first
	EndShutdown  = "shutdown" // the server stopped first
	EndWriteFail = "write"    // a write failed
)

// Summary is the last line of a send log that was closed in good order.
type Summary struct {
	Requests int `json:"requests"`
	// PeakInFlight is the most requests in flight at one time, counted from
	// the end of the read to just before the last write.
	PeakInFlight int `json:"peak_in_flight"`
	Connections  int `json:"connections"`
	// Arrivals counts requests by second since Started.
	Arrivals []int `json:"arrivals_per_second"`
	// Dropped counts records left out because the log had reached its limit.
	Dropped int `json:"dropped"`
}

// appendRecord appends r as one JSON line. The keys are written by hand, so
// that logging allocates nothing.
func appendRecord(b []byte, r *Record) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendInt(b, int64(r.N), 10)
	b = appendStringKey(b, "id", r.ID)
	b = appendIntKey(b, "conn", int64(r.Conn))
	b = appendIntKey(b, "on_conn", int64(r.OnConn))
	b = appendStringKey(b, "path", r.Path)
	b = appendIntKey(b, "burst", int64(r.Burst))
	b = appendIntKey(b, "read", r.Read)
	b = appendIntKey(b, "admitted", r.Admitted)
	b = appendIntKey(b, "header_bytes", int64(r.HeaderBytes))
	b = appendIntKey(b, "body_bytes", int64(r.BodyBytes))
	b = appendIntKey(b, "prompt_tokens", int64(r.PromptTokens))
	b = appendIntKey(b, "cached_tokens", int64(r.CachedTokens))
	b = appendIntKey(b, "output_tokens", int64(r.OutputTokens))
	b = append(b, `,"stream":`...)
	b = strconv.AppendBool(b, r.Stream)
	b = appendIntKey(b, "status", int64(r.Status))
	b = append(b, `,"faults":[`...)
	for i, f := range r.Faults {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, f)
	}
	b = append(b, ']')
	b = appendIntKey(b, "in_flight", int64(r.InFlight))
	b = appendStringKey(b, "end", r.End)
	b = appendIntKey(b, "ended", r.Ended)
	b = appendIntKey(b, "retries", int64(r.Retries))
	b = append(b, `,"writes":[`...)
	for i, w := range r.Writes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, w.At, 10)
		for _, v := range [...]int64{w.Due, int64(w.Bytes), int64(w.Events), int64(w.Tokens)} {
			b = append(b, ',')
			b = strconv.AppendInt(b, v, 10)
		}
		b = append(b, ']')
	}
	return append(b, "]}\n"...)
}

func appendIntKey(b []byte, key string, v int64) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return strconv.AppendInt(b, v, 10)
}

func appendStringKey(b []byte, key, v string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return appendJSONString(b, v)
}

// appendJSONString appends s as a JSON string; bytes that are no UTF-8 become
// U+FFFD, as encoding/json has it.
func appendJSONString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
