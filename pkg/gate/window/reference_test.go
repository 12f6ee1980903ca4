package window_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

// The ten nights of the reference arm what its maintainers armed by hand, with the same four numbers,
// and say of everything else why not.
func TestTenNights(t *testing.T) {
	r := read(t, readReference(t).tenNights(), window.Options{})
	bounds := map[string]map[string]float64{
		"baseline":           {"median_tpot_ms": 2.3922, "p99_itl_ms": 44.287},
		"no-scratch-reclaim": {"median_tpot_ms": 2.3995, "p99_itl_ms": 44.7886},
	}
	reasons := map[string]string{
		"median_ttft_ms": "exposed:", "output_throughput": "exposed:",
		"p99_ttft_ms": "sample: of 96 pooled requests 0.96 lie beyond", "p99_tpot_ms": "sample: of 96 pooled requests 0.96", "p99_e2el_ms": "sample: of 96 pooled requests 0.96",
		"median_e2el_ms":     "redundant: it follows from median_ttft_ms and median_tpot_ms",
		"request_throughput": "redundant: it follows from output_throughput", "total_token_throughput": "redundant: it follows from output_throughput",
		"tokens_per_sec": "redundant: it follows from output_throughput",
		metric.StepTime:  "exposed:",
	}
	for cell, want := range bounds {
		c := cellOf(t, r, cell)
		if len(c.Nights) != 10 || c.Short != "" || len(c.Findings) > 0 {
			t.Errorf("%s: got %d nights, short %q, findings %q, want a clean window of 10", cell, len(c.Nights), c.Short, c.Findings)
		}
		armed := map[string]float64{}
		for _, m := range c.Metrics {
			switch {
			case m.Verdict == window.Gate:
				armed[m.Name] = m.Bound.Value
			case reasons[m.Name] != "":
				if m.Verdict != window.RecordOnly || !because(m, reasons[m.Name]) {
					t.Errorf("%s %s: got %s because %q, want record-only because %q", cell, m.Name, m.Verdict, m.Reasons, reasons[m.Name])
				}
			default:
				if m.Verdict != window.Never || len(m.Reasons) != 1 {
					t.Errorf("%s %s: got %s because %q, want never with one reason", cell, m.Name, m.Verdict, m.Reasons)
				}
			}
		}
		if !maps.Equal(armed, want) {
			t.Errorf("%s: got %v armed, want %v", cell, armed, want)
		}
		for name := range reasons {
			metricOf(t, c, name)
		}
		for _, name := range []string{"median_ttft_ms", "output_throughput", metric.StepTime} {
			if m := c.Metric(name); !m.Armable {
				t.Errorf("%s %s: got not armable because %q, want armable when it is named", cell, name, m.Reasons)
			}
		}
		for _, name := range []string{"p99_ttft_ms", "p99_tpot_ms", "p99_e2el_ms"} {
			if m := c.Metric(name); m.Armable {
				t.Errorf("%s %s: got armable, want not, whoever names it", cell, name)
			}
		}
	}
}

// The widest full range of the window is a night that was quicker, which no ceiling needs to mind.
func TestFullRangeIsNotTheSpread(t *testing.T) {
	c := cellOf(t, read(t, readReference(t).tenNights(), window.Options{}), "baseline")
	m := metricOf(t, c, "median_tpot_ms")
	if got := (m.Max - m.Min) / m.Median; math.Abs(got-0.0933) > 0.0001 {
		t.Fatalf("full range: got %.4f, want 0.0933", got)
	}
	if math.Abs(m.Up-0.0122) > 0.0001 || m.Verdict != window.Gate {
		t.Errorf("got upside %.4f and %s because %q, want 0.0122 and a gate", m.Up, m.Verdict, m.Reasons)
	}
}

