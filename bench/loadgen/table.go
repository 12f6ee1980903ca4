package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/rawlog"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// Limits of the errors: percent, and microseconds for the last.
const (
	ttftLimit      = 1.0
	tpotLimit      = 0.2
	p99ITLLimit    = 3.0
	itlMedianLimit = 2.0
)

// missed holds a row against the limits.
func (l load) missed(r row) []string {
	out := []string{}
	if l.wantTag != "" {
		if !slices.Contains(r.Tags, l.wantTag) {
			out = append(out, fmt.Sprintf("the client is not told %s", l.wantTag))
		}
		return out
	}
	if r.PeakInFlight != l.concurrency {
		out = append(out, fmt.Sprintf("the server saw %d in flight at most, not %d", r.PeakInFlight, l.concurrency))
	}
	limit := func(what string, got, limit float64, unit string) {
		if !(math.Abs(got) <= limit) {
			out = append(out, fmt.Sprintf("%s is %.2f %s off, the limit is %g", what, got, unit, limit))
		}
	}
	limit("median TTFT", r.TTFT, ttftLimit, "%")
	limit("median TPOT", r.TPOT, tpotLimit, "%")
	limit("p99 ITL", r.P99ITL, p99ITLLimit, "%")
	if r.Clock == string(loadgen.KernelClock) {
		limit("an ITL in the median", r.ITLMedian, itlMedianLimit, "us")
	}
	return out
}

// metricLines are the figures of a row that the project's own latency fixture takes.
func metricLines(r row) string {
	return fmt.Sprintf("%[1]s load_generator_stamp_lag_median_us %.3[2]f us\n%[1]s load_generator_itl_error_median_us %.3[3]f us\n",
		rawlog.DefaultPrefix, r.StampMedian, r.ITLMedian)
}

// table renders the rows.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "load\tpeak at server\tTTFT err %\tTPOT err %\tp99 ITL err %\t|ITL err| med us\tp99 us\tstamp lag med us\tp99 us\tread lag p99 ms\tclient CPU\trun delay\tcoalesced\tclock\ttags\tverdict\t")
	for _, r := range rows {
		verdict := "ok"
		if len(r.Missed) > 0 {
			verdict = "missed"
		}
		fmt.Fprintf(w, "%s\t%d\t%+.2f\t%+.3f\t%+.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.3f\t%.2f\t%.2f\t%.4f\t%s\t%s\t%s\t\n", r.Load, r.PeakInFlight,
			r.TTFT, r.TPOT, r.P99ITL, r.ITLMedian, r.ITLP99, r.StampMedian, r.StampP99, r.LagP99, r.CPU, r.RunDelay, r.Coalesced, r.Clock, strings.Join(r.Tags, ","), verdict)
	}
	w.Flush()
	return b.String()
}
