package loadgen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Limits beyond which a plan is taken for a slip.
const (
	maxPrompts = 1 << 20
	maxSlots   = 1 << 16
)

// withDefaults fills in what the plan leaves open.
func (p Plan) withDefaults() Plan {
	fill(&p.Endpoint, Completions)
	fill(&p.Tokenizer, p.Model)
	fill(&p.VocabSize, 32000)
	fill(&p.WordsPerToken, 1)
	fill(&p.RequestIDPrefix, "gatehouse")
	fill(&p.Burstiness, 1)
	fill(&p.ConnectTimeout, 30*time.Second)
	fill(&p.IdleTimeout, 2*time.Minute)
	fill(&p.RequestTimeout, time.Hour)
	if p.Prompt == "" {
		p.Prompt = TokenIDs
		if p.Endpoint == ChatCompletions {
			p.Prompt = Text
		}
	}
	if p.Prompt == Text {
		fill(&p.LengthTolerance, 0.25)
	}
	if p.Percentiles == nil {
		p.Percentiles = []float64{50, 90, 99}
	}
	if p.PercentileMetrics == nil {
		p.PercentileMetrics = slices.Clone(referenceMetrics)
	}
	return p
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check refuses what cannot be meant; p has its defaults.
func (p *Plan) check() error {
	type rule struct {
		field string
		bad   bool
		want  string
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	generated := len(p.Prompts) == 0
	rules := []rule{
		{"Endpoint", p.Endpoint != Completions && p.Endpoint != ChatCompletions, "want " + Completions + " or " + ChatCompletions},
		{"Model", p.Model == "", "want the model's name"},
		{"APIKey", strings.ContainsAny(p.APIKey, "\r\n"), "contains a line break"},
		{"RequestIDPrefix", strings.ContainsAny(p.RequestIDPrefix, "\r\n"), "contains a line break"},
		{"NumPrompts", p.NumPrompts < 1 || p.NumPrompts > maxPrompts, fmt.Sprintf("want 1 to %d", maxPrompts)},
		{"NumWarmups", p.NumWarmups < 0 || p.NumWarmups > maxPrompts, fmt.Sprintf("want 0 to %d", maxPrompts)},
		{"InputLen", (generated || p.NumWarmups > 0) && p.InputLen < 1, "want at least 1 token"},
		{"OutputLen", (generated || p.NumWarmups > 0) && p.OutputLen < 1, "want at least 1 token"},
		{"Prompts", !generated && len(p.Prompts) < p.NumPrompts, fmt.Sprintf("want at least NumPrompts (%d), have %d", p.NumPrompts, len(p.Prompts))},
		{"Prompt", p.Prompt != TokenIDs && p.Prompt != Text, fmt.Sprintf("want %s or %s", TokenIDs, Text)},
		{"Prompt", p.Prompt == TokenIDs && p.Endpoint == ChatCompletions, "a chat takes no token ids, use " + string(Text)},
		{"VocabSize", p.VocabSize < 100 || p.VocabSize > math.MaxInt32, "want the size of the model's vocabulary, at least 100"},
		{"WordsPerToken", !finite(p.WordsPerToken) || p.WordsPerToken <= 0, "want a number above 0"},
		{"LengthTolerance", !finite(p.LengthTolerance), "want a finite number"},
		{"Step", p.Step < 0, "want 0 or more"},
		{"MaxConcurrency", p.MaxConcurrency < 0 || p.MaxConcurrency > maxSlots, fmt.Sprintf("want 0 (no cap) to %d", maxSlots)},
		{"RequestRate", !finite(p.RequestRate) || p.RequestRate < 0, "want requests a second, or 0 for all at once"},
		{"Burstiness", math.IsNaN(p.Burstiness) || p.Burstiness <= 0, "want a gamma shape above 0, +Inf for constant gaps"},
		{"Ramp", p.Ramp != nil && !(finite(p.Ramp.From) && finite(p.Ramp.To) && p.Ramp.From > 0 && p.Ramp.To > 0), "want rates above 0"},
		{"Stagger", p.Stagger < 0, "want 0 or more"},
		{"Stagger", p.Stagger > 0 && p.open(), "an open loop has its own schedule, leave it out"},
		{"ConnLimit", p.ConnLimit < 0, "want 0 (no limit) or more"},
		{"ConnectTimeout", p.ConnectTimeout < 0, "want a duration above 0"},
		{"IdleTimeout", p.IdleTimeout < 0, "want a duration above 0"},
		{"RequestTimeout", p.RequestTimeout < 0, "want a duration above 0"},
		{"MaxFailures", p.MaxFailures < 0, "want 0 (never) or more"},
		{"SLO", p.SLO.TTFT < 0 || p.SLO.TPOT < 0 || p.SLO.E2EL < 0, "want durations above 0"},
	}
	for _, r := range rules {
		if r.bad {
			return &PlanError{r.field, r.want}
		}
	}
	return p.checkLists()
}

// checkLists looks into the list-like fields.
func (p *Plan) checkLists() error {
	for _, x := range p.Percentiles {
		if !(x > 0 && x < 100) {
			return &PlanError{"Percentiles", fmt.Sprintf("%v is not between 0 and 100", x)}
		}
	}
	for _, m := range p.PercentileMetrics {
		if !slices.Contains(referenceMetrics, m) {
			return &PlanError{"PercentileMetrics", fmt.Sprintf("%q is none of %s", m, strings.Join(referenceMetrics, ", "))}
		}
	}
	for _, c := range p.Tolerate {
		if !slices.Contains(Tolerable, c) {
			return &PlanError{"Tolerate", fmt.Sprintf("%q always fails a request", c)}
		}
	}
	for _, key := range []string{"prompt", "messages", "stream", "max_tokens", "model"} {
		if _, ok := p.ExtraBody[key]; ok {
			return &PlanError{"ExtraBody", fmt.Sprintf("%q is set by a field of its own", key)}
		}
	}
	for i, q := range p.Prompts {
		if len(q.IDs) == 0 && q.Text == "" {
			return &PlanError{"Prompts", fmt.Sprintf("prompt %d is empty", i)}
		}
		if len(q.IDs) > 0 && p.Endpoint == ChatCompletions {
			return &PlanError{"Prompts", fmt.Sprintf("prompt %d: a chat takes no token ids", i)}
		}
		if q.OutputLen < 0 || q.OutputLen == 0 && p.OutputLen < 1 {
			return &PlanError{"Prompts", fmt.Sprintf("prompt %d has no output length", i)}
		}
	}
	return nil
}

// open reports that requests arrive on a schedule rather than when a slot is free.
func (p *Plan) open() bool { return p.RequestRate > 0 || p.Ramp != nil }

// wanted is the number of streams a plan may need at once.
func (p *Plan) wanted() int {
	if p.MaxConcurrency == 0 {
		return min(p.NumPrompts, maxSlots)
	}
	return min(p.MaxConcurrency, p.NumPrompts)
}

// slots is the number of streams the client can hold.
func (p *Plan) slots() int {
	if p.ConnLimit > 0 {
		return min(p.wanted(), p.ConnLimit)
	}
	return p.wanted()
}
