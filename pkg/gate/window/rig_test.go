package window_test

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

const entry = "tokenspeed_serve_smoke"

// reference is testdata/reference.json: the published figures of the reference's own nights.
type reference struct {
	Seed       uint64                `json:"seed"`
	FirstNight time.Time             `json:"first_night"`
	Ranges     map[string][2]float64 `json:"ranges"`
	Window     []struct {
		Cell, Metric     string
		Min, Median, Max float64
	} `json:"window"`
	WindowStepMS [2]float64 `json:"window_step_ms"`
	Excursion    struct {
		Steps            []float64 `json:"steps"`
		MedianTTFT       float64   `json:"median_ttft_ms"`
		MedianTPOT       float64   `json:"median_tpot_ms"`
		P99ITL           float64   `json:"p99_itl_ms"`
		OutputThroughput float64   `json:"output_throughput"`
	} `json:"excursion"`
	Startup []float64 `json:"startup"`
	Bimodal struct {
		Clean, Stalled struct {
			N              int
			Mean, Min, Max float64
		}
	} `json:"bimodal"`

	dice *rand.Rand
}

func readReference(t testing.TB) *reference {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	ref := new(reference)
	if err := json.Unmarshal(text, ref); err != nil {
		t.Fatal(err)
	}
	ref.dice = rand.New(rand.NewPCG(ref.Seed, 0))
	return ref
}

// draw is a number of a range, with four decimals.
func (ref *reference) draw(low, high float64) float64 {
	v := low + ref.dice.Float64()*(high-low)
	return float64(int64(v*1e4+0.5)) / 1e4
}

func (ref *reference) in(metric string) float64 {
	r := ref.Ranges[metric]
	return ref.draw(r[0], r[1])
}

