package window_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// judged is the metric over a window of those values.
func judged(t *testing.T, name string, o window.Options, values ...float64) *window.Metric {
	t.Helper()
	if o.Nights == 0 {
		o.Nights = len(values)
	}
	o.Promote = all
	return metricOf(t, cellOf(t, read(t, series(name, values...), o), "c"), name)
}

func TestShape(t *testing.T) {
	tests := []struct {
		name   string
		metric string
		rule   window.Rule
		values []float64
		want   string // the beginning of a reason, "" for armable
	}{
		{"quiet", "median_tpot_ms", window.Extremum, []float64{1.91, 1.89, 1.9, 1.905, 1.892, 1.899, 1.91, 1.887, 1.893, 1.902}, ""},
		{"the quick side does not matter to a ceiling", "median_tpot_ms", window.Extremum, []float64{1.91, 1.89, 1.3, 1.905, 1.892, 1.899, 1.91, 1.887, 1.893, 1.902}, ""},
		{"the slow side does", "median_tpot_ms", window.Extremum, []float64{1.91, 1.89, 2.3, 1.905, 1.892, 1.899, 1.91, 1.887, 1.893, 1.902}, "spread: the worst night, 2.3, is 21.0 % over the median 1.9005"},
		{"a floor is the other way round", "output_throughput", window.Extremum, []float64{3550, 3560, 4900, 3570, 3551, 3572, 3543, 3554, 3565, 3556}, ""},
		{"a floor's slow side", "output_throughput", window.Extremum, []float64{3550, 3560, 2600, 3570, 3551, 3572, 3543, 3554, 3565, 3556}, "spread: the worst night, 2600, is 36.7 % under the median 3555"},
		{"one excursion is screened", "median_tpot_ms", window.Screened, []float64{1.91, 1.89, 2.3, 1.905, 1.892, 1.899, 1.91, 1.887, 1.893, 1.902}, ""},
		{"two are too many for ten nights", "median_tpot_ms", window.Screened, []float64{1.91, 1.89, 2.3, 1.905, 1.892, 2.9, 1.91, 1.887, 1.893, 1.902}, "excursions: 2 of 10 nights are far from the median 1.9035; 1 may be"},
		{"two alike are a mode", "median_tpot_ms", window.Screened, []float64{1.91, 1.89, 2.3, 1.905, 1.892, 2.31, 1.91, 1.887, 1.893, 1.902}, "two modes: 8 nights up to 1.91 and 2 from 2.3"},
		{"a step in the middle", "median_tpot_ms", window.Extremum, []float64{1.90, 1.92, 1.88, 1.95, 1.91, 2.03, 2.05, 2.01, 2.06, 2.04}, "trend: the level moved by +6.81 % inside the window, from 1.91 to 2.04"},
		{"a creep", "median_tpot_ms", window.Extremum, []float64{1.90, 1.93, 1.92, 1.96, 1.97, 1.99, 2.02, 2.01, 2.05, 2.07}, "trend: the level moved by"},
		{"an improvement is another level too", "median_tpot_ms", window.Extremum, []float64{2.03, 2.05, 2.01, 2.06, 2.04, 1.90, 1.92, 1.88, 1.95, 1.91}, "trend: the level moved by -6.37 %"},
		{"ten alike", "gbps", window.Screened, []float64{128, 128, 128, 128, 128, 128, 128, 128, 128, 128}, ""},
		{"coarse steps are no modes", "latency_ms", window.Extremum, []float64{128, 129, 128, 129, 129, 128, 128, 129, 128, 129}, ""},
		{"zero", "p99_itl_ms", window.Extremum, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "a night recorded 0: from zero there is no margin"},
		{"one zero", "p99_itl_ms", window.Extremum, []float64{1.2, 1.21, 0, 1.2, 1.22, 1.2, 1.21, 1.2, 1.2, 1.2}, "a night recorded 0: from zero"},
		{"negative", "latency_ms", window.Extremum, []float64{1.2, 1.21, -1, 1.2, 1.22, 1.2, 1.21, 1.2, 1.2, 1.2}, "a night recorded -1"},
		{"near zero for its resolution", "latency_ms", window.Extremum, []float64{0.0004, 0.0004, 0.0004, 0.0004, 0.0004, 0.0004, 0.0004, 0.0004, 0.0004, 0.0004}, "resolution: the median 0.0004 is only 4 steps of 0.0001"},
		{"another unit", "latency_ms", window.Extremum, []float64{990, 1001, 995, 998, 0.997, 0.991, 1.002, 0.995, 0.999, 0.993}, "unit: the nights differ by a factor of 1010"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := judged(t, tt.metric, window.Options{Rule: tt.rule}, tt.values...)
			if tt.metric == "p99_itl_ms" {
				m.Reasons = slices.DeleteFunc(m.Reasons, func(r string) bool { return strings.HasPrefix(r, "sample:") })
			}
			switch {
			case tt.want == "" && (!m.Armable || m.Verdict != window.Gate):
				t.Errorf("got %s because %q, want a gate", m.Verdict, m.Reasons)
			case tt.want != "" && (m.Armable || !because(m, tt.want)):
				t.Errorf("got armable %v because %q, want not, because %q", m.Armable, m.Reasons, tt.want)
			}
			for _, b := range []window.Bound{m.Bound, m.Extremum, m.Screened} {
				for _, v := range []float64{b.Value, b.Detects, b.Certain, b.Residual, b.FalseAlarms, b.OneShot, b.Sees20, b.Sees30} {
					if !metric.Finite(v) {
						t.Errorf("got %+v, want finite figures", b)
						break
					}
				}
			}
		})
	}
}

