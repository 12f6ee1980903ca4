package cell

import "fmt"

// tell says in plain words how the trial ended.
func (r *run) tell(t *trial) {
	label := "cell " + t.cell.Name
	if t.cell.Trials > 1 {
		label = fmt.Sprintf("%s, trial %d", label, t.index)
	}
	for _, tag := range t.tags {
		r.Say("%s: step %d: %s: %s", label, tag.Step, tag.Name, tag.Why)
	}
	for _, f := range t.failures {
		r.Say("%s: %v", label, f)
		if f.Cause != "" {
			r.Say("%s: the log shows %s", label, f.Cause)
		}
		if f.Hint != "" {
			r.Say("%s: hint: %s", label, f.Hint)
		}
	}
	if t.status() != OK {
		r.Say("%s: %s", label, t.status())
		return
	}
	word := "passed"
	if len(t.noVerdict()) > 0 {
		word = "no verdict"
	}
	m := t.metrics()
	r.Say("%s: %s: %d steps, median TTFT %.4g ms, median TPOT %.4g ms, p99 ITL %.4g ms, %.5g tokens/s",
		label, word, len(t.steps), m["median_ttft_ms"], m["median_tpot_ms"], m["p99_itl_ms"], m["output_throughput"])
}
