package cell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// Markdown is the matrix as a table for people: one row a cell, then what is to be said about each.
func Markdown(m *report.Matrix) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", m.Workload, m.RunTimestamp)
	b.WriteString("| cell | verdict | mean step ms | median TTFT ms | median TPOT ms | p99 ITL ms | tokens/s | tags |\n|---|---|---|---|---|---|---|---|\n")
	for i := range m.Cells {
		c := &m.Cells[i]
		fmt.Fprintf(&b, "| %s | %s |", c.Name, Verdict(c))
		step := "–"
		if t := c.StepTime(); t != nil {
			step = fmt.Sprintf("%.1f", *t)
		}
		fmt.Fprintf(&b, " %s |", step)
		for _, key := range []string{"median_ttft_ms", "median_tpot_ms", "p99_itl_ms", "output_throughput"} {
			if v, ok := c.MetricsSummary[key].Mean.(float64); ok {
				fmt.Fprintf(&b, " %.4g |", v)
			} else {
				b.WriteString(" – |")
			}
		}
		fmt.Fprintf(&b, " %s |\n", tagNames(c))
	}
	for i := range m.Cells {
		c := &m.Cells[i]
		for _, f := range c.Failures {
			fmt.Fprintf(&b, "\n- %s: %s (%d): %s", c.Name, f.Class, f.Count, oneLine(f.Detail))
		}
		for _, why := range c.NoVerdict {
			fmt.Fprintf(&b, "\n- %s: nothing can be concluded: %s", c.Name, oneLine(why))
		}
		for _, t := range c.Tags {
			fmt.Fprintf(&b, "\n- %s: %s: %s", c.Name, t.Name, oneLine(t.Why))
		}
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "\n- warning: %s", oneLine(w))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Verdict is a cell's verdict in a word: passed, failed, error, no_verdict.
func Verdict(c *report.Cell) string {
	switch {
	case c.FailedCount != nil && *c.FailedCount > 0:
		return "failed"
	case len(c.NoVerdict) > 0:
		return "no_verdict"
	case c.Passed():
		return "passed"
	}
	return "error"
}

func tagNames(c *report.Cell) string {
	var names []string
	for _, t := range c.Tags {
		names = append(names, t.Name)
	}
	if names == nil {
		return "–"
	}
	return strings.Join(names, ", ")
}

// oneLine makes text safe for a list item and a table cell.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(text)
}

// mainFailure is the failure that says most: not one that only follows from others.
func mainFailure(failures []report.Failure) report.Failure {
	for _, f := range failures {
		if !slices.Contains(secondary, f.Class) && f.Detail != requestsDetail {
			return f
		}
	}
	return failures[0]
}
