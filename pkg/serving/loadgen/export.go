package loadgen

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// Field is one key of an export.
type Field struct {
	Key   string
	Value any
}

// Export is an ordered JSON object.
type Export []Field

// MarshalJSON writes the fields in order.
func (e Export) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range e {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get returns the value of key.
func (e Export) Get(key string) (any, bool) {
	i := slices.IndexFunc(e, func(f Field) bool { return f.Key == key })
	if i < 0 {
		return nil, false
	}
	return e[i].Value, true
}

// Float returns the number under key; false when it is absent, null or no number.
func (e Export) Float(key string) (float64, bool) {
	switch v, _ := e.Get(key); v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// put adds a field. A number that is not one becomes null.
func (e *Export) put(key string, value any) {
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		value = nil
	}
	*e = append(*e, Field{key, value})
}

// Export renders the step: TokenSpeed's keys first, with its meanings, then our own. detailed adds its per-request
// arrays (times in seconds, over all requests, failed ones included).
func (res *Result) Export(detailed bool) Export {
	var e Export
	s := collect(res.Requests, res.Plan.open(), all)
	t := res.totals()
	res.putReference(&e, t)
	for _, m := range referenceMetrics {
		res.putMetric(&e, m, s.of(m), slices.Contains(res.Plan.PercentileMetrics, m))
	}
	res.putExtras(&e, t, s)
	if detailed {
		res.putDetailed(&e)
	}
	return e
}

// putReference writes everything of TokenSpeed's export but the metrics.
func (res *Result) putReference(e *Export, t totals) {
	p := &res.Plan
	seconds := float64(res.End-res.Start) / 1e9
	per := func(n int) float64 {
		if seconds <= 0 {
			return 0
		}
		return float64(n) / seconds
	}
	backend := "openai"
	if p.Endpoint == ChatCompletions {
		backend = "openai-chat"
	}
	e.put("date", res.Started.Format("20060102-150405"))
	e.put("backend", backend)
	e.put("label", orNull(p.Label))
	e.put("model_id", p.Model)
	e.put("tokenizer_id", p.Tokenizer)
	e.put("num_prompts", p.NumPrompts)
	e.put("request_rate", rateKey(p))
	e.put("burstiness", burstinessKey(p.Burstiness))
	e.put("max_concurrency", orNull(p.MaxConcurrency))
	e.put("duration", seconds)
	e.put("completed", t.completed)
	e.put("failed", t.failed)
	e.put("total_input_tokens", t.input)
	e.put("total_output_tokens", t.output)
	e.put("request_throughput", per(t.completed))
	if p.SLO.set() {
		e.put("request_goodput", per(t.good))
	} else {
		e.put("request_goodput", nil)
	}
	e.put("output_throughput", per(t.output))
	e.put("total_token_throughput", per(t.input+t.output))
	e.put("max_output_tokens_per_s", res.peakRate(false))
	e.put("max_concurrent_requests", int(res.touching()))
}

func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func rateKey(p *Plan) any {
	if p.RequestRate == 0 {
		return "inf"
	}
	return p.RequestRate
}

// burstinessKey spells constant gaps, for which JSON has no number.
func burstinessKey(b float64) any {
	if math.IsInf(b, 1) {
		return "inf"
	}
	return b
}

// putMetric writes mean, median, std and percentiles of a reference metric in milliseconds. As in the reference an
// empty sample gives 0, which its harvest refuses.
func (res *Result) putMetric(e *Export, m string, values []float64, percentiles bool) {
	if len(values) == 0 {
		values = []float64{0}
	}
	sorted := stats.Sorted(values)
	e.put("mean_"+m+"_ms", stats.Mean(values))
	e.put("median_"+m+"_ms", stats.Percentile(sorted, 50))
	e.put("std_"+m+"_ms", stats.Std(values))
	if !percentiles {
		return
	}
	for _, p := range res.Plan.Percentiles {
		e.put("p"+percentileName(p)+"_"+m+"_ms", stats.Percentile(sorted, p))
	}
}

// percentileName is 99 for 99.0 and 99.9 for 99.9.
func percentileName(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// putDetailed writes the per-request arrays of the reference's --save-detailed, generated_texts left out: no text is
// kept.
func (res *Result) putDetailed(e *Export) {
	n := len(res.Requests)
	in, out, errs := make([]int, n), make([]int, n), make([]string, n)
	ttfts, starts, itls := make([]float64, n), make([]float64, n), make([][]float64, n)
	for i := range res.Requests {
		r := &res.Requests[i]
		in[i], out[i], starts[i] = r.InputLen, r.OutputLen, float64(r.Sent)/1e9
		itls[i] = []float64{}
		if !r.OK() {
			out[i], errs[i] = 0, string(r.Failure)+": "+r.Detail
			continue
		}
		ttfts[i] = float64(r.TTFT()) / 1e9
		for k := 1; k < len(r.Events); k++ {
			itls[i] = append(itls[i], float64(r.Events[k].T-r.Events[k-1].T)/1e9)
		}
	}
	e.put("input_lens", in)
	e.put("output_lens", out)
	e.put("ttfts", ttfts)
	e.put("itls", itls)
	e.put("start_times", starts)
	e.put("errors", errs)
}
