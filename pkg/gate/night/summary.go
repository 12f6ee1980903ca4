package night

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// summaryLimit is the size GitHub shows of a job summary, for the copy in a file.
const summaryLimit = 1 << 20

// publish shows the summary on the job's page and writes the copy that was asked for.
func (n *night) publish(word string) {
	text := markdown(&n.results, word)
	n.Summary(text)
	if !n.In.Given("summary") {
		return
	}
	if err := store(n.Path(n.In.String("summary")), []byte(step.FitSummary(text, summaryLimit))); err != nil {
		n.Warn(strict.Problem{Message: err.Error()})
	}
}

// markdown is the job summary: the verdict table with what is wrong first, then each such row in full.
func markdown(r *Results, word string) string {
	var b strings.Builder
	rows := worstFirst(r.Entries)
	fmt.Fprintf(&b, "## Nightly evaluation: %s\n\n%s\n\n", spoken(word), r.Summary)
	b.WriteString("| verdict | cell | what |\n| --- | --- | --- |\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", shown(row), escape(row.Key()), escape(row.what()))
	}
	for _, row := range rows {
		if row.Verdict == baseline.Fail || row.Verdict == baseline.NoVerdict || len(row.Excursions) > 0 {
			b.WriteString(expanded(row))
		}
	}
	fmt.Fprintf(&b, "\nStarted %s", r.StartedAt)
	for _, fact := range []struct{ name, value string }{
		{"runner", r.Runner}, {"lane", r.Build.Lane}, {"event", r.Event}, {"ROCm", orEmpty(r.Build.ROCm)}, {"base image", orEmpty(r.Build.BaseImage)},
	} {
		if fact.value != "" {
			fmt.Fprintf(&b, ", %s %s", fact.name, escape(fact.value))
		}
	}
	b.WriteString(".\n")
	return b.String()
}

// expanded tells one row in full.
func expanded(row *Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s: %s\n\n", escape(row.Key()), shown(row))
	for _, words := range row.Words() {
		fmt.Fprintf(&b, "- %s\n", escape(words))
	}
	if row.Error != nil && *row.Error != "" {
		fmt.Fprintf(&b, "- error: %s\n", escape(*row.Error))
	}
	for _, tag := range row.Tags {
		where := ""
		if tag.Step != nil {
			where = fmt.Sprintf("step %d, ", *tag.Step)
		}
		fmt.Fprintf(&b, "- tag %s: %s%s\n", escape(tag.Name), where, escape(tag.Why))
	}
	otherRun(&b, "second run", row.Confirmation)
	otherRun(&b, "first run, disqualified", row.Disqualified)
	if hint := row.hint(); hint != "" {
		fmt.Fprintf(&b, "- what to do: %s\n", escape(hint))
	}
	if row.MatrixPath != nil {
		fmt.Fprintf(&b, "- measured in %s\n", escape(*row.MatrixPath))
	}
	return b.String()
}

// otherRun tells of a run whose values are not the night's.
func otherRun(b *strings.Builder, name string, c *Confirmation) {
	if c == nil {
		return
	}
	fmt.Fprintf(b, "- %s: %s after %.0f s\n", name, c.Verdict, c.DurationSec)
	for _, reason := range c.Reasons {
		fmt.Fprintf(b, "  - %s\n", escape(reason))
	}
}

// textTable is the verdict table for a terminal or a log.
func textTable(all []Row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "VERDICT\tCELL\tWHAT")
	for _, row := range worstFirst(all) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", shown(row), oneLine(row.Key()), oneLine(row.what()))
	}
	w.Flush()
	return b.String()
}

// shown is the verdict as people should read it: a pass that holds no bound guards nothing.
func shown(row *Row) string {
	switch {
	case row.Verdict == baseline.Pass && len(row.Excursions) > 0:
		return "pass (excursion)"
	case row.Verdict == baseline.Pass && len(row.Gated) == 0:
		return "pass (recording)"
	}
	return spoken(string(row.Verdict))
}

// spoken is a verdict in people's words.
func spoken(verdict string) string { return strings.ReplaceAll(verdict, "_", " ") }

// what says in one line why a row has its verdict, or how far it is from its bounds.
func (r *Row) what() string {
	words := r.Words()
	if r.Verdict == baseline.Record {
		words = append(words, r.measured()...)
	}
	if len(words) > 0 && r.Verdict != baseline.Pass {
		return strings.Join(words, "; ")
	}
	var parts []string
	if len(r.Excursions) == 0 {
		for _, name := range r.Gated {
			parts = append(parts, r.headroom(name))
		}
	}
	parts = append(parts, words...)
	if len(parts) == 0 {
		return strings.Join(append([]string{"no bound is held"}, r.measured()...), "; ")
	}
	return strings.Join(parts, ", ")
}

// measured tells two figures of a cell that holds no bound, those that are guarded first by choice, or its
// step time.
func (r *Row) measured() []string {
	var parts []string
	for _, name := range guardedFirst() {
		if v, ok := r.Metrics.Summary[name].(float64); ok && len(parts) < 2 {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %.4g %s", name, v, metric.Unit(name))))
		}
	}
	if len(parts) == 0 && r.Metrics.MeanStepTimeMS != nil {
		parts = append(parts, fmt.Sprintf("%s %.4g ms", metric.StepTime, *r.Metrics.MeanStepTimeMS))
	}
	return parts
}

// guardedFirst lists the metrics that have a policy, those of a first bless before the others.
func guardedFirst() []string {
	first := []string{"median_tpot_ms", "p99_itl_ms"}
	return append(first, slices.DeleteFunc(metric.Names(), func(name string) bool { return slices.Contains(first, name) })...)
}

// headroom tells an observation beside the bound it holds.
func (r *Row) headroom(name string) string {
	if d := r.Deltas.StepTime; name == "step_time_ms.max" && d != nil && d.Observed != nil {
		return fmt.Sprintf("%s %.1f ms (max %.1f)", metric.StepTime, *d.Observed, d.Max)
	}
	d := r.Deltas.Metrics[name]
	observed, ok := d.Observed.(float64)
	bound, ok2 := d.Value.(float64)
	if !ok || !ok2 || d.Policy == metric.Equal {
		return name + " as expected"
	}
	unit := metric.Unit(name)
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("%s %.4g%s (%s %.6g)", name, observed, unit, d.Policy, bound)
}

// worstFirst orders rows by how much they need looking at, and as they ran within that.
func worstFirst(all []Row) []*Row {
	rank := func(r *Row) int {
		switch {
		case r.Verdict == baseline.Fail:
			return 0
		case r.Verdict == baseline.NoVerdict:
			return 1
		case len(r.Excursions) > 0:
			return 2
		}
		return 3
	}
	rows := make([]*Row, len(all))
	for i := range all {
		rows[i] = &all[i]
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return rank(a) - rank(b) })
	return rows
}

var markup = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "~", `\~`, "!", `\!`, "@", "&#64;",
)

// escape makes a text safe in a cell of a Markdown table. Cell names, error texts and metric names come
// from what was measured.
func escape(text string) string { return markup.Replace(oneLine(text)) }

// maxText is how much of one text is shown; the results file has the whole.
const maxText = 600

func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
