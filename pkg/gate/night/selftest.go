package night

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// selfTest judges one cell that holds its bound and one that does not.
func selfTest(context.Context, *step.Step) error {
	f, err := baseline.Parse("self-test", []byte("baselines: {e::c: {metrics: {median_tpot_ms: {value: 2.3922}}}}"))
	if err != nil {
		return err
	}
	for observed, want := range map[string]baseline.Verdict{"1.9138": baseline.Pass, "2.6793": baseline.Fail} {
		m, err := report.Parse("self-test", []byte(`{"cells": [{"name": "c", "passed_count": 1, "metrics_summary": {"median_tpot_ms": {"mean": `+observed+`}}}]}`))
		if err != nil {
			return err
		}
		if got := baseline.Judge(&m.Cells[0], f.Specs[baseline.Key{Entry: "e", Cell: "c"}], nil); got.Verdict != want {
			return fmt.Errorf("%s against 2.3922: got %s, want %s", observed, got.Verdict, want)
		}
	}
	if _, err := parseTemplate(defaultCommand); err != nil {
		return errors.Join(errors.New("parsing the default command"), err)
	}
	return nil
}
