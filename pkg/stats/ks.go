package stats

import "math"

// KS is the Kolmogorov-Smirnov distance between a sample and a distribution function; 0 when empty.
func KS(xs []float64, cdf func(float64) float64) float64 {
	s := Sorted(xs)
	n := float64(len(s))
	d := 0.0
	for i, x := range s {
		f := cdf(x)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}

// KSLimit is the distance that a sample of size n from the very distribution exceeds with probability alpha, by
// the asymptotic law with Stephens' correction for small n.
func KSLimit(n int, alpha float64) float64 {
	root := math.Sqrt(float64(n))
	return math.Sqrt(-math.Log(alpha/2)/2) / (root + 0.12 + 0.11/root)
}

// GammaCDF is the distribution function of the gamma distribution with the given shape and scale.
func GammaCDF(shape, scale, x float64) float64 {
	if x <= 0 {
		return 0
	}
	return lowerGamma(shape, x/scale)
}

// lowerGamma is the regularized lower incomplete gamma function, by its series below a+1 and by the continued
// fraction (modified Lentz) above.
func lowerGamma(a, x float64) float64 {
	lgamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lgamma)
	const tiny, eps = 1e-300, 1e-14
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := a + 1; term > sum*eps; n++ {
			term *= x / n
			sum += term
		}
		return front * sum
	}
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 1000; i++ {
		an := -i * (i - a)
		b += 2
		d = 1 / nonzero(an*d+b, tiny)
		c = nonzero(b+an/c, tiny)
		step := d * c
		h *= step
		if math.Abs(step-1) < eps {
			break
		}
	}
	return 1 - front*h
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
