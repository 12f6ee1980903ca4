package loadgen

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// edge is a change of the number of requests in flight.
type edge struct {
	at    int64
	delta int
}

// edges lists every send and end in order; at equal times ends come first, since the slot was free before it was used.
func edges(requests []Request) []edge {
	es := make([]edge, 0, 2*len(requests))
	for i := range requests {
		if q := &requests[i]; q.Sent > 0 {
			es = append(es, edge{q.Sent, 1}, edge{max(q.End, q.Sent+1), -1})
		}
	}
	slices.SortFunc(es, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
	})
	return es
}

// peakOf is the greatest number in flight at once.
func peakOf(es []edge) int {
	n, peak := 0, 0
	for _, e := range es {
		n += e.delta
		peak = max(peak, n)
	}
	return peak
}

// meanOf is the time-weighted mean in flight between two times; 0 when they are the same.
func meanOf(es []edge, from, to int64) float64 {
	if to <= from {
		return 0
	}
	area, n, last := 0.0, 0, from
	for _, e := range es {
		at := min(max(e.at, from), to)
		area += float64(n) * float64(at-last)
		last = at
		n += e.delta
	}
	area += float64(n) * float64(to-last)
	return area / float64(to-from)
}

// A steady window may dip below the threshold for as long as a slot needs to send its next request.
const steadyDip = int64(20 * time.Millisecond)

// steadyRatio of the peak is what the steady window holds.
const steadyRatio = 0.9

// steadyOf is the longest span in which at least steadyRatio of the peak was in flight, short dips bridged.
func steadyOf(es []edge) (from, to int64) {
	threshold := int(math.Ceil(steadyRatio * float64(peakOf(es))))
	if threshold == 0 {
		return 0, 0
	}
	n, above := 0, false
	var begin, below int64
	keep := func(end int64) {
		if end-begin > to-from {
			from, to = begin, end
		}
	}
	for _, e := range es {
		was := n >= threshold
		n += e.delta
		switch is := n >= threshold; {
		case is && !was:
			if above && e.at-below > steadyDip {
				keep(below)
				above = false
			}
			if !above {
				begin, above = e.at, true
			}
		case was && !is:
			below = e.at
		}
	}
	if above {
		keep(below)
	}
	return from, to
}

// plateau bounds the part of a closed loop that should be full: from the last send of the first wave to the last send.
func plateau(requests []Request) (from, to int64) {
	for i := range requests {
		q := &requests[i]
		if q.FirstWave {
			from = max(from, q.Sent)
		}
		to = max(to, q.Sent)
	}
	return from, to
}
