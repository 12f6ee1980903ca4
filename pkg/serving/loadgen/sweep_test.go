package loadgen

import (
	"math"
	"math/rand/v2"
	"testing"
)

func requestsOf(spans ...[2]int64) []Request {
	var out []Request
	for _, s := range spans {
		out = append(out, Request{Sent: s[0], End: s[1]})
	}
	return out
}

func TestSweep(t *testing.T) {
	const s = int64(1e9)
	tests := []struct {
		name     string
		requests []Request
		peak     int
		mean     float64 // over 0..10 s
	}{
		{"nothing", nil, 0, 0},
		{"one", requestsOf([2]int64{1, 5 * s}), 1, 0.5},
		{"in turn: touching is not overlapping", requestsOf([2]int64{1, 5 * s}, [2]int64{5 * s, 10 * s}), 1, 1},
		{"64 slots in turn touch one second three times", requestsOf([2]int64{s, s + s/3}, [2]int64{s + s/3, s + 2*s/3}, [2]int64{s + 2*s/3, 2 * s}), 1, 0.1},
		{"overlap", requestsOf([2]int64{1, 6 * s}, [2]int64{5 * s, 10 * s}), 2, 1.1},
		{"never sent", append(requestsOf([2]int64{1, s}), Request{End: 5}), 1, 0.1},
	}
	for _, tt := range tests {
		es := edges(tt.requests)
		if got := peakOf(es); got != tt.peak {
			t.Errorf("%s: peak: got %d, want %d", tt.name, got, tt.peak)
		}
		if got := meanOf(es, 0, 10*s); math.Abs(got-tt.mean) > 1e-6 {
			t.Errorf("%s: mean: got %v, want %v", tt.name, got, tt.mean)
		}
	}
}

// The sweep holds against counting at every edge.
func TestSweepAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var spans [][2]int64
		for range 1 + r.IntN(40) {
			from := r.Int64N(100) + 1
			spans = append(spans, [2]int64{from, from + 1 + r.Int64N(30)})
		}
		requests := requestsOf(spans...)
		peak, area := 0, 0
		for at := int64(0); at < 200; at++ {
			n := 0
			for _, s := range spans {
				if s[0] <= at && at < s[1] {
					n++
				}
			}
			peak, area = max(peak, n), area+n
		}
		es := edges(requests)
		if got := peakOf(es); got != peak {
			t.Fatalf("%v: peak: got %d, want %d", spans, got, peak)
		}
		if got, want := meanOf(es, 0, 200), float64(area)/200; math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v: mean: got %v, want %v", spans, got, want)
		}
	}
}

func TestSteadyWindow(t *testing.T) {
	const ms = int64(1e6)
	// Ten slots ramp up by 100 ms each, hold for a second with dips of 5 ms between requests, and drain.
	var spans [][2]int64
	for slot := range int64(10) {
		at := slot * 100 * ms
		for range 4 {
			spans = append(spans, [2]int64{at + 1, at + 500*ms})
			at += 505 * ms
		}
	}
	es := edges(requestsOf(spans...))
	from, to := steadyOf(es)
	// The ninth slot starts at 800 ms while the fourth is between requests; the seventh is so when the second ends.
	if wantFrom, wantTo := 805*ms+1, 2110*ms; from != wantFrom || to != wantTo {
		t.Errorf("got %d..%d ms, want %d..%d", from/ms, to/ms, wantFrom/ms, wantTo/ms)
	}
	if from, to := steadyOf(nil); from != 0 || to != 0 {
		t.Errorf("nothing: got %d..%d", from, to)
	}
	// A long hole ends a window; the longer one counts.
	two := requestsOf([2]int64{1, 100 * ms}, [2]int64{200 * ms, 400 * ms})
	if from, to := steadyOf(edges(two)); from != 200*ms || to != 400*ms {
		t.Errorf("two windows: got %d..%d ms", from/ms, to/ms)
	}
}

func TestLags(t *testing.T) {
	var l lags
	for i := range int64(1000) {
		l.add(i * 1000)
	}
	for p, want := range map[float64]float64{50: 0.5, 99: 0.99} {
		if got := l.percentileMs(p); math.Abs(got/want-1) > 0.13 {
			t.Errorf("p%v: got %v, want about %v", p, got, want)
		}
	}
	var both lags
	both.merge(&l)
	both.merge(&l)
	if both.n != 2000 || both.max != 999000 || (&lags{}).percentileMs(99) != 0 {
		t.Errorf("merged: %d, max %d", both.n, both.max)
	}
	for ns := int64(0); ns < 1<<20; ns = ns*5/4 + 1 {
		if got := lagValue(lagBucket(ns)); math.Abs(got-float64(ns)) > float64(ns)*0.13+1 {
			t.Errorf("%d ns is recorded as %v", ns, got)
		}
	}
	l.add(-5)
	l.add(math.MaxInt64)
}
