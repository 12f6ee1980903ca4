package ghapitest

import (
	"fmt"
	"strings"
)

// resolve follows references and joins an allOf into one schema.
func (d *description) resolve(s schema) schema {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		s = d.Defs[strings.TrimPrefix(ref, "#/$defs/")]
	}
	parts, ok := s["allOf"].([]any)
	if !ok {
		return s
	}
	joined := schema{"properties": schema{}, "required": []any{}, "type": "object"}
	for _, part := range parts {
		one := d.resolve(part.(schema))
		for name, p := range properties(one) {
			joined["properties"].(schema)[name] = p
		}
		required, _ := one["required"].([]any)
		joined["required"] = append(joined["required"].([]any), required...)
	}
	return joined
}

func properties(s schema) schema {
	p, _ := s["properties"].(schema)
	return p
}

// branches are the choices of a oneOf or anyOf.
func branches(s schema) []schema {
	var out []schema
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := s[key].([]any)
		for _, b := range list {
			out = append(out, b.(schema))
		}
	}
	return out
}

// fill makes the part of an answer that a test cares about into a whole one: what the description requires
// beside it gets a plain value of its type. A key the description does not have is an error.
func (d *description) fill(s schema, given any, where string) (any, error) {
	s = d.resolve(s)
	if choices := branches(s); len(choices) > 0 {
		return d.fillChoice(choices, given, where)
	}
	switch given := given.(type) {
	case map[string]any:
		return d.fillObject(s, given, where)
	case []any:
		items, _ := s["items"].(schema)
		out := []any{}
		for i, item := range given {
			one, err := d.fill(items, item, fmt.Sprintf("%s[%d]", where, i))
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	}
	return given, nil
}

func (d *description) fillChoice(choices []schema, given any, where string) (any, error) {
	var last error
	for _, c := range choices {
		kind := d.resolve(c)["type"]
		if given == nil {
			if kind == "null" {
				return nil, nil
			}
			continue
		}
		if kind == "null" {
			continue
		}
		out, err := d.fill(c, given, where)
		if err == nil {
			return out, nil
		}
		last = err
	}
	return given, last
}

func (d *description) fillObject(s schema, given map[string]any, where string) (any, error) {
	known := properties(s)
	out := map[string]any{}
	for name, value := range given {
		sub, ok := known[name].(schema)
		if !ok {
			if len(known) > 0 {
				return nil, fmt.Errorf("%s: the description has no key %q", where, name)
			}
			out[name] = value
			continue
		}
		filled, err := d.fill(sub, value, where+"."+name)
		if err != nil {
			return nil, err
		}
		out[name] = filled
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		name := name.(string)
		if _, ok := out[name]; !ok {
			sub, _ := known[name].(schema)
			out[name] = d.sample(sub)
		}
	}
	return out, nil
}

// sample is a plain value of a schema's type.
func (d *description) sample(s schema) any {
	s = d.resolve(s)
	if values, ok := s["enum"].([]any); ok {
		return values[0]
	}
	if choices := branches(s); len(choices) > 0 {
		return d.sample(choices[0])
	}
	switch s["type"] {
	case "object":
		out, err := d.fillObject(s, map[string]any{}, "")
		if err != nil {
			panic(err)
		}
		return out
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	}
	switch s["format"] {
	case "date-time":
		return "2031-03-04T05:06:07Z"
	case "uri":
		return "https://github.example/x"
	}
	length, _ := s["minLength"].(float64)
	return strings.Repeat("x", max(1, int(length)))
}
