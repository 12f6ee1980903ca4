package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// Verdict is the word a cell or an entry is given.
type Verdict string

// The verdicts. Pass, Fail, Record and Skip are the reference's; NoVerdict is what it lacks.
const (
	Pass      Verdict = "pass"
	Fail      Verdict = "fail"
	Record    Verdict = "record"     // ran clean, and there is nothing to hold it to
	Skip      Verdict = "skip"       // could not run here, and said so beforehand
	NoVerdict Verdict = "no_verdict" // ran, or should have, and nothing can be concluded
)

// Judgement is the outcome for one cell.
type Judgement struct {
	Verdict Verdict
	// Reasons says why, one finding each; empty for a plain pass.
	Reasons []string
	// Deltas holds what was observed next to each bound.
	Deltas Deltas
	// Gated names the bounds that were held tonight, step time as "step_time_ms.max".
	Gated []string
	// Breaches are the bounds that were broken. Each is among the reasons too.
	Breaches []Breach
	// Unbroken is the verdict that the cell would have without its breaches, where a second run can
	// tell a regression from an excursion; "" where it cannot.
	Unbroken Verdict
	// Disqualified is set where the measurement took itself back (the client was the limit, the load was
	// not delivered) and nothing failed: there is no value, good or bad, to hold against a bound.
	Disqualified bool
}

// Confirmable reports whether the cell failed by measured bounds alone. A failed cell, a missing metric
// or a wrong checksum needs no second opinion.
func (j Judgement) Confirmable() bool { return j.Unbroken != "" }

// Deltas is the reference's record of observation against bound.
type Deltas struct {
	StepTime *StepDelta             `json:"mean_step_time_ms,omitempty"`
	Metrics  map[string]MetricDelta `json:"metrics,omitempty"`
}

// StepDelta is the step time, milliseconds; Observed is nil where nothing was measured.
type StepDelta struct {
	Observed *float64 `json:"observed"`
	Max      float64  `json:"max"`
}

// MetricDelta is one metric; Observed is nil where it was not reported.
type MetricDelta struct {
	Observed any           `json:"observed"`
	Policy   metric.Policy `json:"policy"`
	Value    any           `json:"value"`
}

// Judge holds a measured cell against its spec (nil: none, the cell is recorded). stack is what the
// cell ran on: a bound that was derived on another stack is not held, and the verdict says so.
func Judge(cell *report.Cell, spec *Spec, stack report.Fingerprint) Judgement {
	passed := cell.Passed()
	switch {
	case len(cell.NoVerdict) > 0 && !cell.Failed():
		return Judgement{Verdict: NoVerdict, Reasons: slices.Clone(cell.NoVerdict), Disqualified: true}
	case spec == nil && !passed:
		return verdict(Fail, orElse(cell.Error, "cell failed or did not run"))
	case spec != nil && spec.Passed && !passed:
		return verdict(Fail, "expected pass but "+orElse(cell.Error, "cell did not pass"))
	case spec != nil && !spec.Passed && passed:
		return verdict(Fail, "stale expected failure: the cell passed although its baseline says passed: false")
	case spec != nil && !spec.Passed:
		return expectedFailure(cell)
	case spec == nil:
		return verdict(Record, "no baseline (record-only)")
	}
	c := &court{cell: cell, stack: stack}
	c.stepTime(spec.StepTime)
	for i := range spec.Bounds {
		c.metric(&spec.Bounds[i])
	}
	return c.judgement()
}

// expectedFailure tells the failure that was expected from one that merely happened: a trial that
// broke on infrastructure never showed whether the workload still fails.
func expectedFailure(cell *report.Cell) Judgement {
	if cell.Failed() {
		return Judgement{Verdict: Pass}
	}
	return verdict(NoVerdict, "the cell is expected to fail, but no trial failed by its own verdict: "+orElse(cell.Error, "infrastructure error"))
}

func verdict(v Verdict, reasons ...string) Judgement { return Judgement{Verdict: v, Reasons: reasons} }

func orElse(text *string, otherwise string) string {
	if text == nil || *text == "" {
		return otherwise
	}
	return *text
}

// court gathers what is found about one cell.
type court struct {
	cell  *report.Cell
	stack report.Fingerprint

	failures []string // what makes the cell fail, breaches among them
	doubts   []string // what lets nothing be concluded
	moved    []string // bounds of another stack
	breaches []Breach
	gated    []string
	deltas   Deltas
}

