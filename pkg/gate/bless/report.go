package bless

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// became lists what may become of a gate, the worst first.
var became = []baseline.Became{
	baseline.Lost, baseline.Reverted, baseline.Loosened, baseline.Changed, baseline.Gained, baseline.Tightened, baseline.Unchanged,
}

// summary counts the gates in words: "2 gained, 1 loosened, 3 unchanged".
func summary(counts map[string]int) string {
	var parts []string
	for _, b := range became {
		if n := counts[string(b)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, b))
		}
	}
	if len(parts) == 0 {
		return "no gates"
	}
	return "gates: " + strings.Join(parts, ", ")
}

// markdown is the report, which is also the pull request's text.
func (r *refresher) markdown(changes []baseline.Change, refused strict.Problems) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Baselines from a %s\n\n%s.\n", r.In.String("from"), summary(countChanges(changes)))
	if len(refused) > 0 {
		b.WriteString("\n**Nothing was written.** These changes guard less than before, and there is no reason that covers them:\n\n")
		for _, p := range refused {
			fmt.Fprintf(&b, "- `%s`: %s\n", p.Field, cell(p.Message))
		}
	}
	if r.reason != "" {
		b.WriteString("\nReason given: " + cell(r.reason) + "\n")
	}
	r.table(&b, changes)
	r.nights(&b, changes)
	if len(r.notes) > 0 {
		b.WriteString("\n### Worth knowing\n\n")
		for _, n := range r.notes {
			fmt.Fprintf(&b, "- `%s`: %s\n", n.About, cell(n.Text))
		}
	}
	r.reasonLines(&b, changes)
	b.WriteString(r.windows) // last, for a pull request's text may have to be cut
	return b.String()
}

// table lists the gates that changed, old and new.
func (r *refresher) table(b *strings.Builder, changes []baseline.Change) {
	header := "\n| cell | gate | | old → new | moved | since first blessed | sees |\n|---|---|---|---|---|---|---|\n"
	for _, worst := range became[:len(became)-1] {
		for _, c := range changes {
			if c.Became != worst {
				continue
			}
			b.WriteString(header)
			header = ""
			fmt.Fprintf(b, "| %s | %s | %s | %s → %s | %s | %s | %s |\n", c.Key, c.Gate, c.Became, value(c.Old), value(c.New), share(c.Moved()), share(c.Drift()), r.step(c))
		}
	}
}

// step is the smallest step that the bound of a gate can see.
func (r *refresher) step(c baseline.Change) string {
	if v, ok := r.sees[c.Key][c.Gate]; ok {
		return fmt.Sprintf("≥ %.1f %%", 100*v)
	}
	return ""
}

// nights lists the evidence behind each bound that changed.
func (r *refresher) nights(b *strings.Builder, changes []baseline.Change) {
	header := "\n### Evidence\n"
	for _, c := range changes {
		if c.Provenance == nil || c.Became == baseline.Unchanged || len(c.Provenance.Nights) == 0 {
			continue
		}
		b.WriteString(header)
		header = ""
		margin := ""
		if c.Provenance.Margin != nil {
			margin = fmt.Sprintf(", margin %g", *c.Provenance.Margin)
		}
		fmt.Fprintf(b, "\n`%s` %s: rule %s%s\n\n| run | value | sha256 |\n|---|---|---|\n", c.Key, c.Gate, c.Provenance.Rule, margin)
		for _, n := range c.Provenance.Nights {
			fmt.Fprintf(b, "| %d-%d | %g | `%.16s` |\n", n.Run, max(n.Attempt, 1), n.Value, n.SHA256)
		}
	}
}

// reasonLines end the report with lines that baseline-check reads as reasons, one for each gate that was
// given up: the pull request's text is its reason file.
func (r *refresher) reasonLines(b *strings.Builder, changes []baseline.Change) {
	if r.reason == "" {
		return
	}
	header := "\n### Reasons\n\n"
	for _, c := range changes {
		if c.WantsReason() {
			b.WriteString(header)
			header = ""
			fmt.Fprintf(b, "- reason %s %s: %s\n", c.Key, c.Gate, strings.Join(strings.Fields(r.reason), " "))
		}
	}
}

// value is a bound in a table.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return cell(fmt.Sprint(v))
}

func share(v float64, ok bool) string {
	if !ok {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*v)
}

// cell keeps a text inside its cell or line of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ", "<", "&lt;").Replace(text)
}
