package cell

import (
	"math"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// scalars takes the finite numbers out of an export; the number of the step is none that anybody averages.
func scalars(export loadgen.Export) map[string]float64 {
	out := map[string]float64{}
	for _, f := range export {
		if v, ok := export.Float(f.Key); ok && f.Key != "step" && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[f.Key] = v
		}
	}
	return out
}

// means averages each scalar over the steps, those that every step has; partial lists the others. The mean over steps is
// the reference's aggregate, also of percentiles: a cell's p99 is no percentile of the pooled sample. See pooled.
func means(steps []map[string]float64) (mean map[string]float64, partial []string) {
	values := map[string][]float64{}
	for _, s := range steps {
		for key, v := range s {
			values[key] = append(values[key], v)
		}
	}
	mean = map[string]float64{}
	for key, vs := range values {
		if len(vs) == len(steps) {
			mean[key] = stats.Mean(vs)
		} else {
			partial = append(partial, key)
		}
	}
	slices.Sort(partial)
	return mean, partial
}

// counters are exported as sums over the steps, beside their means.
var counters = map[string]string{"completed": "completed_total", "failed": "failed_total"}

// trialMetrics makes the metrics of a trial: what was asked for, then the means over its steps.
func trialMetrics(serve *recipe.Serve, configured int, steps []map[string]float64) map[string]any {
	m := map[string]any{
		"image": nil, "model": serve.Model, "served_model_name": serve.ServedModelName, "dataset": serve.Dataset,
		"num_prompts": serve.NumPrompts, "input_len": nil, "output_len": nil, "max_concurrency": nil, "request_rate": any("inf"),
		"num_warmups": serve.NumWarmups, "ignore_eos": serve.IgnoreEOS, "bench_steps": configured, "warmup_steps": serve.WarmupSteps,
	}
	if serve.Driver == recipe.DriverDocker {
		m["image"] = serve.Image
	}
	if serve.InputLen > 0 {
		m["input_len"], m["output_len"] = serve.InputLen, serve.OutputLen
	}
	if serve.MaxConcurrency > 0 {
		m["max_concurrency"] = serve.MaxConcurrency
	}
	if serve.RequestRate > 0 {
		m["request_rate"] = serve.RequestRate
	}
	mean, partial := means(steps)
	for key, v := range mean {
		if _, planned := m[key]; !planned {
			m[key] = v
		}
	}
	if partial != nil {
		m["partial_metrics"] = partial
	}
	for key, total := range counters {
		sum := 0.0
		for _, s := range steps {
			sum += s[key]
		}
		m[total] = sum
	}
	if v, ok := mean["output_throughput"]; ok {
		m["tokens_per_sec"] = v
	}
	return m
}

// summarize aggregates numbers over trials; booleans, texts and missing values are left out.
func summarize(trials []map[string]any) map[string]report.Summary {
	values := map[string][]float64{}
	for _, metrics := range trials {
		for key, v := range metrics {
			switch v := v.(type) {
			case float64:
				values[key] = append(values[key], v)
			case int:
				values[key] = append(values[key], float64(v))
			}
		}
	}
	out := map[string]report.Summary{}
	for key, vs := range values {
		lo, hi, n := slices.Min(vs), slices.Max(vs), len(vs)
		out[key] = report.Summary{Mean: stats.Mean(vs), Min: &lo, Max: &hi, N: &n}
	}
	return out
}

// pooled takes percentiles over the requests of all given steps as one sample, by the reference's key: what "p99" says
// and a mean of p99s over 32 requests each is not.
func pooled(percentiles []float64, results []*loadgen.Result) map[string]report.Quantile {
	export := loadgen.Pool(percentiles, results...)
	out := map[string]report.Quantile{}
	for _, f := range export {
		key, ok := strings.CutPrefix(f.Key, "pooled_")
		value, number := export.Float(f.Key)
		if !ok || !number || math.IsNaN(value) {
			continue
		}
		if _, metric, ok := strings.Cut(key, "_"); ok && strings.HasPrefix(key, "p") {
			n, _ := export.Float("pooled_n_" + strings.TrimSuffix(metric, "_ms"))
			out[key] = report.Quantile{Value: value, N: int(n)}
		}
	}
	return out
}

// stepTimes fills the reference's step-time statistics; without steps they are 0.0 and the source says missing.
func stepTimes(cell *report.Cell, ms []float64) {
	cell.StepTimesMS = ms
	source := report.SourcePerStep
	if len(ms) == 0 {
		source = report.SourceMissing
		ms = []float64{0}
	}
	sorted := stats.Sorted(ms)
	at := func(v float64) *float64 { return &v }
	cell.StepTimeSource = &source
	cell.MeanStepTimeMS, cell.StdStepTimeMS = at(stats.Mean(ms)), at(stats.Std(ms))
	cell.MinStepTimeMS, cell.MaxStepTimeMS = at(sorted[0]), at(sorted[len(sorted)-1])
	cell.P50StepTimeMS, cell.P90StepTimeMS, cell.P99StepTimeMS =
		at(stats.Percentile(sorted, 50)), at(stats.Percentile(sorted, 90)), at(stats.Percentile(sorted, 99))
}
