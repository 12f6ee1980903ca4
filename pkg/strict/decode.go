package strict

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// A decoder fills Go values from a tree and reports all that does not fit.
type decoder struct {
	*reporter
	caseless bool
}

var (
	unmarshaler     = reflect.TypeFor[Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonNumber      = reflect.TypeFor[json.Number]()
	environment     = reflect.TypeFor[map[string]string]()
)

// target decodes into what into, a pointer, points to.
func (d *decoder) target(n *node, into any) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("strict: the target is a %T; it must be a pointer", into))
	}
	d.value(n, v.Elem())
}

func (d *decoder) value(n *node, v reflect.Value) {
	t := v.Type()
	switch {
	case n.kind == bad:
		d.addFault(n.place, n.sub.fault)
		return
	case t.Kind() == reflect.Pointer:
		d.pointer(n, v)
		return
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		if x := d.any(n); x != nil {
			v.Set(reflect.ValueOf(x))
		} else {
			v.SetZero()
		}
		return
	case t == jsonNumber:
		if d.expect(n, Number, "a number") {
			v.SetString(n.text)
		}
		return
	case t.PkgPath() != "" && d.custom(n, v, reflect.PointerTo(t)):
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if d.expect(n, Mapping, "a mapping") {
			d.structure(n, v)
		}
	case reflect.Map:
		if d.expect(n, Mapping, "a mapping") {
			d.mapping(n, v)
		}
	case reflect.Slice:
		if d.expect(n, List, "a list") {
			d.list(n, v)
		}
	case reflect.String:
		if d.expect(n, Text, "text") {
			v.SetString(n.text)
		}
	case reflect.Bool:
		if d.expect(n, Bool, "true or false") {
			v.SetBool(n.text == "true")
		}
	case reflect.Float64, reflect.Float32:
		if f, ok := d.float(n); ok {
			v.SetFloat(f)
		}
	default:
		d.integer(n, v)
	}
}

// custom lets a type decode itself, if it can.
func (d *decoder) custom(n *node, v reflect.Value, pointer reflect.Type) bool {
	switch {
	case pointer.Implements(unmarshaler):
		v.Addr().Interface().(Unmarshaler).UnmarshalStrict(Value{d, n})
	case pointer.Implements(textUnmarshaler):
		d.text(n, v)
	default:
		return false
	}
	return true
}

func (d *decoder) pointer(n *node, v reflect.Value) {
	if n.kind == Null {
		v.SetZero()
		return
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	d.value(n, v.Elem())
}

// expect reports a value of another kind than the one wanted.
func (d *decoder) expect(n *node, want Kind, name string) bool {
	if n.kind == want {
		return true
	}
	rule, hint := RuleType, ""
	switch {
	case want == Text && (n.kind == Number || n.kind == Bool || n.kind == Odd):
		hint = "put it in quotes"
	case want == Bool && (n.kind == Odd || n.kind == Text) && isSwitch(n.text):
		hint = "write true or false"
	case want == Bool && n.kind == Text && (n.text == "true" || n.text == "false"):
		hint = "remove the quotes"
	case want == Number && n.kind == Text && IsNumber(n.text):
		hint = "remove the quotes"
	case want == Number && (n.kind == Odd || n.kind == Text):
		rule, hint = RuleNumber, numberHint(n.text)
	case want == List && (n.kind == Text || n.kind == Number):
		hint = "write [" + n.text + "]"
	}
	d.add(n.place, rule, hint, "must be %s, not %s", name, n.describe())
	return false
}

func (d *decoder) text(n *node, v reflect.Value) {
	if !d.expect(n, Text, "text") {
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.text)); err != nil {
		d.add(n.place, RuleType, "", "%v", err)
	}
}

// float reads a number that is finite and does not vanish.
func (d *decoder) float(n *node) (float64, bool) {
	if !d.expect(n, Number, "a number") {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(n.text), "e")
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") {
		d.add(n.place, RuleNumber, "write a number that a 64-bit float can hold", "%s is out of range", shorten(n.text))
		return 0, false
	}
	return f, true
}

func (d *decoder) integer(n *node, v reflect.Value) {
	if !d.expect(n, Number, "an integer") {
		return
	}
	if !isInteger(n.text) {
		d.add(n.place, RuleNumber, integerHint(n.text), "must be an integer, not %s", shorten(n.text))
		return
	}
	t := v.Type()
	if v.CanInt() {
		if i, err := strconv.ParseInt(n.text, 10, t.Bits()); err == nil {
			v.SetInt(i)
			return
		}
		d.add(n.place, RuleNumber, "", "%s does not fit in %d bits", shorten(n.text), t.Bits())
		return
	}
	if !v.CanUint() {
		panic("strict: a target of type " + t.String() + " is not supported")
	}
	if u, err := strconv.ParseUint(n.text, 10, t.Bits()); err == nil {
		v.SetUint(u)
		return
	}
	d.add(n.place, RuleNumber, "", "%s is negative or does not fit in %d bits", shorten(n.text), t.Bits())
}

