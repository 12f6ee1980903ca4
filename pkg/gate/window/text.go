package window

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
)

// Text is the report for people, of the cells that keep wants, or of all where keep is nil.
func (r *Report) Text(keep func(baseline.Key) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs read, lane %s, windows of %d nights, rule %s\n", r.Runs, r.Options.Lane, r.Options.Nights, r.Options.Rule)
	writeExcluded(&b, "", r.Excluded)
	for _, c := range r.Cells {
		if keep == nil || keep(c.Key) {
			b.WriteString("\n" + c.Text())
		}
	}
	return b.String()
}

// Text is the cell's part of the report: its nights, every metric with its series and verdict, both
// bounds with what they see, and the reasons.
func (c *Cell) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", c.Key)
	if len(c.Nights) == 0 {
		b.WriteString("no night was admitted\n")
	} else {
		fmt.Fprintf(&b, "%d nights, %s to %s\n", len(c.Nights), c.Nights[0].Date, c.Nights[len(c.Nights)-1].Date)
	}
	if c.Short != "" {
		fmt.Fprintf(&b, "  no window: %s\n", c.Short)
	} else if c.Restart != nil {
		fmt.Fprintf(&b, "  the stack moved on %s (%s); nights before it that do not count: %d\n", c.Restart.Date, c.Restart.Moved, c.Restart.Lost)
	}
	for _, field := range slices.Sorted(maps.Keys(c.Fingerprint)) {
		fmt.Fprintf(&b, "  %s %s\n", field, c.Fingerprint[field])
	}
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "  finding: %s\n", f)
	}
	for _, n := range c.Nights {
		if n.Note != "" {
			fmt.Fprintf(&b, "  run %d-%d of %s counts although it %s\n", n.Run, n.Attempt, n.Date, n.Note)
		}
	}
	writeExcluded(&b, "  ", c.Excluded)
	c.writeFigures(&b)
	c.writeBounds(&b)
	c.writeReasons(&b)
	return b.String()
}

func writeExcluded(b *strings.Builder, indent string, runs []Excluded) {
	for _, x := range runs {
		fmt.Fprintf(b, "%snot counted: run %d-%d of %s: %s\n", indent, x.Run, x.Attempt, x.Date, x.Reason)
	}
}

// table writes rows in columns, indented.
func table(b *strings.Builder, rows [][]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
	}
	w.Flush()
}

func (c *Cell) writeFigures(b *strings.Builder) {
	rows := [][]string{{"metric", "nights", "min", "median", "max", "up", "down", "verdict"}}
	for _, m := range c.Metrics {
		if len(m.present()) == 0 {
			continue
		}
		rows = append(rows, []string{m.Name, Sparkline(m.Values), number(m.Min), number(m.Median), number(m.Max), share(m.Up), share(m.Down), string(m.Verdict)})
	}
	if len(rows) > 1 {
		table(b, rows)
	}
}

// share is a share in percent, nothing where there is none, as over a median of zero.
func share(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return percent(v)
}

func (c *Cell) writeBounds(b *strings.Builder) {
	rows := [][]string{{"bound on", "rule", "bound", "from", "sees", "surely", "left out", "alarms", "unconfirmed", "+20 %", "+30 %"}}
	for _, m := range c.Metrics {
		for _, d := range []Bound{m.Extremum, m.Screened} {
			if d.Rule == "" || m.Verdict == Never {
				continue
			}
			rows = append(rows, []string{m.Name, string(d.Rule), plain(d.Value), number(d.Anchor), percent(d.Detects), percent(d.Certain),
				share(d.Residual), hundred(d.FalseAlarms), hundred(d.OneShot), chance(d.Sees20), chance(d.Sees30)})
		}
	}
	if len(rows) == 1 {
		return
	}
	b.WriteString("  sees, surely: the lasting change for the worse that takes the median night, or every night, over the bound\n" +
		"  left out: nights that breach the bound of all the others; alarms: in 100 healthy nights; +20 %, +30 %: found in 3 nights\n")
	table(b, rows)
}

func plain(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%v", v), ".0") }

// hundred is a count in a hundred nights.
func hundred(v float64) string { return fmt.Sprintf("%.2f", v) }

func chance(p float64) string { return fmt.Sprintf("%.2f", p) }

// writeReasons says why metrics are not armed, each reason once with the metrics it holds for, and what two
// modes do to a bound.
func (c *Cell) writeReasons(b *strings.Builder) {
	names := map[string][]string{}
	var order []string
	for _, verdict := range []Verdict{RecordOnly, Never} {
		for _, m := range c.Metrics {
			if m.Verdict != verdict {
				continue
			}
			for _, reason := range m.Reasons {
				why := fmt.Sprintf("%s, %s", verdict, reason)
				if names[why] == nil {
					order = append(order, why)
				}
				names[why] = append(names[why], m.Name)
			}
		}
	}
	for _, why := range order {
		fmt.Fprintf(b, "  %s: %s\n", why, strings.Join(names[why], ", "))
	}
	for _, m := range c.Metrics {
		if m.Modes != nil {
			fmt.Fprintf(b, "  %s has two modes: without the excursion the bound is %s, and the next one, at %.1f x that, is a false alarm; with it %s, and %.1f x the healthy median passes\n",
				m.Name, plain(m.Modes.Without.Value), m.Modes.Reads, plain(m.Modes.With.Value), m.Modes.Blind)
		}
	}
}

// widest is the most nights of a sparkline.
const widest = 60

// Sparkline draws values between the least and the greatest of them, the last sixty; a night without a
// value is a dot.
func Sparkline(values []float64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	steps := []rune(blocks)
	values = values[max(len(values)-widest, 0):]
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	line := make([]rune, len(values))
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			line[i] = '·'
		case high == low:
			line[i] = steps[len(steps)/2]
		default:
			line[i] = steps[int((v-low)/(high-low)*float64(len(steps)-1)+0.5)]
		}
	}
	return string(line)
}