// Ten nights alike: the screened bound lets 129 pass and stops 160.
func TestConstantSeries(t *testing.T) {
	m := judged(t, "latency_ms", window.Options{Rule: window.Screened}, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128)
	if m.Bound.Value != 140.8 || m.Up != 0 || m.Down != 0 || m.Bound.FalseAlarms != 0 {
		t.Errorf("got %+v, want a bound of 140.8 and no spread", m.Bound)
	}
}

// The values of a window of two are the two last ones, by start and not by when they were recorded; a
// backfilled old commit takes its own place.
func TestWindowIsTheLastByStart(t *testing.T) {
	runs := flat(7)
	backfill := runs[0]
	runs = append(runs[1:], backfill) // published today
	dir := t.TempDir()
	h, err := history.Open(dir, "history")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		r.Sources = []history.Source{{Name: "x", SHA256: "0"}}
		r.GeneratedAt = r.StartedAt
		if _, err := h.Publish(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	r, err := window.Read(h.Runs(t.Context()), window.Options{Nights: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dates(cellOf(t, r, "c")), []string{"10", "11", "12", "13", "14"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMissingNight(t *testing.T) {
	runs := flat(10)
	delete(runs[4].Entries[0].Metrics.Summary, "median_tpot_ms")
	runs[5].Entries[0].Metrics.Summary["median_tpot_ms"] = "1.9"
	m := metricOf(t, cellOf(t, read(t, runs, window.Options{}), "c"), "median_tpot_ms")
	if m.Armable || !because(m, "recorded as a number on 8 of 10 nights") || !math.IsNaN(m.Values[4]) || !math.IsNaN(m.Values[5]) {
		t.Errorf("got armable %v because %q", m.Armable, m.Reasons)
	}
}

// The first bless arms what an excursion cannot reach; naming arms the rest where its shape allows.
func TestPromote(t *testing.T) {
	runs := series("output_throughput", 3550, 3560, 3541, 3570, 3551, 3572, 3543, 3554, 3565, 3556)
	key := baseline.Key{Entry: entry, Cell: "c"}
	for _, named := range []bool{false, true} {
		o := window.Options{Promote: func(k baseline.Key, name string) bool { return named && k == key && name == "output_throughput" }}
		m := metricOf(t, cellOf(t, read(t, runs, o), "c"), "output_throughput")
		if !m.Armable || (m.Verdict == window.Gate) != named || because(m, "exposed:") == named {
			t.Errorf("named %v: got armable %v, %s because %q", named, m.Armable, m.Verdict, m.Reasons)
		}
	}
}

func TestDetermined(t *testing.T) {
	a := []float64{3550, 3560, 3541, 3570, 3551, 3572, 3543, 3554, 3565, 3556}
	b := []float64{12.1, 12.4, 12.2, 12.0, 12.3, 12.2, 12.5, 12.1, 12.2, 12.3}
	with := func(metrics map[string]func(i int) float64) map[string]string {
		runs := series("x", a...)
		for i, r := range runs {
			for name, f := range metrics {
				r.Entries[0].Metrics.Summary[name] = f(i)
			}
		}
		got := map[string]string{}
		for _, m := range cellOf(t, read(t, runs, window.Options{}), "c").Metrics {
			if m.DeterminedBy != "" {
				got[m.Name] = m.DeterminedBy
			}
		}
		return got
	}
	tests := []struct {
		name    string
		metrics map[string]func(i int) float64
		want    map[string]string
	}{
		{"a rate restated", map[string]func(int) float64{
			"output_throughput": func(i int) float64 { return a[i] }, "request_throughput": func(i int) float64 { return math.Round(a[i]/128*1e3) / 1e3 },
		}, map[string]string{"request_throughput": "output_throughput"}},
		{"rates of two things", map[string]func(int) float64{
			"output_throughput": func(i int) float64 { return a[i] }, "request_throughput": func(i int) float64 { return b[i] },
		}, nil},
		{"without the headline the next one leads", map[string]func(int) float64{
			"tokens_per_sec": func(i int) float64 { return a[i] }, "request_throughput": func(i int) float64 { return a[i] / 128 },
		}, map[string]string{"request_throughput": "tokens_per_sec"}},
		{"a time that is one over a rate", map[string]func(int) float64{
			"gflops": func(i int) float64 { return a[i] }, "latency_ms": func(i int) float64 { return 1e6 / a[i] },
		}, map[string]string{"latency_ms": "gflops"}},
		{"two constants tell nothing of each other", map[string]func(int) float64{
			"gflops": func(int) float64 { return 128 }, "latency_ms": func(int) float64 { return 5 },
		}, nil},
		{"a sum", map[string]func(int) float64{
			"median_ttft_ms": func(i int) float64 { return b[i] * 4 }, "median_tpot_ms": func(i int) float64 { return a[i] / 2000 },
			"median_e2el_ms": func(i int) float64 { return b[i]*4 + 127*a[i]/2000 },
		}, map[string]string{"median_e2el_ms": "median_ttft_ms and median_tpot_ms"}},
		{"no sum", map[string]func(int) float64{
			"median_ttft_ms": func(i int) float64 { return b[i] * 4 }, "median_tpot_ms": func(i int) float64 { return a[i] / 2000 },
			"median_e2el_ms": func(i int) float64 { return 200 + 50*math.Abs(math.Sin(float64(i))) },
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := with(tt.metrics)
			if len(got) != len(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			for name, base := range tt.want {
				if got[name] != base {
					t.Errorf("%s: got determined by %q, want %q", name, got[name], base)
				}
			}
		})
	}
}

// What is behind a tail is counted where the results say so, else by requests and tokens, else it is not
// known and not guessed.
func TestSamples(t *testing.T) {
	values := []float64{34.1, 34.7, 34.3, 34.9, 34.2, 34.8, 34.5, 34.4, 34.6, 34.55}
	for _, tt := range []struct {
		name, metric string
		pooled       int
		summary      map[string]any
		want         string
	}{
		{"pooled", "p99_itl_ms", 500, nil, ""},
		{"pooled, one too few", "p99_itl_ms", 499, nil, "sample: of 499 pooled gaps between tokens 4.99 lie beyond the p99"},
		{"by tokens", "p99_itl_ms", 0, map[string]any{"completed_total": 96.0, "total_output_tokens": 12288.0}, ""},
		{"by requests", "p99_ttft_ms", 0, map[string]any{"completed_total": 96.0}, "sample: of 96 pooled requests 0.96 lie beyond the p99"},
		{"enough requests", "p99_ttft_ms", 0, map[string]any{"completed_total": 640.0}, ""},
		{"unknown", "p99_itl_ms", 0, nil, "sample: nothing says how many samples are behind it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := series(tt.metric, values...)
			for _, r := range runs {
				row := &r.Entries[0]
				for name, v := range tt.summary {
					row.Metrics.Summary[name] = v
				}
				if tt.pooled > 0 {
					row.Pooled = map[string]report.Quantile{tt.metric: {N: 10_000}}
				}
			}
			if tt.pooled > 0 { // the thinnest night counts
				runs[6].Entries[0].Pooled[tt.metric] = report.Quantile{N: tt.pooled}
			}
			m := metricOf(t, cellOf(t, read(t, runs, window.Options{Promote: all}), "c"), tt.metric)
			if (tt.want == "") != m.Armable || tt.want != "" && !because(m, tt.want) {
				t.Errorf("got armable %v because %q, want %q", m.Armable, m.Reasons, tt.want)
			}
		})
	}
}

// The cell's own tags are excursions too; a rare one is lived with, a frequent one is not.
func TestTags(t *testing.T) {
	for nights, want := range map[int]string{1: "", 2: "excursions: admission_stall in 2 of 10 cell-runs"} {
		runs := series("median_ttft_ms", 45.1, 45.7, 45.3, 45.9, 45.2, 45.8, 45.5, 45.4, 45.6, 45.55)
		for _, r := range runs[:nights] {
			r.Entries[0].Tags = []report.Tag{{Name: "admission_stall"}, {Name: "admission_stall"}}
		}
		m := metricOf(t, cellOf(t, read(t, runs, window.Options{Promote: all}), "c"), "median_ttft_ms")
		if (want == "") != m.Armable || want != "" && !because(m, want) {
			t.Errorf("%d nights: got armable %v because %q, want %q", nights, m.Armable, m.Reasons, want)
		}
	}
}

// A metric that an excursion should not reach, and did, is not armed on the word of its definition.
func TestImmunityIsChecked(t *testing.T) {
	runs := flat(10)
	row := &runs[4].Entries[0]
	row.StepTimesMS = []float64{6193, 1140, 1142}
	row.Metrics.Summary["median_tpot_ms"] = 3.9
	m := metricOf(t, cellOf(t, read(t, runs, window.Options{Rule: window.Screened}), "c"), "median_tpot_ms")
	if m.Armable || !because(m, "excursions: it moved 2.05 x on a night with an excursion, although it is measured between tokens") {
		t.Errorf("got armable %v because %q", m.Armable, m.Reasons)
	}
}

// The steps of several trials are one list; each trial has its own first step.
func TestColdStepOfALaterTrial(t *testing.T) {
	runs := flat(10)
	two := 2
	row := &runs[4].Entries[0]
	row.Trials, row.PassedCount = &two, &two
	row.StepTimesMS = []float64{1140, 1141, 1142, 2900, 1140, 1143}
	c := cellOf(t, read(t, runs, window.Options{}), "c")
	if len(c.Findings) != 1 || !strings.Contains(c.Findings[0], "step-0 excursion in 1 of 10 cell-runs: the first step took 2.54 x the later ones") {
		t.Errorf("got %q, want the second trial's first step", c.Findings)
	}
	row.StepTimesMS = []float64{1140, 1141, 1142, 1140, 2900, 1143} // not a first step
	if c := cellOf(t, read(t, runs, window.Options{}), "c"); len(c.Findings) > 0 {
		t.Errorf("got %q, want none", c.Findings)
	}
}
