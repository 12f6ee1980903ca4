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

// confirm runs an entry a second time when a bound was broken or a measurement took itself back, and
// settles the verdicts by both runs. One run cannot tell a regression from an excursion: rare excursions
// alone would make a gate cry wolf as often as they happen, and only a second look brings that down to
// their square. A disqualified run has no value at all, so a second one is no second draw.
func (n *night) confirm(ctx context.Context, e *matrix.Entry, r *recipe.Recipe, first []judged, dir string) {
	if n.noConfirm || ctx.Err() != nil || !slices.ContainsFunc(first, judged.wantsAnother) {
		return
	}
	for _, j := range first {
		if j.wantsAnother() {
			n.Say("%s: %s", j.row.Key(), strings.Join(j.row.Words(), "; "))
		}
	}
	n.Say("%s: running once more", e.Name)
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
		if !first[i].wantsAnother() {
			continue
		}
		again, ok := second[*first[i].row.Cell]
		if !ok {
			again = whole
		}
		if first[i].judgement.Disqualified {
			first[i].row = replaced(first[i], again)
			continue
		}
		settle(&first[i].row, first[i].judgement, again)
	}
}

// wantsAnother reports whether a second run of the entry can settle this row.
func (j judged) wantsAnother() bool { return j.judgement.Confirmable() || j.judgement.Disqualified }

// replaced is the row of a cell whose first run was disqualified: that of the second run, with the first
// one kept beside it. A bound that the second run broke was broken in the only run that counts, and there
// is no third to confirm it.
func replaced(first, again judged) Row {
	reasons := strings.Join(first.row.Reasons, "; ")
	if again.row.Cell == nil || again.judgement.Verdict == baseline.NoVerdict {
		row := first.row
		row.Confirmation = otherRunOf(again)
		row.Reasons = append(slices.Clone(row.Reasons), "the second run came to nothing: "+strings.Join(again.judgement.Reasons, "; "))
		return row
	}
	row := again.row
	row.Disqualified = otherRunOf(first)
	row.Reasons = append(slices.Clone(row.Reasons), "the first run was disqualified: "+reasons)
	if again.judgement.Confirmable() {
		row.Verdict = baseline.NoVerdict
		row.Reasons = append(row.Reasons, "no run was left to confirm what the second one broke")
	}
	return row
}

// otherRunOf is what the results keep of a run that is not the night's.
func otherRunOf(j judged) *Confirmation {
	return &Confirmation{
		Verdict: j.judgement.Verdict, Reasons: append([]string{}, j.judgement.Reasons...), Metrics: j.row.Metrics, Deltas: j.row.Deltas,
		MatrixPath: j.row.MatrixPath, DurationSec: j.row.DurationSec, Error: j.row.Error, Evidence: j.row.Evidence,
	}
}

// settle gives a row that broke bounds its verdict by the second run: broken again is a failure, held
// is an excursion, and anything else leaves nothing to conclude.
func settle(row *Row, first baseline.Judgement, again judged) {
	row.Confirmation = otherRunOf(again)
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
