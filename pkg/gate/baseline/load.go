package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Version is the only version of the file.
const Version = 1

// Load reads a baselines file. The error is [strict.Problems]: everything that is wrong with the file,
// with its place.
func Load(path string) (*File, error) {
	var raw rawFile
	doc, err := strict.ReadYAML(path, &raw)
	return raw.file(path, doc, err)
}

// Parse reads the text of a baselines file; path is only named in problems.
func Parse(path string, text []byte) (*File, error) {
	var raw rawFile
	doc, err := strict.YAML(path, text, &raw)
	return raw.file(path, doc, err)
}

type rawFile struct {
	Version   int                 `json:"version"`
	Baselines map[string]*rawSpec `json:"baselines" strict:"required"`
}

type rawSpec struct {
	Passed   *bool                `json:"passed"`
	Reason   string               `json:"reason"`
	StepTime *rawStepTime         `json:"step_time_ms"`
	Metrics  map[string]*rawBound `json:"metrics"`
}

type rawStepTime struct {
	Max        float64     `json:"max" strict:"required"`
	Provenance *Provenance `json:"provenance"`
}

type rawBound struct {
	Policy     *string     `json:"policy"`
	Value      any         `json:"value" strict:"required"`
	Required   *bool       `json:"required"`
	Provenance *Provenance `json:"provenance"`
}

// reading turns the raw file into a File and gathers what is wrong beyond its types.
type reading struct {
	doc      *strict.Document
	problems strict.Problems
}

func (raw *rawFile) file(path string, doc *strict.Document, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	r := &reading{doc: doc}
	if doc.Has("version") && raw.Version != Version {
		r.refuse("write version: 1", doc.Problem("version", "version %d is not known", raw.Version))
	}
	f := &File{Path: path, Specs: map[Key]*Spec{}}
	for text, spec := range raw.Baselines {
		key, err := ParseKey(text)
		if err != nil {
			r.refuse("", doc.Problem(strict.Field("baselines", text), "%v", err))
			continue
		}
		f.Specs[key] = r.spec(spec, "baselines", text)
	}
	if err := r.problems.Sort().Err(); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *reading) refuse(hint string, p strict.Problem) {
	p.Hint, p.Rule = hint, "baseline"
	r.problems = append(r.problems, p)
}

// null refuses a key that is there and says nothing. The reference takes a null for an absent bound,
// so a gate is lost without a word.
func (r *reading) null(hint string, path ...any) {
	field := strict.Field(path...)
	r.refuse(hint, r.doc.Problem(field, "is null, which guards nothing"))
}

func (r *reading) spec(raw *rawSpec, path ...any) *Spec {
	if raw == nil {
		r.null("remove the key to record the cell, or write passed: true", path...)
		return nil
	}
	at := func(more ...any) []any { return slices.Concat(path, more) }
	has := func(more ...any) bool { return r.doc.Has(strict.Field(at(more...)...)) }
	spec := &Spec{Passed: true, Reason: strings.TrimSpace(raw.Reason)}
	if raw.Passed != nil {
		spec.Passed = *raw.Passed
	} else if has("passed") {
		r.null("write true or false", at("passed")...)
	}
	if raw.StepTime != nil {
		r.provenance(raw.StepTime.Provenance, at("step_time_ms", "provenance", "first_blessed"))
		spec.StepTime = &StepTime{Max: raw.StepTime.Max, Provenance: raw.StepTime.Provenance}
	} else if has("step_time_ms") {
		r.null("write {max: MILLISECONDS} or remove the key", at("step_time_ms")...)
	}
	for _, name := range r.inOrder(raw.Metrics, at("metrics")) {
		if b, ok := r.bound(name, raw.Metrics[name], at("metrics", name)); ok {
			spec.Bounds = append(spec.Bounds, b)
		}
	}
	return spec
}

// inOrder returns the metrics in the order of the file, which is the order of the reasons.
func (r *reading) inOrder(metrics map[string]*rawBound, path []any) []string {
	return slices.SortedFunc(maps.Keys(metrics), func(a, b string) int {
		p, q := r.doc.Problem(strict.Field(slices.Concat(path, []any{a})...), ""), r.doc.Problem(strict.Field(slices.Concat(path, []any{b})...), "")
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
	})
}

func (r *reading) bound(name string, raw *rawBound, path []any) (Bound, bool) {
	if raw == nil {
		r.null("write {policy: max, value: NUMBER} or remove the metric", path...)
		return Bound{}, false
	}
	b := Bound{Metric: name, Value: raw.Value, Required: raw.Required == nil || *raw.Required, Provenance: raw.Provenance}
	r.provenance(raw.Provenance, slices.Concat(path, []any{"provenance", "first_blessed"}))
	known, listed := metric.PolicyOf(name)
	policy := strict.Field(slices.Concat(path, []any{"policy"})...)
	switch {
	case raw.Policy != nil:
		b.Policy = metric.Policy(*raw.Policy)
		if !b.Policy.Valid() {
			r.refuse("write min, max or equal", r.doc.Problem(policy, "unknown policy %q", *raw.Policy))
			return b, false
		}
	case r.doc.Has(policy) || !listed:
		r.refuse("write policy: min, max or equal", r.doc.Problem(policy, "metric %s has no policy of its own and none is stated", name))
		return b, false
	default:
		b.Policy = known
	}
	if required := slices.Concat(path, []any{"required"}); raw.Required == nil && r.doc.Has(strict.Field(required...)) {
		r.null("write true or false", required...)
	}
	return b, r.value(b, slices.Concat(path, []any{"value"}))
}

// provenance refuses a first level that drift cannot be counted from.
func (r *reading) provenance(p *Provenance, path []any) {
	if p == nil || p.FirstBlessed == nil {
		return
	}
	if _, ok := float(p.FirstBlessed); !ok {
		field := strict.Field(path...)
		r.refuse("write the number of the first bound", r.doc.Problem(field, "must be a number"))
	}
}

// value refuses a bound that could never be held: a text against a number is a quoted figure.
func (r *reading) value(b Bound, path []any) bool {
	field := strict.Field(path...)
	_, isNumber := float(b.Value)
	switch b.Value.(type) {
	case []any, map[string]any:
		r.refuse("write one number, text or boolean", r.doc.Problem(field, "is no single value"))
		return false
	}
	if b.Policy == metric.Equal || isNumber {
		return true
	}
	hint := "write a number"
	if text, ok := b.Value.(string); ok {
		if _, err := metric.ParseNumber(text); err == nil {
			hint = "remove the quotes"
		}
	}
	r.refuse(hint, r.doc.Problem(field, "a %s bound must be a number, not %s", b.Policy, fmt.Sprintf("%#v", b.Value)))
	return false
}
