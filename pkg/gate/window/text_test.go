package window_test

import (
	"flag"
	"os"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// The report of the ten nights, and of a cell with everything that can be said of one.
func TestText(t *testing.T) {
	ref := readReference(t)
	runs := ref.tenNights()
	extra := ref.night(10, ref.cellRun("baseline", ref.WindowStepMS, nil))
	extra.Event, extra.UpstreamEvent = "workflow_dispatch", ""
	key := baseline.Key{Entry: entry, Cell: "baseline"}
	golden(t, "ten-nights", read(t, append(runs, extra), window.Options{}).Text(func(k baseline.Key) bool { return k == key }))

	runs = thirteen(readReference(t))
	runs[0].Entries[0].Fingerprint = nil
	row := &runs[5].Entries[1]
	row.Verdict, row.Reasons = baseline.Fail, []string{"metric 'median_tpot_ms' 1.94 > max 1.8"}
	skipped := ref.night(8, passing("no-scratch-reclaim", nil))
	skipped.Entries[0].Verdict, skipped.Entries[0].Reasons = baseline.Skip, []string{"needs a docker daemon: no docker client on PATH"}
	golden(t, "excursion", read(t, append(runs, skipped), window.Options{Nights: 6, Rule: window.Screened}).Text(nil))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test -update rewrites it)", path, got, want)
	}
}
