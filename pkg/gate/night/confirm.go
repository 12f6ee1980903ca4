package night

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// confirm runs an entry a second time when a bound was broken, and settles the verdicts by both runs.
// One run cannot tell a regression from an excursion: rare excursions alone would make a gate cry wolf
// as often as they happen, and only a second look brings that down to their square.
func (n *night) confirm(ctx context.Context, e *matrix.Entry, r *recipe.Recipe, first []judged, dir string) {
	asked := slices.ContainsFunc(first, func(j judged) bool { return j.judgement.Confirmable() })
	if n.noConfirm || !asked {
		return
	}
	for _, j := range first {
		if j.judgement.Confirmable() {
			n.Say("%s: %s", j.row.Key(), strings.Join(j.row.Words(), "; "))
		}
	}
	n.Say("%s: running once more to confirm", e.Name)
	second := map[string]judged{}
	var whole judged // what became of the run where it came to no cells
	for _, j := range n.judge(e, r, n.attempt(ctx, e, r, dir)) {
		if j.row.Cell == nil {
			whole = j
			continue
		}
		second[*j.row.Cell] = j
	}
	for i := range first {
		if !first[i].judgement.Confirmable() {
			continue
		}
		again, ok := second[*first[i].row.Cell]
		if !ok {
			again = whole
		}
		settle(&first[i].row, first[i].judgement, again)
	}
}

// settle gives a row that broke bounds its verdict by the second run: broken again is a failure, held
// is an excursion, and anything else leaves nothing to conclude.
func settle(row *Row, first baseline.Judgement, again judged) {
	row.Confirmation = &Confirmation{
		Verdict: again.judgement.Verdict, Reasons: append([]string{}, again.judgement.Reasons...), Metrics: again.row.Metrics, Deltas: again.row.Deltas,
		MatrixPath: again.row.MatrixPath, DurationSec: again.row.DurationSec, Error: again.row.Error, Evidence: again.row.Evidence,
	}
	repeated := func(b baseline.Breach) bool {
		return slices.ContainsFunc(again.judgement.Breaches, func(a baseline.Breach) bool { return a.Metric == b.Metric })
	}
	row.Breaches, row.Excursions = nil, nil
	for _, b := range first.Breaches {
		if repeated(b) {
			row.Breaches = append(row.Breaches, b)
		} else {
			row.Excursions = append(row.Excursions, b)
		}
	}
	others := slices.DeleteFunc(slices.Clone(first.Reasons), func(reason string) bool { return slices.Contains(reasonsOf(first.Breaches), reason) })
	switch {
	case len(row.Breaches) > 0:
		row.Verdict, row.Reasons = baseline.Fail, reasonsOf(row.Breaches)
	case first.Unbroken != baseline.NoVerdict && (again.judgement.Verdict == first.Unbroken || again.judgement.Unbroken == first.Unbroken):
		row.Verdict, row.Reasons = first.Unbroken, nil
		for _, b := range row.Excursions {
			row.Reasons = append(row.Reasons, fmt.Sprintf("excursion: %s; it held in the confirming run", b))
		}
	default:
		row.Verdict = baseline.NoVerdict
		row.Breaches, row.Excursions = first.Breaches, nil
		row.Reasons = append(reasonsOf(first.Breaches), "the confirming run came to nothing: "+strings.Join(again.judgement.Reasons, "; "))
	}
	row.Reasons = append(row.Reasons, others...)
}

func reasonsOf(breaches []baseline.Breach) []string {
	var reasons []string
	for _, b := range breaches {
		reasons = append(reasons, b.Reason)
	}
	return reasons
}