// The never-list stays what it is.
func TestNeverList(t *testing.T) {
	c := cellOf(t, read(t, readReference(t).tenNights(), window.Options{Promote: all}), "baseline")
	for name, why := range map[string]string{
		"median_itl_ms": "about zero", "server_startup_sec": "bring-up", "container_elapsed_sec": "bring-up", "duration": "recipe pins",
		"total_input_tokens": "recipe pins", "total_output_tokens": "recipe pins", "completed_total": "enforced harder", "failed_total": "enforced harder",
		"max_output_tokens_per_s": "single sample", "max_concurrent_requests": "single sample", "mean_ttft_ms": "noisiest", "std_ttft_ms": "noisiest",
		"p50_ttft_ms": "p99", "p90_ttft_ms": "p99",
	} {
		m := metricOf(t, c, name)
		if m.Verdict != window.Never || m.Armable || !strings.Contains(m.Reasons[0], why) {
			t.Errorf("%s: got %s because %q, want never because of %q", name, m.Verdict, m.Reasons, why)
		}
	}
}

func all(baseline.Key, string) bool { return true }

// thirteen are the pooled cell-runs before the second warm-up step: seven nights of one cell and six of
// the other, one of which has the excursion.
func thirteen(ref *reference) []*history.Attempt {
	var runs []*history.Attempt
	for i := range 7 {
		run := ref.night(i, ref.cellRun("baseline", ref.Ranges["step_ms"], nil))
		switch {
		case i == 3:
			run.Entries = append(run.Entries, ref.excursionRun("no-scratch-reclaim"))
		case i > 0:
			run.Entries = append(run.Entries, ref.cellRun("no-scratch-reclaim", ref.Ranges["step_ms"], nil))
		}
		runs = append(runs, run)
	}
	return runs
}

func TestExcursionInOneOfThirteen(t *testing.T) {
	const finding = "excursions: step-0 excursion in 1 of 13 cell-runs: the first step took 5.43 x the later ones"
	check := func(t *testing.T, c *window.Cell) {
		t.Helper()
		for _, name := range []string{"median_ttft_ms", "output_throughput", metric.StepTime} {
			m := metricOf(t, c, name)
			if m.Armable || m.Verdict != window.RecordOnly || !because(m, finding) {
				t.Errorf("%s %s: got armable %v, %s because %q, want not armable because of the excursion", c.Key.Cell, name, m.Armable, m.Verdict, m.Reasons)
			}
		}
		for _, name := range []string{"median_tpot_ms", "p99_itl_ms"} {
			if m := metricOf(t, c, name); m.Verdict != window.Gate {
				t.Errorf("%s %s: got %s because %q, want a gate: the excursion does not reach it", c.Key.Cell, name, m.Verdict, m.Reasons)
			}
		}
	}
	t.Run("two cells", func(t *testing.T) {
		r := read(t, thirteen(readReference(t)), window.Options{Nights: 6, Promote: all})
		// Six nights of either cell are twelve cell-runs, of the seventh night one cell only.
		for _, name := range []string{"median_ttft_ms", "output_throughput", metric.StepTime} {
			m := metricOf(t, cellOf(t, r, "baseline"), name)
			if m.Armable || !because(m, "excursions: step-0 excursion in 1 of 12 cell-runs") {
				t.Errorf("baseline %s: got armable %v because %q, want the other cell's excursion to count", name, m.Armable, m.Reasons)
			}
		}
	})
	t.Run("one cell", func(t *testing.T) {
		ref := readReference(t)
		var runs []*history.Attempt
		for i := range 13 {
			row := ref.cellRun("baseline", ref.Ranges["step_ms"], nil)
			if i == 8 {
				row = ref.excursionRun("baseline")
			}
			runs = append(runs, ref.night(i, row))
		}
		for _, rule := range []window.Rule{window.Extremum, window.Screened} {
			c := cellOf(t, read(t, runs, window.Options{Nights: 13, Rule: rule, Promote: all}), "baseline")
			check(t, c)
			ttft := c.Metric("median_ttft_ms")
			if math.Abs(ttft.OnExcursions-10.26) > 0.3 {
				t.Errorf("median_ttft_ms: got %.2f x on the excursion, want about 10.26", ttft.OnExcursions)
			}
			for _, name := range []string{"median_tpot_ms", "p99_itl_ms"} {
				if got := c.Metric(name).OnExcursions; math.Abs(got-1) > 0.03 {
					t.Errorf("%s: got %.2f x on the excursion, want about 1", name, got)
				}
			}
			// Both rows of the table of two modes: a false alarm without, no detection with.
			m := ttft.Modes
			if m == nil {
				t.Fatal("median_ttft_ms: got no table of two modes")
			}
			if m.With.Value != 581.625 || m.Reads < 7.5 || m.Blind < 12 {
				t.Errorf("got %+v, want a bound of 581.625 with the excursion, under which twelve times the healthy level passes", m)
			}
			if c.Metric("median_tpot_ms").Modes != nil {
				t.Error("median_tpot_ms: got a table of two modes, want none")
			}
		}
	})
}

