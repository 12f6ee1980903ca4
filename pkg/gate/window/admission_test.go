package window_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// dates are the admitted nights.
func dates(c *window.Cell) []string {
	var all []string
	for _, n := range c.Nights {
		all = append(all, n.Date[len("2026-09-"):])
	}
	return all
}

// excluded are the runs that do not count for a cell, "DAY: reason".
func excluded(c *window.Cell) string {
	var all []string
	for _, x := range c.Excluded {
		all = append(all, x.Date[len("2026-09-"):]+": "+x.Reason)
	}
	return strings.Join(all, "\n")
}

// flat is ten quiet nights of one metric.
func flat(n int) []*history.Attempt {
	values := make([]float64, n)
	for i := range values {
		values[i] = 1.9 + 0.001*float64(i%3) + 0.0001
	}
	return series("median_tpot_ms", values...)
}

func TestOnlyTheScheduleCounts(t *testing.T) {
	for _, tt := range []struct {
		event, upstream string
		counts          bool
	}{
		{"schedule", "", true}, {"workflow_run", "schedule", true}, {"workflow_run", "workflow_dispatch", false}, {"workflow_run", "", false},
		{"workflow_dispatch", "", false}, {"push", "", false}, {"by-hand", "", false},
	} {
		runs := flat(10)
		runs[4].Event, runs[4].UpstreamEvent = tt.event, tt.upstream
		r := read(t, runs, window.Options{})
		c := cellOf(t, r, "c")
		if got := c.Short == ""; got != tt.counts {
			t.Errorf("%s after %q: got short %q, want it to count %v", tt.event, tt.upstream, c.Short, tt.counts)
		}
		if !tt.counts && (len(r.Excluded) != 1 || !strings.Contains(r.Excluded[0].Reason, "not by the schedule") || c.Metric("median_tpot_ms").Armable) {
			t.Errorf("%s after %q: got %+v excluded, want the run with its reason, and nothing armable", tt.event, tt.upstream, r.Excluded)
		}
	}
}

// Three results of one date: one night counts once, a dispatched run not at all, and a repeat does not
// replace what decided the night.
func TestOneNightCountsOnce(t *testing.T) {
	at := func(hour int, value float64) *history.Attempt {
		return nightOf(time.Date(2026, 9, 18, hour, 0, 0, 0, time.UTC), passing("c", map[string]any{"median_tpot_ms": value}))
	}
	first, dispatched, repeat, later := at(4, 1.91), at(5, 1.5), at(6, 1.6), at(9, 1.7)
	first.RunID, repeat.RunID, dispatched.RunID, later.RunID = 900, 900, 901, 902
	repeat.RunAttempt = 2
	dispatched.Event = "workflow_dispatch"
	c := cellOf(t, read(t, append(flat(10), first, dispatched, repeat, later), window.Options{}), "c")
	if got, want := dates(c), []string{"09", "10", "11", "12", "13", "14", "15", "16", "17", "18"}; !slices.Equal(got, want) {
		t.Errorf("got nights %v, want %v", got, want)
	}
	if got := c.Metric("median_tpot_ms").Values[9]; got != 1.91 || c.Nights[9].Run != 900 || c.Nights[9].Attempt != 1 {
		t.Errorf("got %v of run %d-%d, want the first attempt's 1.91", got, c.Nights[9].Run, c.Nights[9].Attempt)
	}
	for _, want := range []string{"18: attempt 1 of the run decided the night", "18: the same night as run 900"} {
		if !strings.Contains(excluded(c), want) {
			t.Errorf("got\n%s\nwant %q", excluded(c), want)
		}
	}
}

