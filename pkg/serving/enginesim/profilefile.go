package enginesim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// ParseProfile reads the text of a profile file: a YAML mapping from the
// settings' names, with underscores, to their values, and fault to a list of
// faults. The key base names the built-in profile it starts from, "default"
// when absent. The error holds a strict.Problems that calls the file path.
func ParseProfile(path string, text []byte) (Profile, error) {
	var in map[string]any
	doc, err := strict.YAML(path, text, &in)
	if err != nil {
		return Profile{}, fmt.Errorf("reading profile: %w", err)
	}
	p, problems := profileOf(doc, in)
	if len(problems) > 0 {
		return Profile{}, fmt.Errorf("reading profile: %w", problems.Sort())
	}
	return p, nil
}

func profileOf(doc *strict.Document, in map[string]any) (Profile, strict.Problems) {
	var problems strict.Problems
	refuse := func(field string, err error) {
		problems = append(problems, doc.Problem(field, "%v", err))
	}
	p := DefaultProfile()
	if base, ok := in["base"]; ok {
		var err error
		if p, err = BuiltinProfile(fmt.Sprint(base)); err != nil {
			refuse("base", err)
			p = DefaultProfile()
		}
	}
	byKey := map[string]settingValue{}
	for _, s := range p.settings() {
		byKey[s.key()] = s.value
	}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		value := byKey[key]
		switch {
		case key == "base":
		case value == nil:
			refuse(key, fmt.Errorf("there is no such setting; the settings are base, %s", strings.Join(slices.Sorted(maps.Keys(byKey)), ", ")))
		default:
			setFromYAML(key, value, in[key], refuse)
		}
	}
	return p, problems
}

// setFromYAML gives a setting its value from a file: a scalar, or for faults a
// list of texts.
func setFromYAML(key string, value settingValue, v any, refuse func(string, error)) {
	list, isList := v.([]any)
	_, wantList := value.(faultsValue)
	if isList != wantList {
		want := "one value"
		if wantList {
			want = "a list"
		}
		refuse(key, fmt.Errorf("it must be %s", want))
		return
	}
	if !isList {
		if err := value.Set(scalarText(v)); err != nil {
			refuse(key, err)
		}
		return
	}
	for i, one := range list {
		text, ok := one.(string)
		field := fmt.Sprintf("%s[%d]", key, i)
		if !ok {
			refuse(field, fmt.Errorf("a fault is a text, as stall@p=0.08"))
		} else if err := value.Set(text); err != nil {
			refuse(field, err)
		}
	}
}

func scalarText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
