package cell

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// textTolerance is how far the length of a text prompt may be off: without a tokenizer it is only about right.
const textTolerance = 0.25

// auditLoad holds the export of one step, warm-up or measured, against the recipe: was what was planned also done. The
// returned failures have no phase yet.
func auditLoad(serve *recipe.Serve, prompt loadgen.PromptKind, export loadgen.Export) []*Failure {
	checks := []*Failure{auditRequests(serve, export), auditEcho(serve, export), auditOutput(serve, export), auditPrompts(serve, prompt, export)}
	return slices.DeleteFunc(checks, func(f *Failure) bool { return f == nil })
}

// auditRequests: every request of the step was served.
func auditRequests(serve *recipe.Serve, export loadgen.Export) *Failure {
	completed, ok1 := export.Float("completed")
	failed, ok2 := export.Float("failed")
	if !ok1 || !ok2 {
		return &Failure{Reason: ReasonExport, Message: "completed or failed is missing in the step's export"}
	}
	if failed == 0 && completed == float64(serve.NumPrompts) {
		return nil
	}
	return &Failure{
		Reason:  ReasonShortfall,
		Message: fmt.Sprintf("%.0f of %d requests completed, %.0f failed", completed, serve.NumPrompts, failed),
	}
}

// auditEcho: the load was the recipe's. A step measured under another load would be green under the wrong name.
func auditEcho(serve *recipe.Serve, export loadgen.Export) *Failure {
	var wrong []string
	differs := func(key string, want float64) {
		if got, ok := export.Float(key); !ok || got != want {
			value, _ := export.Get(key)
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", key, value, want))
		}
	}
	differs("num_prompts", float64(serve.NumPrompts))
	if serve.MaxConcurrency > 0 {
		differs("max_concurrency", float64(serve.MaxConcurrency))
	}
	if serve.RequestRate > 0 {
		differs("request_rate", serve.RequestRate)
	} else if rate, _ := export.Get("request_rate"); rate != "inf" {
		wrong = append(wrong, fmt.Sprintf("request_rate is %v, want inf", rate))
	}
	if wrong == nil {
		return nil
	}
	return &Failure{Reason: ReasonEcho, Message: "the measured load is not the recipe's: " + strings.Join(wrong, "; ")}
}

// auditOutput: under ignore_eos the number of output tokens is known beforehand.
func auditOutput(serve *recipe.Serve, export loadgen.Export) *Failure {
	if !serve.IgnoreEOS || serve.OutputLen == 0 || serve.Rollout != nil {
		return nil
	}
	completed, _ := export.Float("completed")
	got, ok := export.Float("total_output_tokens")
	if want := completed * float64(serve.OutputLen); ok && got == want {
		return nil
	} else {
		return &Failure{Reason: ReasonOutputLength, Message: fmt.Sprintf("%.0f output tokens in all, want %.0f (%.0f requests of %d under ignore_eos)",
			got, want, completed, serve.OutputLen)}
	}
}

// auditPrompts: the engine counted the prompts as long as they were planned.
func auditPrompts(serve *recipe.Serve, prompt loadgen.PromptKind, export loadgen.Export) *Failure {
	if serve.InputLen == 0 {
		return nil
	}
	completed, _ := export.Float("completed")
	got, ok := export.Float("total_input_tokens")
	want := completed * float64(serve.InputLen)
	tolerance := 0.0
	if prompt == loadgen.Text {
		tolerance = textTolerance
	}
	if ok && math.Abs(got-want) <= tolerance*want {
		return nil
	}
	return &Failure{Reason: ReasonPromptLength, Message: fmt.Sprintf("%.0f prompt tokens in all, want %.0f (%.0f requests of %d)",
		got, want, completed, serve.InputLen)}
}

// auditMetrics: what a step must have measured is there, finite and above 0.
func auditMetrics(serve *recipe.Serve, export loadgen.Export) *Failure {
	var bad []string
	for _, key := range required(serve, export) {
		if v, ok := export.Float(key); !ok {
			bad = append(bad, key+" is missing")
		} else if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
			bad = append(bad, fmt.Sprintf("%s is %v", key, v))
		}
	}
	if bad == nil {
		return nil
	}
	return &Failure{Reason: ReasonExport, Message: "the step measured no usable " + strings.Join(bad, ", ")}
}

// required lists the metrics without which a step is no measurement. TPOT needs a second token.
func required(serve *recipe.Serve, export loadgen.Export) []string {
	keys := []string{"duration", "output_throughput", "request_throughput", "total_token_throughput", "mean_ttft_ms", "median_ttft_ms"}
	second := serve.OutputLen > 1
	if !serve.IgnoreEOS || serve.OutputLen == 0 {
		total, _ := export.Float("total_output_tokens")
		completed, _ := export.Float("completed")
		keys = append(keys, "total_output_tokens")
		second = total > completed
	}
	if second {
		keys = append(keys, "mean_tpot_ms", "median_tpot_ms")
	}
	return keys
}

// addRequests counts the failed requests of a step by class and puts an example of each into the message. Requests that
// were only cut off with their step say nothing.
func (f *Failure) addRequests(requests []loadgen.Request) {
	f.Requests = map[loadgen.Class]int{}
	for i := range requests {
		r := &requests[i]
		if r.OK() || r.Failure == loadgen.Canceled {
			continue
		}
		if f.Requests[r.Failure]++; f.Requests[r.Failure] == 1 {
			f.Message += fmt.Sprintf("; %s: %s", r.Failure, r.Detail)
		}
	}
}

// gates holds the recipe's gates against the trial's means over its steps. Nothing is judged where nothing was measured.
func gates(serve *recipe.Serve, means map[string]float64, steps int) []*Failure {
	if steps == 0 {
		return nil
	}
	var out []*Failure
	for _, g := range serve.Gates {
		bound := g.Bound
		observed, ok := means[g.Metric]
		switch {
		case !ok:
			out = append(out, &Failure{Reason: ReasonGateMissing, Phase: "gates", Gate: g.Name, Metric: g.Metric, Bound: &bound,
				Message: fmt.Sprintf("gate %s: %s was not measured in every step", g.Name, g.Metric)})
		case g.Breached(observed):
			side := "below"
			if g.Max {
				side = "above"
			}
			out = append(out, &Failure{Reason: ReasonGateBreached, Phase: "gates", Gate: g.Name, Metric: g.Metric, Bound: &bound, Observed: &observed,
				Message: fmt.Sprintf("gate %s: %s %.6g is %s %.6g", g.Name, g.Metric, observed, side, bound)})
		}
	}
	return out
}
