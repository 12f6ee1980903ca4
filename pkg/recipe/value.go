package recipe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The rules a recipe can break beyond the syntax.
const (
	ruleRange     = "range"
	ruleReserved  = "reserved"
	ruleConflict  = "conflict"
	ruleUnknown   = "unknown-name"
	ruleDuplicate = "duplicate-name"
	ruleDigest    = "digest"
	ruleRefused   = "refused"
)

// whole is an integer, or an integer in quotes, which the reference takes too.
type whole int64

// UnmarshalStrict implements [strict.Unmarshaler].
func (w *whole) UnmarshalStrict(v strict.Value) {
	if v.Kind() == strict.Text {
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil && strconv.FormatInt(n, 10) == v.Text() {
			*w = whole(n)
			return
		}
	}
	v.Decode((*int64)(w))
}

// text is a text that says something and can be an argument of a program.
type text string

// UnmarshalStrict implements [strict.Unmarshaler].
func (t *text) UnmarshalStrict(v strict.Value) {
	if v.Decode((*string)(t)) {
		refuseEmptyOrControl(v, string(*t))
	}
}

func refuseEmptyOrControl(v strict.Value, s string) bool {
	switch {
	case s == "":
		v.Refuse(ruleRange, "leave the key out, or give it a value", "must not be empty")
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F }):
		v.Refuse(ruleRange, "remove it", "holds a control character")
	default:
		return false
	}
	return true
}

// name is a text that becomes the name of a folder.
type name string

// UnmarshalStrict implements [strict.Unmarshaler].
func (n *name) UnmarshalStrict(v strict.Value) {
	if !v.Decode((*string)(n)) || refuseEmptyOrControl(v, string(*n)) {
		return
	}
	if strings.ContainsAny(string(*n), `/\:`) || strings.HasPrefix(string(*n), ".") || strings.HasPrefix(string(*n), "-") {
		v.Refuse(ruleRange, `use a name without / \ : that does not start with . or -`, "%q cannot be the name of a folder", string(*n))
	}
}

// rate is a request rate in 1/s; 0 stands for "inf".
type rate float64

// UnmarshalStrict implements [strict.Unmarshaler].
func (r *rate) UnmarshalStrict(v strict.Value) {
	const hint = `write a number above 0, or "inf" for all at once`
	switch {
	case v.Kind() == strict.Text && slices.Contains([]string{"inf", "+inf", "infinity"}, v.Text()):
		*r = 0
	case v.Kind() != strict.Number:
		v.Refuse(strict.RuleNumber, hint, "must be a number or \"inf\", not %s", v)
	case v.Decode((*float64)(r)) && *r <= 0:
		v.Refuse(ruleRange, hint, "must be above 0, not %s", v)
	}
}

// port is a TCP port; 0 stands for "auto".
type port int

// UnmarshalStrict implements [strict.Unmarshaler].
func (p *port) UnmarshalStrict(v strict.Value) {
	if v.Kind() == strict.Text && v.Text() == "auto" {
		*p = 0
		return
	}
	var n whole
	if n.UnmarshalStrict(v); n == 0 && v.Text() != "0" {
		return // refused
	}
	if n < 1024 || n > 65535 {
		v.Refuse(ruleRange, `write 1024 to 65535, or "auto"`, "must be 1024 to 65535, not %d", n)
		return
	}
	*p = port(n)
}

// metricNames is a comma-separated list of metrics.
type metricNames []string

var allMetrics = []string{"ttft", "tpot", "itl", "e2el"}

// UnmarshalStrict implements [strict.Unmarshaler].
func (m *metricNames) UnmarshalStrict(v strict.Value) {
	*m = (*m)[:0]
	var list string
	if !v.Decode(&list) {
		return
	}
	for _, part := range strings.Split(list, ",") {
		part = strings.TrimSpace(part)
		switch {
		case !slices.Contains(allMetrics, part):
			v.Refuse(ruleUnknown, "write some of "+strings.Join(allMetrics, ",")+", separated by commas", "metric %q is not known", part)
			return
		case slices.Contains(*m, part):
			v.Refuse(ruleDuplicate, "", "metric %q is listed twice", part)
			return
		}
		*m = append(*m, part)
	}
}

// percentiles is a comma-separated list of numbers in (0,100).
type percentiles []float64

// UnmarshalStrict implements [strict.Unmarshaler].
func (p *percentiles) UnmarshalStrict(v strict.Value) {
	const hint = "write numbers between 0 and 100, separated by commas, such as 50,90,99"
	if v.Kind() != strict.Text && v.Kind() != strict.Number {
		v.Refuse(strict.RuleType, hint, "must be a list of percentiles, not %s", v)
		return
	}
	*p = (*p)[:0]
	for _, part := range strings.Split(v.Text(), ",") {
		part = strings.TrimSpace(part)
		number, err := strconv.ParseFloat(part, 64)
		switch {
		case err != nil || strings.Trim(part, "0123456789.") != "" || !(number > 0 && number < 100):
			v.Refuse(ruleRange, hint, "%q is not a percentile", part)
			return
		case slices.Contains(*p, number):
			v.Refuse(ruleDuplicate, "", "percentile %s is listed twice", part)
			return
		}
		*p = append(*p, number)
	}
}

// UnmarshalStrict reads an environment: a registered name, or {docker: image}.
func (e *Environment) UnmarshalStrict(v strict.Value) {
	if v.Kind() == strict.Mapping {
		var inline struct {
			Docker text `json:"docker" strict:"required"`
		}
		if v.Decode(&inline) {
			*e = Environment{Name: inlineName(string(inline.Docker)), Docker: string(inline.Docker)}
		}
		return
	}
	var registered name
	if v.Kind() != strict.Text {
		v.Refuse(strict.RuleType, "write local, or {docker: IMAGE@sha256:…}", "must be a name or a mapping, not %s", v)
		return
	}
	registered.UnmarshalStrict(v)
	*e = Environment{Name: string(registered)}
}