// A repeat days later is the same run; a night that started late is still a night of its own.
func TestLateNights(t *testing.T) {
	runs := flat(10)
	runs[5].Start = runs[5].Start.Add(20 * time.Hour)     // 00:00 of the 14th, the next at 04:00: the same night
	runs[8].Start = runs[8].Start.Add(-4*time.Hour + 600) // still the 16th
	again := nightOf(time.Date(2026, 9, 19, 4, 0, 0, 0, time.UTC), passing("c", map[string]any{"median_tpot_ms": 1.5}))
	again.RunID, again.RunAttempt = runs[2].RunID, 2
	c := cellOf(t, read(t, append(runs, again), window.Options{Nights: 9}), "c")
	if len(c.Nights) != 9 || !strings.Contains(excluded(c), "19: attempt 1 of the run decided the night") || !strings.Contains(excluded(c), "14: the same night as run") {
		t.Errorf("got %v, excluded\n%s", dates(c), excluded(c))
	}
}

// An attempt that was skipped, or came to no verdict, leaves the night to the next one. One that failed
// does not: a night is not run again until it looks good.
func TestWhichAttemptDecides(t *testing.T) {
	two := func(verdict baseline.Verdict) *window.Cell {
		runs := flat(10)
		last := runs[9]
		again := nightOf(last.Start.Add(3*time.Hour), passing("c", map[string]any{"median_tpot_ms": 1.905}))
		again.RunID, again.RunAttempt = last.RunID, 2
		row := &last.Entries[0]
		row.Verdict, row.Reasons = verdict, []string{"because"}
		if verdict == baseline.Fail {
			text, one, zero := "engine died", 1, 0
			row.Error, row.PassedCount, row.FailedCount = &text, &zero, &one
		}
		return cellOf(t, read(t, append(runs, again), window.Options{}), "c")
	}
	for _, verdict := range []baseline.Verdict{baseline.Skip, baseline.NoVerdict} {
		if c := two(verdict); c.Short != "" || c.Nights[9].Attempt != 2 || !strings.Contains(excluded(c), string(verdict)+": because") {
			t.Errorf("%s: got %q, excluded %s, want the second attempt to count", verdict, c.Short, excluded(c))
		}
	}
	if c := two(baseline.Fail); c.Short != "9 of 10 nights" || !strings.Contains(excluded(c), "17: failed: engine died") {
		t.Errorf("fail: got %q, excluded %s, want nine nights", c.Short, excluded(c))
	}
}

// Nights four to six measured something else; they are out by their failed check, and would be out by
// their shape.
func TestPoisonedWindow(t *testing.T) {
	values := []float64{8.1, 8.0, 8.2, 12.9, 13.1, 12.8, 8.1, 8.0, 8.2, 8.1}
	runs := series("samples_per_sec", values...)
	m := metricOf(t, cellOf(t, read(t, runs, window.Options{Promote: all}), "c"), "samples_per_sec")
	if m.Armable || !because(m, "two modes: 7 nights up to 8.2 and 3 from 12.8") {
		t.Errorf("without the checks: got armable %v because %q, want two modes", m.Armable, m.Reasons)
	}
	for i := 3; i <= 5; i++ {
		row := &runs[i].Entries[0]
		row.Verdict, row.Reasons = baseline.Fail, []string{"metric 'output_checksum' b != expected a"}
		row.Deltas.Metrics = map[string]baseline.MetricDelta{"output_checksum": {Observed: "b", Policy: metric.Equal, Value: "a"}}
	}
	c := cellOf(t, read(t, runs, window.Options{Promote: all}), "c")
	if m := metricOf(t, c, "samples_per_sec"); m.Armable || c.Short != "7 of 10 nights" || !because(m, "window: 7 of 10 nights") {
		t.Errorf("got %q, armable %v because %q, want seven of ten nights", c.Short, m.Armable, m.Reasons)
	}
	if !strings.Contains(excluded(c), "11: failed: the checksum output_checksum is another") {
		t.Errorf("got excluded\n%s\nwant the failed check", excluded(c))
	}
}

