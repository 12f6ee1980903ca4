package bless

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// scope is what the operator named; empty names everything.
type scope struct {
	entries []string
	metrics []string // the step time as metric.StepTime
}

// entry reports whether bounds of the entry are to be derived.
func (s scope) entry(name string) bool {
	return len(s.entries) == 0 || slices.Contains(s.entries, name)
}

// names splits a list at commas and blanks. A list that is given and names nothing is refused: taken for
// an empty scope it would mean everything.
func names(s *step.Step, input string) ([]string, strict.Problems) {
	if !s.In.Given(input) {
		return nil, nil
	}
	var all []string
	for _, item := range s.In.List(input) {
		all = append(all, strings.FieldsFunc(item, func(c rune) bool { return c == ',' || strings.ContainsRune(" \t\r\n", c) })...)
	}
	if len(all) == 0 {
		return nil, strict.Problems{usage("--"+input, "leave it out to mean all of them", fmt.Sprintf("%q names nothing", strings.Join(s.In.List(input), "\n")))}
	}
	return all, nil
}

// readScope checks what was named against the matrix, nil where that could not be read.
func readScope(s *step.Step, m *matrix.File) (scope, strict.Problems) {
	entries, problems := names(s, "perf-gate-entry")
	metrics, more := names(s, "perf-gate-metric")
	problems = append(problems, more...)
	for _, name := range entries {
		switch {
		case m == nil || m.Entry(name) != nil:
		case slices.ContainsFunc(m.Pending, func(e matrix.Entry) bool { return e.Name == name }):
			problems = append(problems, usage("--perf-gate-entry", "move it to entries first", fmt.Sprintf("entry %q is pending and never runs", name)))
		default:
			problems = append(problems, usage("--perf-gate-entry", "its entries are "+strings.Join(m.Names(), ", "), fmt.Sprintf("the matrix has no entry named %q", name)))
		}
	}
	for i, name := range metrics {
		switch {
		case name == baseline.StepTimeGate || name == "step_time_ms":
			metrics[i] = metric.StepTime
		case name == metric.StepTime || metric.AutoGateable(name):
		case metric.NearZero(name):
			problems = append(problems, usage("--perf-gate-metric", "write a bound by hand, which a refresh keeps", fmt.Sprintf("%s measures about zero by nature, so no margin over it is a bound", name)))
		default:
			problems = append(problems, usage("--perf-gate-metric", "those that can be armed are "+strings.Join(armable(), ", "), fmt.Sprintf("%q is no metric that can be armed", name)))
		}
	}
	return scope{entries, metrics}, problems
}

// armable lists the gates that a refresh may arm.
func armable() []string {
	return append(slices.DeleteFunc(metric.Names(), func(name string) bool { return !metric.AutoGateable(name) }), baseline.StepTimeGate)
}

// readMargins range-checks the margins: a negative one would bless a bound that what was measured breaks,
// and a floor's of 1 or more a floor that nothing breaks.
func readMargins(s *step.Step) (m margins, problems strict.Problems) {
	m = margins{ceiling: s.In.Float("step-time-margin"), floor: s.In.Float("throughput-margin"), screened: s.In.Float("margin")}
	if m.ceiling < 0 || m.ceiling > 10 {
		problems = append(problems, usage("--step-time-margin", "0.25 is a quarter", "must lie between 0 and 10"))
	}
	if m.floor < 0 || m.floor >= 1 {
		problems = append(problems, usage("--throughput-margin", "0.15 is 15 %", "must be 0 at least and below 1"))
	}
	if m.screened < 0 || m.screened > 10 {
		problems = append(problems, usage("--margin", "0.10 is a tenth", "must lie between 0 and 10"))
	}
	return m, problems
}

type margins struct{ ceiling, floor, screened float64 }
