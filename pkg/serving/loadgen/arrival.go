package loadgen

import (
	"math"
	"math/rand/v2"
)

// arrivals are the intended starts of an open loop in seconds from its beginning: an absolute schedule drawn
// beforehand. It is not rescaled to end at n/rate, which would no longer be the distribution asked for. The first
// request comes after a gap of its own, as the others do.
func arrivals(p *Plan) []float64 {
	r := rand.New(rand.NewPCG(uint64(p.Seed), uint64(p.Step)*uint64(seriesCount)+1))
	at := make([]float64, p.NumPrompts)
	t := 0.0
	for i := range at {
		t += gap(r, p.Burstiness) / p.rate(i)
		at[i] = t
	}
	return at
}

// rate is the planned rate at request i, in 1/s.
func (p *Plan) rate(i int) float64 {
	if p.Ramp == nil {
		return p.RequestRate
	}
	f := 0.0
	if p.NumPrompts > 1 {
		f = float64(i) / float64(p.NumPrompts-1)
	}
	if p.Ramp.Exponential {
		return p.Ramp.From * math.Pow(p.Ramp.To/p.Ramp.From, f)
	}
	return p.Ramp.From + (p.Ramp.To-p.Ramp.From)*f
}

// gap draws a gap of mean 1 from the gamma distribution of the given shape; infinite shape is no draw at all.
func gap(r *rand.Rand, shape float64) float64 {
	switch {
	case math.IsInf(shape, 1):
		return 1
	case shape == 1:
		return r.ExpFloat64()
	}
	return gamma(r, shape) / shape
}

// gamma draws from the gamma distribution of scale 1 (Marsaglia and Tsang, with the usual boost below shape 1).
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