// series makes ten nights of a given minimum, median and maximum: one low outlier, the others about the
// median.
func (ref *reference) series(min, median, max float64) []float64 {
	half := max - median
	s := []float64{min, median - half/20, median + half/20, max}
	for range 3 {
		s = append(s, ref.draw(median-half*0.9, median-half*0.1), ref.draw(median+half*0.1, median+half*0.9))
	}
	for slices.Min(s[1:]) < min { // a minimum nearer than the maximum
		i := slices.Index(s, slices.Min(s))
		s[i] = ref.draw(min, median-half/10)
	}
	ref.dice.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// cellRun is a row of a healthy cell-run; what is given replaces what is drawn.
func (ref *reference) cellRun(cell string, step [2]float64, given map[string]any) night.Row {
	m := map[string]any{}
	for _, name := range []string{"median_ttft_ms", "median_tpot_ms", "output_throughput", "p99_itl_ms", "server_startup_sec"} {
		m[name] = ref.in(name)
	}
	for name, v := range given {
		m[name] = v
	}
	out, ttft, tpot := m["output_throughput"].(float64), m["median_ttft_ms"].(float64), m["median_tpot_ms"].(float64)
	derived := map[string]any{
		"tokens_per_sec": out, "request_throughput": out / 128, "total_token_throughput": out * 5,
		"median_e2el_ms": (ttft + 127*tpot) * ref.draw(0.998, 1.002), "p99_tpot_ms": tpot * ref.draw(1.05, 1.1),
		"p99_ttft_ms": ref.draw(185, 200), "p99_e2el_ms": ref.draw(420, 440),
		"median_itl_ms": 0.0023, "container_elapsed_sec": m["server_startup_sec"].(float64) + 60, "duration": 1.13,
		"total_input_tokens": 49152.0, "total_output_tokens": 12288.0, "completed_total": 96.0, "failed_total": 0.0,
		"max_output_tokens_per_s": 4100.0, "max_concurrent_requests": 9.0, "mean_ttft_ms": 71.0, "std_ttft_ms": 38.0, "p50_ttft_ms": ttft, "p90_ttft_ms": 101.0,
	}
	for name, v := range derived {
		m[name] = v
	}
	row := passing(cell, m)
	row.StepTimesMS = []float64{ref.draw(step[0], step[1]), ref.draw(step[0], step[1]), ref.draw(step[0], step[1])}
	mean := (row.StepTimesMS[0] + row.StepTimesMS[1] + row.StepTimesMS[2]) / 3
	row.Metrics.MeanStepTimeMS = &mean
	row.Pooled = map[string]report.Quantile{"p99_itl_ms": {N: 12192}, "p99_ttft_ms": {N: 96}, "p99_tpot_ms": {N: 96}, "p99_e2el_ms": {N: 96}}
	return row
}

// excursionRun is the thirteenth cell-run: its first step waits for a compilation.
func (ref *reference) excursionRun(cell string) night.Row {
	e := ref.Excursion
	row := ref.cellRun(cell, ref.Ranges["step_ms"], map[string]any{
		"median_ttft_ms": e.MedianTTFT, "median_tpot_ms": e.MedianTPOT, "p99_itl_ms": e.P99ITL, "output_throughput": e.OutputThroughput,
	})
	row.StepTimesMS = e.Steps
	mean := (e.Steps[0] + e.Steps[1] + e.Steps[2]) / 3
	row.Metrics.MeanStepTimeMS = &mean
	return row
}

// tenNights is the window of the reference: two cells, ten nights, the table's metrics as it says and
// all others drawn.
func (ref *reference) tenNights() []*history.Attempt {
	table := map[string]map[string][]float64{}
	for _, w := range ref.Window {
		if table[w.Cell] == nil {
			table[w.Cell] = map[string][]float64{}
		}
		table[w.Cell][w.Metric] = ref.series(w.Min, w.Median, w.Max)
	}
	var runs []*history.Attempt
	for i := range 10 {
		var rows []night.Row
		for _, cell := range []string{"baseline", "no-scratch-reclaim"} {
			rows = append(rows, ref.cellRun(cell, ref.WindowStepMS, map[string]any{
				"median_tpot_ms": table[cell]["median_tpot_ms"][i], "p99_itl_ms": table[cell]["p99_itl_ms"][i],
			}))
		}
		runs = append(runs, ref.night(i, rows...))
	}
	return runs
}

// night is a scheduled run, i days after the first.
func (ref *reference) night(i int, rows ...night.Row) *history.Attempt {
	return nightOf(ref.FirstNight.AddDate(0, 0, i), rows...)
}

func nightOf(start time.Time, rows ...night.Row) *history.Attempt {
	run := &history.Attempt{Start: start, SHA256: strings.Repeat("0", 62) + start.Format("02")}
	run.SchemaVersion, run.StartedAt, run.Complete = 1, start.Format(time.RFC3339), true
	run.Event, run.UpstreamEvent, run.RunID, run.RunAttempt = "workflow_run", "schedule", start.Unix(), 1
	run.Build.Lane = "gate"
	run.Entries = rows
	return run
}

func passing(cell string, summary map[string]any) night.Row {
	one, zero := 1, 0
	return night.Row{
		Entry: entry, Cell: &cell, Verdict: baseline.Record, PassedCount: &one, FailedCount: &zero, ErrorCount: &zero, Trials: &one,
		Metrics:     night.Metrics{Summary: summary},
		Fingerprint: report.Fingerprint{report.EngineDigest: "sha256:aaaa", report.GPUModel: "MI350X"},
	}
}

// series makes nights of one cell "c" from the values of one metric.
func series(metric string, values ...float64) []*history.Attempt {
	var runs []*history.Attempt
	for i, v := range values {
		runs = append(runs, nightOf(time.Date(2026, 9, 8+i, 4, 0, 0, 0, time.UTC), passing("c", map[string]any{metric: v})))
	}
	return runs
}

// stream is the runs as a history gives them.
func stream(runs []*history.Attempt) iter.Seq2[*history.Attempt, error] {
	return func(yield func(*history.Attempt, error) bool) {
		for _, r := range runs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func read(t testing.TB, runs []*history.Attempt, o window.Options) *window.Report {
	t.Helper()
	r, err := window.Read(stream(runs), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cellOf(t testing.TB, r *window.Report, cell string) *window.Cell {
	t.Helper()
	c := r.Cell(baseline.Key{Entry: entry, Cell: cell})
	if c == nil {
		t.Fatalf("the report has no cell %s", cell)
	}
	return c
}

func metricOf(t testing.TB, c *window.Cell, name string) *window.Metric {
	t.Helper()
	m := c.Metric(name)
	if m == nil {
		t.Fatalf("%s has no metric %s", c.Key, name)
	}
	return m
}

// because reports whether one of the reasons begins with a word.
func because(m *window.Metric, word string) bool {
	return slices.ContainsFunc(m.Reasons, func(r string) bool { return strings.HasPrefix(r, word) })
}
