package window_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
)

// BenchmarkMillionObservations reads a history of 1 000 cells with 10 metrics over 100 nights from a
// folder and judges every one of them, in one pass. It is to take less than 10 s and 1 GiB.
func BenchmarkMillionObservations(b *testing.B) {
	const cells, nights = 1000, 100
	ref := readReference(b)
	h, err := history.Open("/", filepath.Join(b.TempDir(), "history"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range nights {
		run := ref.night(i)
		run.StartedAt = run.Start.Format(time.RFC3339)
		for c := range cells {
			row := ref.cellRun(fmt.Sprintf("cell-%d", c), ref.Ranges["step_ms"], nil)
			row.Entry = fmt.Sprintf("entry-%d", c/10)
			row.Metrics.Summary = tenOf(row)
			run.Entries = append(run.Entries, row)
		}
		if _, err := h.Publish(context.Background(), run); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	b.ResetTimer()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		r, err := window.Read(h.Runs(context.Background()), window.Options{Nights: nights})
		if err != nil || len(r.Cells) != cells || len(r.Cells[0].Nights) != nights {
			b.Fatalf("got %d cells, %v", len(r.Cells), err)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(cells*nights*10)*float64(b.N)/b.Elapsed().Seconds(), "observations/s")
	b.ReportMetric(float64(after.Sys)/(1<<20), "MiB-of-process")
}

func tenOf(row night.Row) map[string]any {
	ten := map[string]any{}
	for _, name := range []string{"median_ttft_ms", "p99_ttft_ms", "median_tpot_ms", "p99_tpot_ms", "p99_itl_ms", "median_e2el_ms", "p99_e2el_ms", "output_throughput", "request_throughput"} {
		ten[name] = row.Metrics.Summary[name] // the step time is the tenth
	}
	return ten
}
