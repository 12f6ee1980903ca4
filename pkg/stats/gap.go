package stats

// Gap is the widest space between neighbours of a sorted sample.
type Gap struct {
	// Width is the distance; Low and High are the neighbours.
	Width, Low, High float64
	// Below and Above count the values on either side.
	Below, Above int
}

// LargestGap finds the widest space that leaves at least side values on each side; the first of equals. ok is false
// when there is none.
func LargestGap(xs []float64, side int) (g Gap, ok bool) {
	side = max(side, 1)
	s := Sorted(xs)
	for i := side; i+side <= len(s); i++ {
		if w := s[i] - s[i-1]; !ok || w > g.Width {
			g, ok = Gap{Width: w, Low: s[i-1], High: s[i], Below: i, Above: len(s) - i}, true
		}
	}
	return g, ok
}

// TwoModes reports whether xs falls into two groups of at least two values: the largest gap is wider than five
// deviations (MAD scaled to sigma) of both sides and wider than resolution, the smallest difference that means
// anything.
func TwoModes(xs []float64, resolution float64) (g Gap, two bool) {
	g, ok := LargestGap(xs, 2)
	if !ok {
		return g, false
	}
	s := Sorted(xs)
	spread := max(MAD(s[:g.Below]), MAD(s[g.Below:])) * MADSigma
	return g, g.Width > 5*spread && g.Width > resolution
}