func (c *court) judgement() Judgement {
	j := Judgement{Deltas: c.deltas, Gated: c.gated, Breaches: c.breaches}
	j.Reasons = slices.Concat(c.failures, c.doubts, c.moved)
	switch {
	case len(c.doubts) > 0:
		j.Verdict = NoVerdict
	case len(c.moved) > 0:
		j.Verdict = Record
	default:
		j.Verdict = Pass
	}
	if len(c.failures) == 0 {
		return j
	}
	wrong := slices.ContainsFunc(c.breaches, func(b Breach) bool { return b.Policy == metric.Equal })
	if len(c.failures) == len(c.breaches) && !wrong {
		j.Unbroken = j.Verdict
	}
	j.Verdict = Fail
	return j
}

func (c *court) stepTime(bound *StepTime) {
	if bound == nil {
		return
	}
	observed := c.cell.StepTime()
	c.deltas.StepTime = &StepDelta{Observed: observed, Max: bound.Max}
	if c.anotherStack("step_time_ms.max", bound.Provenance) {
		return
	}
	c.gated = append(c.gated, "step_time_ms.max")
	switch {
	case observed == nil:
		c.fail("%s missing (expected <= %.3f)", metric.StepTime, bound.Max)
	case math.IsNaN(*observed) || math.IsInf(*observed, -1):
		c.fail("%s is %s, not a finite number (max %.3f)", metric.StepTime, general(*observed), bound.Max)
	case *observed > bound.Max:
		c.breach(Breach{Metric: metric.StepTime, Policy: metric.Max, Observed: *observed, Bound: bound.Max}, "%s %s > max %.3f", metric.StepTime, fixed(*observed), bound.Max)
	default:
		c.plausible(metric.StepTime, *observed, bound.Max, metric.Max, bound.Provenance)
	}
}

func (c *court) metric(b *Bound) {
	observed := c.cell.MetricsSummary[b.Metric].Mean
	if c.deltas.Metrics == nil {
		c.deltas.Metrics = map[string]MetricDelta{}
	}
	c.deltas.Metrics[b.Metric] = MetricDelta{Observed: observed, Policy: b.Policy, Value: b.Value}
	if c.anotherStack(b.Metric, b.Provenance) {
		return
	}
	switch {
	case !b.Policy.Valid():
		c.fail("metric '%s' has invalid/unknown policy %s", b.Metric, quoted(string(b.Policy)))
	case observed == nil && b.Required:
		c.gated = append(c.gated, b.Metric)
		c.fail("metric '%s' missing (policy %s %s)", b.Metric, b.Policy, plain(b.Value))
	case observed == nil:
	case b.Policy == metric.Equal:
		c.gated = append(c.gated, b.Metric)
		if !equal(observed, b.Value) {
			c.breach(Breach{Metric: b.Metric, Policy: metric.Equal, Observed: observed, Bound: b.Value}, "metric '%s' %s != expected %s", b.Metric, plain(observed), plain(b.Value))
		}
	default:
		c.gated = append(c.gated, b.Metric)
		c.number(b, observed)
	}
}

// number holds a min or max bound.
func (c *court) number(b *Bound, observation any) {
	bound, ok := float(b.Value)
	if !ok || !metric.Finite(bound) {
		c.fail("metric '%s' has the bound %s, which is no finite number", b.Metric, plain(b.Value))
		return
	}
	observed, ok := float(observation)
	if !ok {
		c.fail("metric '%s' is %s, not a number (policy %s %s)", b.Metric, quoted(plain(observation)), b.Policy, general(bound))
		return
	}
	breach := Breach{Metric: b.Metric, Policy: b.Policy, Observed: observed, Bound: bound}
	switch {
	case b.Policy == metric.Min && observed < bound:
		c.breach(breach, "metric '%s' %s < min %s", b.Metric, general(observed), general(bound))
	case b.Policy == metric.Max && observed > bound:
		c.breach(breach, "metric '%s' %s > max %s", b.Metric, general(observed), general(bound))
	case !metric.Finite(observed):
		c.fail("metric '%s' is %s, not a finite number (policy %s %s)", b.Metric, general(observed), b.Policy, general(bound))
	default:
		c.plausible(b.Metric, observed, bound, b.Policy, b.Provenance)
	}
}

func (c *court) fail(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

func (c *court) breach(b Breach, format string, args ...any) {
	b.Reason = fmt.Sprintf(format, args...)
	c.breaches = append(c.breaches, b)
	c.failures = append(c.failures, b.Reason)
}

// anotherStack reports whether the bound was derived on another stack than tonight's. Such a bound
// says nothing about tonight; that it was not held is told loudly.
func (c *court) anotherStack(what string, p *Provenance) bool {
	if p == nil || len(p.Fingerprint) == 0 {
		return false
	}
	moved := p.Fingerprint.Moved(c.stack)
	if moved == "" {
		return false
	}
	c.moved = append(c.moved, fmt.Sprintf("the bound on %s was not held: it was derived on another stack (%s)", what, moved))
	return true
}
