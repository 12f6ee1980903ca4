package enginesim

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// SendLog is a send log as it was read.
type SendLog struct {
	Header  Header
	Records []Record // in the order the requests ended
	// Summary is nil when the server did not close the log (it was killed).
	Summary *Summary
}

// maxLogLine bounds one line of a send log: a request with a million writes.
const maxLogLine = 64 << 20

// recordLine is a Record as JSON has it.
type recordLine struct {
	N            int      `json:"n"`
	ID           string   `json:"id"`
	Conn         int      `json:"conn"`
	OnConn       int      `json:"on_conn"`
	Path         string   `json:"path"`
	Burst        int      `json:"burst"`
	Read         int64    `json:"read"`
	Admitted     int64    `json:"admitted"`
	HeaderBytes  int      `json:"header_bytes"`
	BodyBytes    int      `json:"body_bytes"`
	PromptTokens int      `json:"prompt_tokens"`
	CachedTokens int      `json:"cached_tokens"`
	OutputTokens int      `json:"output_tokens"`
	Stream       bool     `json:"stream"`
	Status       int      `json:"status"`
	Faults       []string `json:"faults"`
	InFlight     int      `json:"in_flight"`
	End          string   `json:"end"`
	Ended        int64    `json:"ended"`
	Retries      int      `json:"retries"`
	Writes       []Write  `json:"writes"`
	Summary      *Summary `json:"summary"`
}

// UnmarshalJSON reads a write: [at, due, bytes, events, tokens].
func (w *Write) UnmarshalJSON(b []byte) error {
	var v []int64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if len(v) != 5 {
		return fmt.Errorf("a write has 5 numbers, not %d", len(v))
	}
	*w = Write{At: v[0], Due: v[1], Bytes: int(v[2]), Events: int(v[3]), Tokens: int(v[4])}
	return nil
}

// ReadSendLog reads a send log whole. A last line that was cut off (the server
// was killed) is left out; anything else that is wrong is an error with its
// line number.
func ReadSendLog(r io.Reader) (*SendLog, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	log := &SendLog{}
	for n := 1; ; n++ {
		line, err := readLogLine(in)
		if errors.Is(err, io.EOF) {
			if n == 1 {
				return nil, fmt.Errorf("reading send log: line 1: the header is missing")
			}
			return log, nil
		}
		if err == nil {
			err = log.add(n, line)
		}
		if err != nil {
			return nil, fmt.Errorf("reading send log: line %d: %w", n, err)
		}
	}
}

// readLogLine gives a whole line; one without its newline is none.
func readLogLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLogLine {
			return nil, fmt.Errorf("the line is longer than %d bytes", maxLogLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (log *SendLog) add(n int, line []byte) error {
	if log.Summary != nil {
		return fmt.Errorf("there is more after the summary")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if n == 1 {
		if err := d.Decode(&log.Header); err != nil {
			return err
		}
		if log.Header.Version != sendLogVersion {
			return fmt.Errorf("version %d is not %d", log.Header.Version, sendLogVersion)
		}
		return nil
	}
	var l recordLine
	if err := d.Decode(&l); err != nil {
		return err
	}
	if l.Summary != nil {
		log.Summary = l.Summary
		return nil
	}
	if l.N < 1 {
		return fmt.Errorf("n must be at least 1, not %d", l.N)
	}
	log.Records = append(log.Records, Record{N: l.N, ID: l.ID, Conn: l.Conn, OnConn: l.OnConn, Path: l.Path, Burst: l.Burst,
		Read: l.Read, Admitted: l.Admitted, HeaderBytes: l.HeaderBytes, BodyBytes: l.BodyBytes, PromptTokens: l.PromptTokens,
		CachedTokens: l.CachedTokens, OutputTokens: l.OutputTokens, Stream: l.Stream, Status: l.Status, Faults: l.Faults,
		InFlight: l.InFlight, End: l.End, Ended: l.Ended, Retries: l.Retries, Writes: l.Writes})
	return nil
}

// PeakInFlight is the most requests in flight at one time by the records: from
// Read to Ended. It equals the summary's when no record was dropped.
func (log *SendLog) PeakInFlight() int {
	type edge struct {
		at    int64
		delta int
	}
	edges := make([]edge, 0, 2*len(log.Records))
	for _, r := range log.Records {
		edges = append(edges, edge{r.Read, 1}, edge{r.Ended, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return cmp.Compare(a.delta, b.delta) // an end before a beginning
	})
	now, peak := 0, 0
	for _, e := range edges {
		now += e.delta
		peak = max(peak, now)
	}
	return peak
}

// Lags gives how late each write with tokens went out, in the order of the
// records: the server's own inaccuracy, which clients must not be charged with.
func (log *SendLog) Lags() []time.Duration {
	var lags []time.Duration
	for _, r := range log.Records {
		for _, w := range r.Writes {
			if w.Tokens > 0 {
				lags = append(lags, time.Duration(w.At-w.Due))
			}
		}
	}
	return lags
}

// TTFT is the time from the request read to its first tokens sent; false when
// none were.
func (r *Record) TTFT() (time.Duration, bool) {
	for _, w := range r.Writes {
		if w.Tokens > 0 {
			return time.Duration(w.At - r.Read), true
		}
	}
	return 0, false
}

// TPOT is the time from the first to the last tokens sent over the output
// tokens less one, as clients define it for one choice; false when there were
// fewer than two tokens.
func (r *Record) TPOT() (time.Duration, bool) {
	var first, last int64
	for _, w := range r.Writes {
		if w.Tokens > 0 {
			if first == 0 {
				first = w.At
			}
			last = w.At
		}
	}
	if r.OutputTokens < 2 {
		return 0, false
	}
	return time.Duration(last-first) / time.Duration(r.OutputTokens-1), true
}