// A night that broke the bound of then ran clean: if it did not count, a bound that has become too tight
// could never be renewed.
func TestStaleBoundDoesNotBlockItsRefresh(t *testing.T) {
	runs := flat(10)
	for _, run := range runs {
		row := &run.Entries[0]
		row.Verdict, row.Reasons = baseline.Fail, []string{"metric 'median_tpot_ms' 1.9 > max 1.8"}
		row.Breaches = []baseline.Breach{{Metric: "median_tpot_ms", Policy: metric.Max, Observed: 1.9, Bound: 1.8, Reason: row.Reasons[0]}}
		row.Deltas.Metrics = map[string]baseline.MetricDelta{"median_tpot_ms": {Observed: 1.9, Policy: metric.Max, Value: 1.8}}
	}
	c := cellOf(t, read(t, runs, window.Options{}), "c")
	if m := c.Metric("median_tpot_ms"); m.Verdict != window.Gate || !strings.Contains(c.Nights[0].Note, "1.9 > max 1.8") {
		t.Errorf("got %s because %q, note %q, want a gate and the breach noted", m.Verdict, m.Reasons, c.Nights[0].Note)
	}
}

// An expected failure passes its judgement and measured nothing that counts.
func TestExpectedFailureDoesNotCount(t *testing.T) {
	runs := flat(10)
	one, zero := 1, 0
	row := &runs[3].Entries[0]
	row.Verdict, row.PassedCount, row.FailedCount = baseline.Pass, &zero, &one
	if c := cellOf(t, read(t, runs, window.Options{}), "c"); c.Short != "9 of 10 nights" {
		t.Errorf("got %q, want nine nights", c.Short)
	}
}

func TestStackChangeRestartsTheCount(t *testing.T) {
	stacks := func(of func(i int) report.Fingerprint) *window.Cell {
		runs := flat(10)
		for i, run := range runs {
			run.Entries[0].Fingerprint = of(i)
		}
		return cellOf(t, read(t, runs, window.Options{}), "c")
	}
	for _, tt := range []struct {
		name  string
		of    func(i int) report.Fingerprint
		short string
	}{
		{"image", func(i int) report.Fingerprint {
			return report.Fingerprint{report.EngineDigest: map[bool]string{true: "sha256:aaaa", false: "sha256:bbbb"}[i < 6]}
		}, "4 of 10 nights since the stack moved on 2026-09-14: engine_digest was sha256:aaaa, is sha256:bbbb"},
		{"driver", func(i int) report.Fingerprint {
			return report.Fingerprint{report.EngineDigest: "sha256:aaaa", report.Driver: map[bool]string{true: "6.10", false: "6.12"}[i < 6]}
		}, "4 of 10 nights since the stack moved on 2026-09-14: driver was 6.10, is 6.12"},
		{"a field appears", func(i int) report.Fingerprint {
			f := report.Fingerprint{report.EngineDigest: "sha256:aaaa"}
			if i >= 8 {
				f[report.GPUPowerCap] = "1000 W"
			}
			return f
		}, "2 of 10 nights since the stack moved on 2026-09-16: gpu_power_cap was unknown, is 1000 W"},
		{"there and back", func(i int) report.Fingerprint {
			return report.Fingerprint{report.ROCm: map[bool]string{true: "7", false: "10"}[i != 4]}
		}, "5 of 10 nights since the stack moved on 2026-09-13: rocm was 10, is 7"},
		{"the same in another order", func(i int) report.Fingerprint {
			if i%2 == 0 {
				return report.Fingerprint{"a": "1", "b": "2"}
			}
			return report.Fingerprint{"b": "2", "a": "1"}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := stacks(tt.of)
			if c.Short != tt.short {
				t.Errorf("got %q, want %q", c.Short, tt.short)
			}
			if m := c.Metric("median_tpot_ms"); m.Armable == (tt.short != "") {
				t.Errorf("got armable %v because %q", m.Armable, m.Reasons)
			}
		})
	}
}

// A night that failed, as for want of an engine, knows little of its stack and moves nothing.
func TestFailedNightMovesNoStack(t *testing.T) {
	runs := flat(11)
	text := "engine did not start"
	row := &runs[5].Entries[0]
	row.Verdict, row.Error, row.Fingerprint = baseline.Fail, &text, report.Fingerprint{report.GPUModel: "MI350X"}
	if c := cellOf(t, read(t, runs, window.Options{}), "c"); c.Short != "" || c.Restart != nil {
		t.Errorf("got %q and %+v, want ten nights", c.Short, c.Restart)
	}
}

