package bless

import (
	"fmt"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
)

// budget is how far a bound may move for the worse from the level first blessed, as a share of it, before
// an ordinary reason is not enough: small steps, each with a good reason, add up.
const budget = 0.10

// accept is what a reason must say to go past the budget.
const accept = "accept-regression"

// objection says why a change may not pass with this reason ("" for none), "" where it may. Going back to
// record-only is always allowed: it is the honest answer to a gate that nobody understands.
func objection(c baseline.Change, reason string) string {
	if !c.WantsReason() {
		return ""
	}
	if reason == "" {
		return "there is no reason for it"
	}
	if drift, ok := c.Drift(); ok && c.Became == baseline.Loosened && drift > budget && !strings.Contains(reason, accept) {
		return fmt.Sprintf("it is %.1f %% past the level first blessed, over the budget of %.0f %%: the reason must say %s", 100*drift, 100*budget, accept)
	}
	return ""
}
