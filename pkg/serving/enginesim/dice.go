package enginesim

import (
	"math"
	"time"
)

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// dice gives a number in [0,1) that depends on its arguments alone, so that a
// run can be repeated whatever order its requests come in.
func dice(seed, a, b uint64) float64 {
	return float64(mix(mix(mix(seed)^a)^b)>>11) / (1 << 53)
}

// jitterOf gives how far write k of request n strays from the schedule.
func (p *Profile) jitterOf(n, k int) time.Duration {
	if p.JitterKind == "none" || p.Jitter == 0 {
		return 0
	}
	u := dice(uint64(p.Seed), uint64(n)+1<<40, uint64(k))
	size := float64(p.Jitter)
	switch p.JitterKind {
	case "uniform":
		return time.Duration(size * (2*u - 1))
	case "normal":
		v := dice(uint64(p.Seed), uint64(n)+1<<41, uint64(k))
		z := math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
		return time.Duration(size * max(-3, min(3, z)))
	}
	return time.Duration(-size * math.Log(1-u)) // late
}
