package bless

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// selfTest raises one bound in a file with comments, and sees that it wants a reason.
func selfTest(context.Context, *step.Step) error {
	const file = "baselines:\n  e::c: # kept\n    metrics:\n      median_tpot_ms: {policy: max, value: 2}\n"
	base, err := baseline.ParseText("self-test", []byte(file))
	if err != nil {
		return err
	}
	key := baseline.Key{Entry: "e", Cell: "c"}
	bound := baseline.Map{{Key: "policy", Value: "max"}, {Key: "value", Value: 2.5}}
	head, err := base.Edit([]baseline.SpecEdit{{Key: key, Spec: baseline.Map{{Key: "metrics", Value: baseline.Map{{Key: "median_tpot_ms", Value: bound}}}}}})
	if err != nil {
		return err
	}
	if got, want := string(head.Bytes()), strings.Replace(file, "value: 2", "value: 2.5", 1); got != want {
		return fmt.Errorf("editing a bound: got %q, want %q", got, want)
	}
	for _, c := range baseline.Compare(base.File(), head.File()) {
		if c.Gate == "median_tpot_ms" && objection(c, "") == "" {
			return fmt.Errorf("a bound raised from 2 to 2.5 was let through without a reason")
		}
	}
	return nil
}
