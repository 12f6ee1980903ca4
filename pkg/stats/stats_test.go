package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tol {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestPercentile(t *testing.T) {
	tests := []struct {
		name   string
		sorted []float64
		p      float64
		want   float64
	}{
		{"empty", nil, 50, math.NaN()},
		{"one", []float64{7}, 99, 7},
		{"between", []float64{1, 2, 3, 4}, 50, 2.5},
		{"rank 30.69 of 32", ramp(32), 99, 30.69},
		{"low end", ramp(5), 0, 0},
		{"high end", ramp(5), 100, 4},
		{"below 0", ramp(5), -3, 0},
		{"above 100", ramp(5), 120, 4},
	}
	for _, tt := range tests {
		near(t, tt.name, Percentile(tt.sorted, tt.p), tt.want, 1e-12)
	}
}

func ramp(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(i)
	}
	return s
}

func TestMoments(t *testing.T) {
	xs := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	near(t, "mean", Mean(xs), 5, 0)
	near(t, "std", Std(xs), 2, 1e-12)
	near(t, "median", Median(xs), 4.5, 0)
	near(t, "mad", MAD(xs), 0.5, 0)
	near(t, "mean of nothing", Mean(nil), math.NaN(), 0)
	near(t, "std of nothing", Std(nil), math.NaN(), 0)
	near(t, "mad of nothing", MAD(nil), math.NaN(), 0)
	if !slices.Equal(xs, []float64{2, 4, 4, 4, 5, 5, 7, 9}) {
		t.Errorf("input changed: %v", xs)
	}
}

func TestPoolIsNotAMeanOfPercentiles(t *testing.T) {
	got := Pool(50, []float64{1, 1, 1}, []float64{10})
	if want := (Pooled{Value: 1, N: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Pool(99); got.N != 0 || !math.IsNaN(got.Value) {
		t.Errorf("empty pool: got %+v", got)
	}
}

func TestWeightedEqualsRepeated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var ws []Weighted
		var plain []float64
		for range 1 + r.IntN(20) {
			w := Weighted{Value: r.Float64(), Weight: float64(r.IntN(5))}
			ws = append(ws, w)
			for range int(w.Weight) {
				plain = append(plain, w.Value)
			}
		}
		s, want := NewWeighted(ws), Sorted(plain)
		for _, p := range []float64{0, 10, 50, 90, 99, 100} {
			near(t, "percentile", s.Percentile(p), Percentile(want, p), 1e-9)
		}
		near(t, "mean", s.Mean(), Mean(plain), 1e-9)
		near(t, "std", s.Std(), Std(plain), 1e-9)
	}
}

func TestWeightedFractions(t *testing.T) {
	// Ten events of 127/9 tokens: sums of thirds must not slip a position.
	ws := make([]Weighted, 9)
	for i := range ws {
		ws[i] = Weighted{Value: 3, Weight: 127.0 / 9}
	}
	s := NewWeighted(ws)
	near(t, "p100", s.Percentile(100), 3, 0)
	near(t, "weight", s.Weight(), 127, 1e-9)
}

func TestTwoModes(t *testing.T) {
	// Step durations of a cell at concurrency 64 of which one in twelve stalled (seconds).
	clean := []float64{1.60, 1.61, 1.61, 1.62, 1.60, 1.61, 1.62, 1.60, 1.61}
	tests := []struct {
		name string
		xs   []float64
		want bool
	}{
		{"clean", clean, false},
		{"stalled", append(slices.Clone(clean), 2.54, 2.55, 2.55), true},
		{"one excursion is not a mode", append(slices.Clone(clean), 2.54), false},
		{"too few", []float64{1, 1, 5}, false},
		{"two pairs", []float64{1, 1, 5, 5}, true},
	}
	for _, tt := range tests {
		if _, got := TwoModes(tt.xs, 0.02); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	g, _ := TwoModes(append(slices.Clone(clean), 2.54, 2.55), 0.02)
	if g.Below != 9 || g.Above != 2 || g.Low != 1.62 || g.High != 2.54 {
		t.Errorf("gap: got %+v", g)
	}
}

func TestGammaCDF(t *testing.T) {
	tests := []struct{ shape, scale, x, want float64 }{
		{1, 2, 3, 1 - math.Exp(-1.5)},
		{2, 1, 1, 1 - 2*math.Exp(-1)},
		{2, 1, 9, 1 - 10*math.Exp(-9)},
		{0.5, 1, 0.25, math.Erf(0.5)},
		{0.5, 1, 4, math.Erf(2)},
		{3, 1, 0, 0},
	}
	for _, tt := range tests {
		near(t, "gamma", GammaCDF(tt.shape, tt.scale, tt.x), tt.want, 1e-12)
	}
}

func TestKS(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	exp := make([]float64, 400)
	for i := range exp {
		exp[i] = r.ExpFloat64()
	}
	limit := KSLimit(len(exp), 0.001)
	near(t, "limit", limit, 1.9495/(20+0.12+0.11/20), 1e-3)
	if d := KS(exp, func(x float64) float64 { return GammaCDF(1, 1, x) }); d > limit {
		t.Errorf("exponential sample: distance %v over %v", d, limit)
	}
	if d := KS(exp, func(x float64) float64 { return GammaCDF(4, 0.25, x) }); d < limit {
		t.Errorf("wrong distribution: distance %v under %v", d, limit)
	}
}

// Start-up times of one engine, a ceiling of 1.25 times the maximum of the window: how often a night outside the
// window breaches it, by window size.
func TestBreachRate(t *testing.T) {
	startup := []float64{189, 276, 285, 291, 316, 319, 379}
	ceiling := func(x float64) float64 { return 1.25 * x }
	for n, want := range map[int]float64{1: 9.0 / 42, 2: 0.057, 3: 0.029, 4: 0.0095, 5: 0, 6: 0} {
		near(t, "ceiling", BreachRate(startup, n, true, ceiling), want, 5e-4)
	}
	floor := func(x float64) float64 { return 0.85 * x }
	near(t, "floor", BreachRate([]float64{100, 100, 80}, 2, false, floor), 1.0/3, 1e-12)
	near(t, "window as large as the sample", BreachRate(startup, 7, true, ceiling), math.NaN(), 0)
}
