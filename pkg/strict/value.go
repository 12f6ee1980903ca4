package strict

// An Unmarshaler reads a value that has more than one spelling, such as a port that is a number or
// "auto". It reports through v; it is also called for null, unless a pointer stands before it.
type Unmarshaler interface {
	UnmarshalStrict(v Value)
}

// A Value is one value of a document, lent to an [Unmarshaler] for the time of the call.
type Value struct {
	d *decoder
	n *node
}

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.n.kind }

// Text returns a text, or the literal of another scalar; "" for lists and mappings.
func (v Value) Text() string { return v.n.text }

// String describes the value for a message, as in `text "abc"` or `a list`.
func (v Value) String() string { return v.n.describe() }

// Decode decodes the value into what into points to and reports whether that met no problem.
func (v Value) Decode(into any) bool {
	before := v.d.count()
	v.d.target(v.n, into)
	return v.d.count() == before
}

// Refuse reports that the value is wrong.
func (v Value) Refuse(rule, hint, format string, args ...any) {
	v.d.add(v.n.place, rule, hint, format, args...)
}
