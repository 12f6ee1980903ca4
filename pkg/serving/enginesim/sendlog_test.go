package enginesim

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sampleRecord() Record {
	return Record{N: 3, ID: "a-\"b\"\\\x01é", Conn: 2, OnConn: 1, Path: completionsPath, Burst: 4, Read: 1000, Admitted: 1001,
		HeaderBytes: 120, BodyBytes: 99, PromptTokens: 512, CachedTokens: 496, OutputTokens: 2, Stream: true, Status: 200,
		Faults: []string{"stall", "crlf"}, InFlight: 8, End: EndOK, Ended: 5000, Retries: 1,
		Writes: []Write{{1100, 1000, 139, 0, 0}, {3000, 2990, 200, 1, 1}, {5000, 4990, 300, 1, 1}}}
}

func TestSendLogRoundTrip(t *testing.T) {
	var b bytes.Buffer
	h := Header{Version: sendLogVersion, Model: "m", PID: 7, Started: 900, WallOffset: 1 << 60}
	w, err := newLogWriter(&b, 1<<20, h)
	if err != nil {
		t.Fatal(err)
	}
	var want []Record
	for n := range 100 {
		r := w.record()
		one := sampleRecord()
		one.N = n + 1
		one.Writes = one.Writes[:n%4%3]
		want = append(want, one)
		writes, faults := append(r.Writes, one.Writes...), append(r.Faults, one.Faults...)
		*r = one
		r.Writes, r.Faults = writes, faults
		w.put(r)
	}
	sum := Summary{Requests: 100, PeakInFlight: 8, Connections: 2, Arrivals: []int{60, 40}}
	if err := w.close(sum); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSendLog(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if len(want[i].Writes) == 0 {
			want[i].Writes = []Write{}
		}
	}
	if diff := cmp.Diff(&SendLog{h, want, &sum}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A server that was killed leaves a line that is cut off, or no summary.
	cut, err := ReadSendLog(bytes.NewReader(b.Bytes()[:b.Len()-150]))
	if err != nil || cut.Summary != nil || len(cut.Records) < 98 {
		t.Errorf("cut off: got %d records, summary %v, error %v, want what was whole", len(cut.Records), cut.Summary, err)
	}
}

func TestSendLogLimit(t *testing.T) {
	var b bytes.Buffer
	w, err := newLogWriter(&b, 2000, Header{Version: sendLogVersion})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		r := sampleRecord()
		w.put(&r)
	}
	if err := w.close(Summary{}); err != nil {
		t.Fatal(err)
	}
	log, err := ReadSendLog(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(log.Records); n == 0 || n+log.Summary.Dropped != 100 {
		t.Errorf("got %d records and %d dropped, want 100 together and some of each", n, log.Summary.Dropped)
	}
}

func TestReadSendLogErrors(t *testing.T) {
	head := `{"engine_sim_send_log":1}` + "\n"
	for text, want := range map[string]string{
		"":                                       "line 1: the header is missing",
		`{"engine_sim_send_log":2}` + "\n":       "line 1: version 2",
		"{}\n":                                   "line 1: version 0",
		head + "x\n":                             "line 2:",
		head + `{"n":0}` + "\n":                  "line 2: n must be",
		head + `{"m":1}` + "\n":                  "line 2: json: unknown field",
		head + `{"n":1,"writes":[[1,2]]}` + "\n": "line 2: a write has 5 numbers",
		head + `{"summary":{}}` + "\n{\"n\":1}\n": "line 3: there is more after the summary",
	} {
		if _, err := ReadSendLog(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzRecord holds that whatever a record says is read back.
func FuzzRecord(f *testing.F) {
	f.Add("id", "/v1/completions", int64(1), int64(2), uint64(3))
	f.Add("a\x00\xff\"\\\u2028", "", int64(-1), int64(1)<<62, uint64(0))
	f.Fuzz(func(t *testing.T, id, path string, read, ended int64, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 0))
		want := sampleRecord()
		want.ID, want.Path, want.Read, want.Ended = strings.ToValidUTF8(id, "\ufffd"), strings.ToValidUTF8(path, "\ufffd"), read, ended
		want.Writes = []Write{}
		for range dice.IntN(20) {
			want.Writes = append(want.Writes, Write{dice.Int64(), -dice.Int64(), dice.IntN(1 << 30), dice.IntN(9), dice.IntN(99)})
		}
		line := appendRecord(nil, &want)
		if !json.Valid(line) {
			t.Fatalf("no JSON: %s", line)
		}
		log, err := ReadSendLog(bytes.NewReader(append([]byte("{\"engine_sim_send_log\":1}\n"), line...)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, log.Records[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzReadSendLog holds that no text makes the reader fall over.
func FuzzReadSendLog(f *testing.F) {
	f.Add([]byte("{\"engine_sim_send_log\":1}\n{\"n\":1,\"writes\":[[1,2,3,4,5]]}\n{\"summary\":{}}\n"))
	f.Add([]byte("{\"engine_sim_send_log\":1}\n{\"n\":1,\"writes\":null}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := ReadSendLog(bytes.NewReader(b))
		if err == nil {
			log.PeakInFlight()
			for _, r := range log.Records {
				r.TTFT()
				r.TPOT()
			}
		}
	})
}

func TestRecordFigures(t *testing.T) {
	r := sampleRecord()
	if got, ok := r.TTFT(); !ok || got != 2000*time.Nanosecond {
		t.Errorf("got TTFT %s, %v, want 2µs", got, ok)
	}
	if got, ok := r.TPOT(); !ok || got != 2000*time.Nanosecond {
		t.Errorf("got TPOT %s, %v, want 2µs", got, ok)
	}
	if got := (&SendLog{Records: []Record{r}}).Lags(); !slices.Equal(got, []time.Duration{10, 10}) {
		t.Errorf("got lags %v, want 10ns twice: the head carries no tokens", got)
	}
	r.Writes, r.OutputTokens = r.Writes[:1], 0
	if _, ok := r.TTFT(); ok {
		t.Error("got a TTFT without tokens")
	}
	if _, ok := r.TPOT(); ok {
		t.Error("got a TPOT without tokens")
	}
	log := SendLog{Records: []Record{{Read: 1, Ended: 10}, {Read: 10, Ended: 20}, {Read: 12, Ended: 13}, {Read: 15, Ended: 19}}}
	if got := log.PeakInFlight(); got != 2 {
		t.Errorf("got peak %d, want 2", got)
	}
}
