package loadgen

import (
	"math"
	"testing"
)

func TestPlanErrors(t *testing.T) {
	good := Plan{BaseURL: "http://127.0.0.1:1", Model: "m", NumPrompts: 1, InputLen: 1, OutputLen: 1}
	if _, err := newRunner(good); err != nil {
		t.Fatalf("the good plan: %v", err)
	}
	tests := []struct {
		field string
		spoil func(*Plan)
	}{
		{"BaseURL", func(p *Plan) { p.BaseURL = "" }},
		{"Endpoint", func(p *Plan) { p.Endpoint = "/generate" }},
		{"Model", func(p *Plan) { p.Model = "" }},
		{"APIKey", func(p *Plan) { p.APIKey = "a\r\nX: y" }},
		{"RequestIDPrefix", func(p *Plan) { p.RequestIDPrefix = "a\nb" }},
		{"NumPrompts", func(p *Plan) { p.NumPrompts = 0 }},
		{"NumWarmups", func(p *Plan) { p.NumWarmups = -1 }},
		{"InputLen", func(p *Plan) { p.InputLen = 0 }},
		{"OutputLen", func(p *Plan) { p.OutputLen = 0 }},
		{"Prompts", func(p *Plan) { p.NumPrompts, p.Prompts = 2, []Prompt{{Text: "a"}} }},
		{"Prompts", func(p *Plan) { p.Prompts = []Prompt{{}} }},
		{"Prompts", func(p *Plan) { p.OutputLen, p.Prompts = 0, []Prompt{{Text: "a"}} }},
		{"Prompts", func(p *Plan) { p.Endpoint, p.Prompts = ChatCompletions, []Prompt{{IDs: []int32{1}}} }},
		{"Prompt", func(p *Plan) { p.Prompt = "words" }},
		{"Prompt", func(p *Plan) { p.Endpoint, p.Prompt = ChatCompletions, TokenIDs }},
		{"VocabSize", func(p *Plan) { p.VocabSize = 10 }},
		{"WordsPerToken", func(p *Plan) { p.WordsPerToken = math.NaN() }},
		{"LengthTolerance", func(p *Plan) { p.LengthTolerance = math.Inf(1) }},
		{"Step", func(p *Plan) { p.Step = -1 }},
		{"MaxConcurrency", func(p *Plan) { p.MaxConcurrency = -1 }},
		{"RequestRate", func(p *Plan) { p.RequestRate = math.Inf(1) }},
		{"Burstiness", func(p *Plan) { p.Burstiness = -1 }},
		{"Ramp", func(p *Plan) { p.Ramp = &Ramp{} }},
		{"Stagger", func(p *Plan) { p.Stagger = -1 }},
		{"Stagger", func(p *Plan) { p.Stagger, p.RequestRate = 1, 1 }},
		{"ConnLimit", func(p *Plan) { p.ConnLimit = -1 }},
		{"IdleTimeout", func(p *Plan) { p.IdleTimeout = -1 }},
		{"MaxFailures", func(p *Plan) { p.MaxFailures = -1 }},
		{"SLO", func(p *Plan) { p.SLO.TTFT = -1 }},
		{"Percentiles", func(p *Plan) { p.Percentiles = []float64{100} }},
		{"PercentileMetrics", func(p *Plan) { p.PercentileMetrics = []string{"ttfb"} }},
		{"Tolerate", func(p *Plan) { p.Tolerate = []Class{Truncated} }},
		{"ExtraBody", func(p *Plan) { p.ExtraBody = map[string]any{"stream": false} }},
		{"ExtraBody", func(p *Plan) { p.ExtraBody = map[string]any{"x": func() {}} }},
	}
	for _, tt := range tests {
		p := good
		tt.spoil(&p)
		_, err := Run(t.Context(), p)
		bad, ok := err.(*PlanError)
		if !ok || bad.Field != tt.field || bad.Reason == "" {
			t.Errorf("%s: got %v", tt.field, err)
		}
	}
}
