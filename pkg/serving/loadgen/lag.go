package loadgen

import "math/bits"

// lags is a histogram of delays in nanoseconds, four buckets to a power of two, so that recording one costs nothing
// worth measuring and percentiles are right within a tenth.
type lags struct {
	counts [64 * 4]uint32
	n      uint64
	max    int64
}

func (l *lags) add(ns int64) {
	ns = max(ns, 0)
	l.counts[lagBucket(ns)]++
	l.n++
	l.max = max(l.max, ns)
}

func lagBucket(ns int64) int {
	if ns < 4 {
		return int(ns)
	}
	top := bits.Len64(uint64(ns)) - 1
	return top*4 + int(ns>>(top-2))&3
}

// lagValue is the middle of a bucket.
func lagValue(bucket int) float64 {
	top, quarter := bucket/4, bucket%4
	if top < 2 {
		return float64(bucket)
	}
	return float64(uint64(4+quarter)<<(top-2)) * 1.1
}

func (l *lags) merge(o *lags) {
	for i, c := range o.counts {
		l.counts[i] += c
	}
	l.n += o.n
	l.max = max(l.max, o.max)
}

// percentileMs is the delay that p percent do not exceed, in milliseconds; 0 when empty.
func (l *lags) percentileMs(p float64) float64 {
	rank, seen := uint64(p/100*float64(l.n)), uint64(0)
	for i, c := range l.counts {
		if seen += uint64(c); c > 0 && seen >= rank {
			return min(lagValue(i), float64(l.max)) / 1e6
		}
	}
	return 0
}