func TestNoStackIsSaid(t *testing.T) {
	runs := flat(10)
	for _, run := range runs {
		run.Entries[0].Fingerprint = nil
	}
	c := cellOf(t, read(t, runs, window.Options{}), "c")
	if len(c.Findings) != 1 || !strings.Contains(c.Findings[0], "no stack was recorded") || c.Metric("median_tpot_ms").Verdict != window.Gate {
		t.Errorf("got findings %q and %s", c.Findings, c.Metric("median_tpot_ms").Verdict)
	}
}

// The window is the last nights of the history, whatever their number, and other lanes are other worlds.
func TestLastNightsOfTheLane(t *testing.T) {
	runs := flat(14)
	for _, run := range flat(14) {
		run.Build.Lane = "canary"
		run.Entries[0].Metrics.Summary["median_tpot_ms"] = 9.0
		runs = append(runs, run)
	}
	c := cellOf(t, read(t, runs, window.Options{Nights: 5}), "c")
	if got, want := dates(c), []string{"17", "18", "19", "20", "21"}; !slices.Equal(got, want) || c.Metric("median_tpot_ms").Max > 2 {
		t.Errorf("got %v up to %v, want %v", got, c.Metric("median_tpot_ms").Max, want)
	}
	if _, err := window.Read(stream(runs), window.Options{Nights: 4}); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("four nights: got %v, want a refusal", err)
	}
}

// What stops a reader of the history stops the window.
func TestHistoryErrorStops(t *testing.T) {
	broken := errors.New("byte 7")
	_, err := window.Read(func(yield func(*history.Attempt, error) bool) {
		if yield(flat(1)[0], nil) {
			yield(nil, broken)
		}
	}, window.Options{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the history's error", err)
	}
}

func TestProvenance(t *testing.T) {
	c := cellOf(t, read(t, flat(10), window.Options{Rule: window.Screened}), "c")
	m := c.Metric("median_tpot_ms")
	p := c.Provenance(m)
	if p == nil || p.Rule != "screened" || *p.Margin != 0.10 || len(p.Nights) != 10 || p.Fingerprint[report.GPUModel] != "MI350X" {
		t.Fatalf("got %+v", p)
	}
	var values []float64
	for i, n := range p.Nights {
		if n.Run != c.Nights[i].Run || n.SHA256 != c.Nights[i].SHA256 || n.Attempt != 1 {
			t.Errorf("night %d: got %+v, want %+v", i, n, c.Nights[i])
		}
		values = append(values, n.Value)
	}
	again := window.Rule(p.Rule).Derive(m.Policy, values, window.Margins{Screened: *p.Margin})
	if again.Value != m.Bound.Value {
		t.Errorf("derived again: got %v, want %v", again.Value, m.Bound.Value)
	}
	if (&window.Cell{}).Provenance(&window.Metric{}) != nil {
		t.Error("a metric without a bound: got provenance")
	}
}

// A repository that publishes no row but skips has no cells, and a cell that never ran clean no nights.
func TestNothingMeasured(t *testing.T) {
	runs := flat(3)
	for _, run := range runs {
		run.Entries[0].Verdict = baseline.Skip
		run.Entries = append(run.Entries, night.Row{Entry: "other", Verdict: baseline.Skip})
	}
	r := read(t, runs, window.Options{})
	c := cellOf(t, r, "c")
	if len(r.Cells) != 1 || len(c.Nights) != 0 || c.Short != "0 of 10 nights" || len(c.Metrics) != 0 {
		t.Errorf("got %d cells, %+v", len(r.Cells), c)
	}
	if text := r.Text(nil); !strings.Contains(text, "no night was admitted") || !strings.Contains(text, "no window: 0 of 10 nights") {
		t.Errorf("got the text\n%s", text)
	}
}