// T5: 33 steps and 3 that stalled are two modes; the 33 alone are one.
func TestTwoModes(t *testing.T) {
	ref := readReference(t)
	var steps []float64
	for range ref.Bimodal.Clean.N {
		steps = append(steps, ref.draw(ref.Bimodal.Clean.Min, ref.Bimodal.Clean.Max))
	}
	if gap, two := window.TwoModes(steps); two {
		t.Errorf("the clean steps: got two modes about %v", gap)
	}
	for range ref.Bimodal.Stalled.N {
		steps = append(steps, ref.draw(ref.Bimodal.Stalled.Min, ref.Bimodal.Stalled.Max))
	}
	gap, two := window.TwoModes(steps)
	if !two || gap.Below != 3 || gap.Above != 33 {
		t.Errorf("got %+v, %v, want two modes of 3 and 33", gap, two)
	}

	// As a cell: twelve instances of three steps, three of which hold a stalled one.
	var runs []*history.Attempt
	for i := range 12 {
		row := ref.cellRun("conc-64", [2]float64{1600, 1620}, nil)
		if i%4 == 1 {
			row.StepTimesMS[1] = ref.draw(2540, 2550)
		}
		runs = append(runs, ref.night(i, row))
	}
	c := cellOf(t, read(t, runs, window.Options{Nights: 12, Promote: all}), "conc-64")
	if len(c.Findings) != 1 || !strings.HasPrefix(c.Findings[0], "two modes in the steps: 33 of 36 up to") {
		t.Errorf("got findings %q, want two modes of 33 and 3 steps", c.Findings)
	}
	for _, name := range []string{"median_ttft_ms", "output_throughput", metric.StepTime} {
		if m := metricOf(t, c, name); m.Armable || !because(m, "excursions: two modes in the steps") {
			t.Errorf("%s: got armable %v because %q, want two modes", name, m.Armable, m.Reasons)
		}
	}
}

// T9: the residual breach rate of the start-up series by window size, by the exact count.
func TestResidualOfStartups(t *testing.T) {
	values := readReference(t).Startup
	for n, want := range []float64{1: 21.4, 2: 5.7, 3: 2.9, 4: 1.0, 5: 0, 6: 0} {
		if n == 0 {
			continue
		}
		if got := 100 * window.Residual(metric.Max, values, n, 0.25); math.Abs(got-want) > 0.05 {
			t.Errorf("windows of %d: got %.2f %%, want %.1f %%", n, got, want)
		}
	}
	for i, breaches := range []int{6, 1, 1, 1, 0, 0, 0} {
		ceiling := window.Extremum.Derive(metric.Max, values[i:i+1], window.Margins{}).Value
		got := len(slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v <= ceiling }))
		if got != breaches {
			t.Errorf("blessed on %v: got %d breaches, want %d", values[i], got, breaches)
		}
	}
}

func TestResidualOfTenThousandNights(t *testing.T) {
	ref := readReference(t)
	values := make([]float64, 10_000)
	for i := range values {
		values[i] = ref.draw(100, 200)
	}
	// A margin of 0 and a window of 10: the chance that the eleventh is the worst.
	if got := window.Residual(metric.Max, values, 10, 0); math.Abs(got-1.0/11) > 0.001 {
		t.Errorf("got %.5f, want 1/11", got)
	}
	if got := window.Residual(metric.Min, values, 9_999, 0); math.Abs(got-1.0/10_000) > 1e-9 {
		t.Errorf("got %.6f, want 1/10000", got)
	}
}