func (d *decoder) list(n *node, v reflect.Value) {
	items := n.sub.items
	s := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i := range items {
		d.trail = append(d.trail, segment{index: i})
		d.value(&items[i], s.Index(i))
		d.trail = d.trail[:len(d.trail)-1]
	}
	v.Set(s)
}

func (d *decoder) mapping(n *node, v reflect.Value) {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		panic("strict: a target of type " + t.String() + " is not supported; keys must be strings")
	}
	m := reflect.MakeMapWithSize(t, len(n.sub.items))
	// Keys that are data and no field names may differ in case alone.
	data := t.ConvertibleTo(environment) || reflect.PointerTo(t.Elem()).Implements(unmarshaler)
	d.members(n, d.caseless && !data, func(k *key, item *node) {
		e := reflect.New(t.Elem()).Elem()
		d.value(item, e)
		m.SetMapIndex(reflect.ValueOf(k.name).Convert(t.Key()), e)
	})
	v.Set(m)
}

func (d *decoder) structure(n *node, v reflect.Value) {
	fields := fieldsOf(v.Type())
	var extra Extra
	d.members(n, d.caseless, func(k *key, item *node) {
		f := fields.byName[k.name]
		switch {
		case f != nil && item.kind == Null && f.required:
			d.add(item.place, RuleMissingKey, "", "must have a value, not null")
		case f != nil && item.kind == Null && f.omitempty:
			// Absent: the field keeps its value.
		case f != nil:
			d.value(item, v.FieldByIndex(f.index))
		case fields.extra != nil:
			if extra == nil {
				extra = Extra{}
			}
			extra[k.name] = d.any(item)
		default:
			d.unknown(k, fields)
		}
	})
	if extra != nil {
		v.FieldByIndex(fields.extra).Set(reflect.ValueOf(extra))
	}
	for _, f := range fields.order {
		if f.required && n.child(segment{key: f.name, isKey: true}) == nil {
			d.add(n.place, RuleMissingKey, "", "key %s is missing", f.name)
		}
	}
}

func (d *decoder) unknown(k *key, fields *structFields) {
	hint := ""
	if near := fields.nearest(k.name); near != "" {
		hint = "did you mean " + near + "?"
	}
	d.add(k.place, RuleUnknownKey, hint, "unknown key")
}

// members calls do for each sound member of a mapping, with its key on the trail, and reports keys
// that are refused, repeated, or (caseless) repeated in another case.
func (d *decoder) members(n *node, caseless bool, do func(k *key, item *node)) {
	seen := make(map[string]place, len(n.sub.keys))
	for i := range n.sub.keys {
		k := &n.sub.keys[i]
		d.trail = append(d.trail, segment{key: k.name, isKey: true})
		folded := k.name
		if caseless {
			folded = fold(k.name)
		}
		first, repeated := seen[folded]
		switch {
		case k.fault != nil:
			d.addFault(k.place, k.fault)
		case repeated:
			d.add(k.place, RuleDuplicateKey, "keep one of them", "duplicate key, first on line %d", first.line)
		default:
			seen[folded] = k.place
			do(k, &n.sub.items[i])
		}
		d.trail = d.trail[:len(d.trail)-1]
	}
}

// any builds the value encoding/json would, but keeps an integer that a float64 cannot hold exactly
// as json.Number.
func (d *decoder) any(n *node) any {
	switch n.kind {
	case bad:
		d.addFault(n.place, n.sub.fault)
	case Bool:
		return n.text == "true"
	case Text:
		return n.text
	case Odd:
		d.add(n.place, RuleNumber, oddHint(n.text), "readers of YAML disagree about %s", n.text)
	case Number:
		f, ok := d.float(n)
		if ok && math.Abs(f) >= 1<<53 && isInteger(n.text) {
			return json.Number(n.text)
		}
		return f
	case List:
		list := make([]any, len(n.sub.items))
		for i := range n.sub.items {
			d.trail = append(d.trail, segment{index: i})
			list[i] = d.any(&n.sub.items[i])
			d.trail = d.trail[:len(d.trail)-1]
		}
		return list
	case Mapping:
		m := make(map[string]any, len(n.sub.items))
		d.members(n, d.caseless, func(k *key, item *node) { m[k.name] = d.any(item) })
		return m
	}
	return nil
}

func oddHint(s string) string {
	if isSwitch(s) {
		return "write true or false, or put it in quotes"
	}
	if hint := numberHint(s); hint != "" {
		return hint + ", or put it in quotes"
	}
	return "put it in quotes"
}
