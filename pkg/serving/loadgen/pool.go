package loadgen

import (
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
)

// Pool takes percentiles over the successful requests of several steps together, which a mean of their percentiles is
// not. For each metric m it gives pooled_n_m, the size of the sample (tokens for itl_token), and pooled_pNN_m_ms, null
// for an empty sample.
func Pool(percentiles []float64, results ...*Result) Export {
	var e Export
	var steps []samples
	for _, res := range results {
		steps = append(steps, collect(res.Requests, res.Plan.open(), all))
	}
	for _, m := range slices.Concat(referenceMetrics, []string{"first_text_ttft"}) {
		var parts [][]float64
		for i := range steps {
			if m == "first_text_ttft" {
				parts = append(parts, steps[i].firstText)
			} else {
				parts = append(parts, steps[i].of(m))
			}
		}
		sorted := stats.Sorted(slices.Concat(parts...))
		e.put("pooled_n_"+m, len(sorted))
		for _, p := range percentiles {
			e.put("pooled_p"+percentileName(p)+"_"+m+"_ms", stats.Percentile(sorted, p))
		}
	}
	var tokens []stats.Weighted
	for i := range steps {
		tokens = append(tokens, steps[i].itlToken...)
	}
	w := stats.NewWeighted(tokens)
	e.put("pooled_n_itl_token", int(w.Weight()+0.5))
	for _, p := range percentiles {
		e.put("pooled_p"+percentileName(p)+"_itl_token_ms", w.Percentile(p))
	}
	return e
}
