package window_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

func TestRound(t *testing.T) {
	// As at run time: a product of constants would be exact.
	a, b, c, d, e := 1.9138, 35.4296, 1.9196, 35.8309, 3502.53
	for _, tt := range []struct {
		policy        metric.Policy
		anchor, bound float64
		want          float64
	}{
		{metric.Max, a, a * 1.25, 2.3922}, // 2.39225 is a little less in binary
		{metric.Max, b, b * 1.25, 44.287},
		{metric.Max, c, c * 1.25, 2.3995},
		{metric.Max, d, d * 1.25, 44.7886},
		{metric.Min, e, e * 0.85, 2977.1505},
		{metric.Max, 1, 1.00005, 1.00005}, // four decimals would lose all of it
		{metric.Max, 0.00021, 0.0002625, 0.000263},
		{metric.Max, 0.000213, 0.00026625, 0.0002663}, // outward, with as many digits as it needs
		{metric.Min, 0.000213, 0.00018105, 0.000181},
		{metric.Min, 0.000217, 0.00018445, 0.0001844},
		{metric.Max, 100, 100, 100}, // no headroom
	} {
		got := window.Round(tt.policy, tt.anchor, tt.bound)
		if got != tt.want {
			t.Errorf("%s %v: got %v, want %v", tt.policy, tt.bound, got, tt.want)
		}
		if loss := math.Abs(got - tt.bound); loss > 0.01*math.Abs(tt.bound-tt.anchor)+1e-12 {
			t.Errorf("%s %v: got %v, which is off by more than a hundredth of the headroom", tt.policy, tt.bound, got)
		}
	}
}

func TestDerive(t *testing.T) {
	values := []float64{100, 101, 102, 99, 100, 101, 150, 98, 100, 103}
	for _, tt := range []struct {
		rule    window.Rule
		policy  metric.Policy
		margins window.Margins
		anchor  float64
		want    float64
	}{
		{window.Extremum, metric.Max, window.Margins{}, 150, 187.5},
		{window.Extremum, metric.Min, window.Margins{}, 98, 83.3},
		{window.Screened, metric.Max, window.Margins{}, 103, 113.3},
		{window.Screened, metric.Min, window.Margins{}, 98, 89.0909},
		{window.Extremum, metric.Max, window.Margins{Ceiling: 0.5}, 150, 225},
		{window.Extremum, metric.Min, window.Margins{Floor: 0.5}, 98, 49},
		{window.Screened, metric.Max, window.Margins{Screened: 0.2}, 103, 123.6},
	} {
		b := tt.rule.Derive(tt.policy, values, tt.margins)
		if b.Anchor != tt.anchor || b.Value != tt.want {
			t.Errorf("%s %s %+v: got %v from %v, want %v from %v", tt.rule, tt.policy, tt.margins, b.Value, b.Anchor, tt.want, tt.anchor)
		}
	}
	if b := window.Extremum.Derive(metric.Max, nil, window.Margins{}); b != (window.Bound{}) {
		t.Errorf("nothing: got %+v", b)
	}
}

// What a bound sees, for a latency and for a throughput.
func TestDetects(t *testing.T) {
	values := []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 104}
	b := window.Extremum.Derive(metric.Max, values, window.Margins{})
	if math.Abs(b.Detects-0.30) > 1e-9 || math.Abs(b.Certain-0.30) > 1e-9 || b.Residual != 0 {
		t.Errorf("got %+v, want to see 30 %% and no night out of bounds", b)
	}
	if b.Sees20 > 0.1 || b.Sees30 < 0.1 || b.FalseAlarms > 0.01 {
		t.Errorf("got %+v, want it blind to 20 %%", b)
	}
	b = window.Screened.Derive(metric.Min, []float64{100, 100, 99, 101, 100, 100, 99, 100, 101, 100}, window.Margins{})
	if math.Abs(b.Detects-0.1) > 1e-6 || b.Sees20 < 0.99 || b.OneShot > 0.01 {
		t.Errorf("got %+v, want a floor of 90 that sees a fall of 10 %%", b)
	}
	// An excursion in the window is one night in ten without a confirming run, one in a hundred with it.
	b = window.Screened.Derive(metric.Max, []float64{100, 101, 102, 99, 100, 101, 150, 98, 100, 103}, window.Margins{})
	if math.Abs(b.OneShot-10) > 0.01 || math.Abs(b.FalseAlarms-1) > 0.01 || b.Residual != 0.1 {
		t.Errorf("got %+v, want an alarm in ten nights, confirmed one in a hundred", b)
	}
}

func TestSparkline(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{nil, ""}, {[]float64{1, 2, 3, 4, 5, 6, 7, 8}, "▁▂▃▄▅▆▇█"}, {[]float64{5, 5}, "▅▅"}, {[]float64{1, math.NaN(), 2}, "▁·█"}, {[]float64{math.NaN()}, "·"},
	} {
		if got := window.Sparkline(tt.values); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.values, got, tt.want)
		}
	}
	if got := window.Sparkline(make([]float64, 500)); strings.Count(got, "▅") != 60 {
		t.Errorf("500 nights: got %d of them, want the last 60", len([]rune(got)))
	}
}
