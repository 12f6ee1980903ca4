package bless

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/window"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

// RuleRun is the rule in the provenance of a bound that one run gave.
const RuleRun = "run"

// tooSmall is, by unit, what is too close to zero to bear a margin: the grain of a clock is as large as
// the headroom would be.
var tooSmall = map[string]float64{"ms": 0.01}

// derivation makes the spec of one cell from the one it has and one run.
type derivation struct {
	row      *night.Row
	margins  margins
	arm      func(gate string) bool // nil: correctness only
	evidence baseline.Map           // the run, without its value
	spec     baseline.Map
	notes    []string
	faults   []string
}

func (d *derivation) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// run carries over what is there, refreshes what is exact, and derives what is asked for.
func (d *derivation) run() {
	switch {
	case d.spec == nil:
		d.spec = baseline.Map{{Key: "passed", Value: true}}
	case d.spec.Get("passed") == false:
		d.spec = d.spec.With("passed", true)
		d.note("was an expected failure and passes now")
	}
	d.checksums()
	if d.arm == nil {
		return
	}
	d.stepTime()
	for _, name := range slices.Sorted(maps.Keys(d.row.Metrics.Summary)) {
		if metric.AutoGateable(name) && d.arm(name) {
			d.metric(name)
		}
	}
}

// checksums are exact, so what was observed replaces what was there.
func (d *derivation) checksums() {
	metrics, _ := d.spec.Get("metrics").(baseline.Map)
	for _, name := range metric.Names() {
		if p, _ := metric.PolicyOf(name); p != metric.Equal {
			continue
		}
		bound, there := metrics.Get(name).(baseline.Map)
		value := d.row.Metrics.Summary[name]
		policy, stated := bound.Get("policy").(string)
		switch {
		case there && value == nil:
			d.note("%s was not observed; its bound is kept", name)
		case value == nil || stated && policy != string(metric.Equal):
		case !scalarValue(value):
			d.faults = append(d.faults, fmt.Sprintf("%s is no single value", name))
		case there:
			metrics = metrics.With(name, bound.With("value", value))
		default:
			metrics = metrics.With(name, baseline.Map{{Key: "policy", Value: string(metric.Equal)}, {Key: "value", Value: value}})
		}
	}
	if len(metrics) > 0 {
		d.spec = d.spec.With("metrics", metrics)
	}
}

func scalarValue(v any) bool {
	switch v.(type) {
	case string, bool, float64, json.Number:
		return true
	}
	return false
}

func (d *derivation) stepTime() {
	observed := d.row.Metrics.MeanStepTimeMS
	if !d.arm(metric.StepTime) {
		return
	}
	if observed == nil {
		d.note("no step time was measured, so none is armed")
		return
	}
	if value, ok := d.bound(baseline.StepTimeGate, "ms", metric.Max, *observed); ok {
		block, _ := d.spec.Get("step_time_ms").(baseline.Map)
		first := firstBlessed(block, "max", value)
		d.spec = d.spec.With("step_time_ms", block.With("max", value).With("provenance", d.provenance(d.margins.ceiling, *observed, first)))
	}
}

func (d *derivation) metric(name string) {
	observed, ok := d.row.Metrics.Summary[name].(float64)
	if !ok {
		d.faults = append(d.faults, fmt.Sprintf("%s is %v, not a number", name, d.row.Metrics.Summary[name]))
		return
	}
	policy, _ := metric.PolicyOf(name)
	metrics, _ := d.spec.Get("metrics").(baseline.Map)
	spec, there := metrics.Get(name).(baseline.Map)
	if stated, ok := spec.Get("policy").(string); ok && stated != string(policy) {
		d.note("%s is held as %s by hand; its bound is kept", name, stated)
		return
	}
	value, ok := d.bound(name, metric.Unit(name), policy, observed)
	if !ok {
		return
	}
	if !there {
		spec = baseline.Map{{Key: "policy", Value: string(policy)}}
	}
	first := firstBlessed(spec, "value", value)
	margin := d.margins.ceiling
	if policy == metric.Min {
		margin = d.margins.floor
	}
	spec = spec.With("value", value).With("provenance", d.provenance(margin, observed, first))
	d.spec = d.spec.With("metrics", metrics.With(name, spec))
}

// bound is the bound over an observation; false where it can bear none.
func (d *derivation) bound(name, unit string, policy metric.Policy, observed float64) (float64, bool) {
	if observed <= tooSmall[unit] || !metric.Finite(observed) {
		d.note("%s measured %v %s, which is about zero: no margin over that is a bound, so it is not armed", name, observed, unit)
		return 0, false
	}
	raw := observed * (1 + d.margins.ceiling)
	if policy == metric.Min {
		raw = observed * (1 - d.margins.floor)
	}
	return window.Round(policy, observed, raw), true
}

func (d *derivation) provenance(margin, observed float64, first any) baseline.Map {
	return baseline.Map{
		{Key: "rule", Value: RuleRun},
		{Key: "margin", Value: margin},
		{Key: "nights", Value: []any{d.evidence.With("value", observed)}},
		{Key: "first_blessed", Value: first},
	}
}

// firstBlessed is the level that drift is counted from: the one recorded, else the bound that was there,
// else the new one.
func firstBlessed(spec baseline.Map, key string, now float64) any {
	if p, ok := spec.Get("provenance").(baseline.Map); ok && p.Get("first_blessed") != nil {
		return p.Get("first_blessed")
	}
	if old, ok := spec.Get(key).(float64); ok {
		return old
	}
	return now
}
