package cell

import (
	"fmt"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// Outcome is how far a trial came, by the reference's names.
const (
	outcomeDidNotRun = "did_not_run"
	outcomeCrashed   = "crashed_after_iterations"
	outcomeCompleted = "completed"
)

// conclude looks at the whole trial after its end: missing steps, gates, tags.
func (t *trial) conclude() {
	if t.mainWorkStarted && len(t.steps) < t.cell.Steps {
		f := &Failure{Reason: ReasonIncomplete, Message: fmt.Sprintf("%d of %d measured steps ran to their end; step %d is the first that is missing",
			len(t.steps), t.cell.Steps, len(t.steps))}
		if len(t.steps) == 0 {
			f.Reason = ReasonNoExport
		}
		t.fail(f)
	}
	mean, _ := means(t.scalars())
	t.fail(gates(t.serve, mean, len(t.steps))...)
	var seen []Evidence
	for _, s := range t.steps {
		seen = append(seen, evidence(s.result, s.export))
	}
	t.tags = Excursions(seen)
	if t.canary != nil {
		for _, class := range t.canary.Missing {
			t.warn("the engine's streams show %s", class)
		}
	}
}

// scalars lists the numbers of each measured step.
func (t *trial) scalars() []map[string]float64 {
	var all []map[string]float64
	for _, s := range t.steps {
		all = append(all, s.scalars)
	}
	return all
}

// notConcluded are the reasons of failures that say nothing about the engine: the run was cut off, the load did not
// reach the engine, or this program is at fault.
var notConcluded = []string{ReasonCanceled, ReasonLoad, ReasonInternal}

// secondary are reasons that only ever follow from others.
var secondary = []string{ReasonIncomplete, ReasonNoExport}

// ofNumbers are reasons that lie in what was measured: they say nothing about the engine where the client was the limit.
var ofNumbers = []string{ReasonExport, ReasonGateMissing, ReasonGateBreached}

// status is the trial's class by its failures. A failure that is the engine's outweighs one that says nothing about it.
func (t *trial) status() Status {
	status := OK
	spoilt := len(t.spoilt()) > 0
	for _, f := range t.failures {
		switch {
		case slices.Contains(secondary, f.Reason):
		case slices.Contains(notConcluded, f.Reason), spoilt && slices.Contains(ofNumbers, f.Reason):
			if status == OK {
				status = InfrastructureFailed
			}
		case f.Reason == engine.SetupFailed:
			status = SetupFailed
		default:
			return WorkloadFailed
		}
	}
	if status == OK && len(t.failures) > 0 {
		return WorkloadFailed
	}
	return status
}

// outcome tells how far the trial came.
func (t *trial) outcome() string {
	switch {
	case !t.mainWorkStarted:
		return outcomeDidNotRun
	case len(t.steps) < t.cell.Steps:
		return outcomeCrashed
	}
	return outcomeCompleted
}

// spoilt lists the tags by which the numbers of this trial are not the engine's.
func (t *trial) spoilt() []Tag {
	return slices.DeleteFunc(slices.Clone(t.tags), func(tag Tag) bool {
		return tag.Name != loadgen.TagClientLimited && tag.Name != loadgen.TagLoadNotDelivered
	})
}

// noVerdict lists why nothing can be concluded from this trial, though it ran.
func (t *trial) noVerdict() []string {
	var why []string
	for _, name := range []string{loadgen.TagClientLimited, loadgen.TagLoadNotDelivered} {
		tags := slices.DeleteFunc(t.spoilt(), func(tag Tag) bool { return tag.Name != name })
		if len(tags) > 0 {
			why = append(why, fmt.Sprintf("%s in %d of %d steps of trial %d: %s", name, len(tags), len(t.steps), t.index, tags[0].Why))
		}
	}
	if t.status() == InfrastructureFailed {
		for _, f := range t.failures {
			if slices.Contains(notConcluded, f.Reason) && f.Reason != ReasonLoad {
				why = append(why, fmt.Sprintf("%s in trial %d: %s", f.Reason, t.index, f.Message))
			}
		}
	}
	return why
}

// firstFailure is the zero-based measured step of the first failure, nil when there is none in a measured step.
func (t *trial) firstFailure() *int {
	var first *int
	for _, f := range t.failures {
		if f.Iteration != nil && f.Phase == "measured" && (first == nil || *f.Iteration < *first) {
			first = f.Iteration
		}
	}
	return first
}

// tagged tells whether measured step k carries a tag.
func (t *trial) tagged(k int) bool {
	return slices.ContainsFunc(t.tags, func(tag Tag) bool { return tag.Step == k })
}
