package step

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Kind is the grammar of an input's value.
type Kind int

// The kinds of inputs.
const (
	String   Kind = iota
	Bool          // true or false, nothing else
	Int           // plain decimal integer
	Float         // plain decimal or exponent grammar, finite
	Duration      // Go duration with a unit, such as 90s or 5m
	Path          // a file or folder; see the input's help for what it is relative to
	List          // may be repeated; newline-separated in INPUT_*
	Choice        // one of Choices
)

// Input declares one input of a door. The flag, the INPUT_* variable, the line in
// the manual, the entry in action.yml and the row in the README all come from it.
type Input struct {
	// Name is the flag without dashes, such as "output-dir"; its variable is
	// INPUT_OUTPUT_DIR.
	Name string

	Kind Kind

	// Default is the value when neither flag nor variable is given. For Bool the
	// empty string means false.
	Default string

	// Arg names the value in the manual, such as "DIR".
	Arg string

	// Help is one or two sentences for the manual.
	Help string

	// Choices are the accepted values of a Choice.
	Choices []string

	// Required inputs must be given.
	Required bool

	// Positional inputs may also be given without the flag, in table order. A
	// positional List takes all that are left.
	Positional bool
}

// Env is the name of the input's environment variable.
func (in Input) Env() string {
	return "INPUT_" + strings.ToUpper(strings.ReplaceAll(in.Name, "-", "_"))
}

// Values are the inputs of one run, checked against their kinds. Asking for a name
// that is not in the door's table is a bug and panics.
type Values struct {
	inputs map[string]*value
}

type value struct {
	input Input
	given bool
	text  string
	list  []string
}

func (v Values) get(name string) *value {
	val, ok := v.inputs[name]
	if !ok {
		panic("step: no input named " + name)
	}
	return val
}

// Given reports whether the input was set by a flag or a variable.
func (v Values) Given(name string) bool { return v.get(name).given }

// String is the text of a String, Path or Choice input.
func (v Values) String(name string) string { return v.get(name).text }

// Bool is the value of a Bool input.
func (v Values) Bool(name string) bool { return v.get(name).text == "true" }

// Int is the value of an Int input, 0 when it is unset and has no default.
func (v Values) Int(name string) int {
	n, _ := strconv.Atoi(v.get(name).text)
	return n
}

// Float is the value of a Float input, 0 when it is unset and has no default.
func (v Values) Float(name string) float64 {
	f, _ := strconv.ParseFloat(v.get(name).text, 64)
	return f
}

// Duration is the value of a Duration input, 0 when it is unset and has no default.
func (v Values) Duration(name string) time.Duration {
	d, _ := time.ParseDuration(v.get(name).text)
	return d
}

// List is the values of a List input, in the order they were given.
func (v Values) List(name string) []string { return slices.Clone(v.get(name).list) }

var (
	intGrammar   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	floatGrammar = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// check says what is wrong with text as a value of the input, or nil.
func (in Input) check(text string) error {
	switch in.Kind {
	case Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("want true or false, got %q", text)
		}
	case Int:
		if _, err := strconv.Atoi(text); err != nil || !intGrammar.MatchString(text) {
			return fmt.Errorf("want a whole number, got %q", text)
		}
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) || !floatGrammar.MatchString(text) {
			return fmt.Errorf("want a plain decimal number such as 0.25, got %q", text)
		}
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("want a duration with a unit such as 90s or 5m, got %q", text)
		}
	case Choice:
		if !slices.Contains(in.Choices, text) {
			return fmt.Errorf("want one of %s, got %q", strings.Join(in.Choices, ", "), text)
		}
	case Path:
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("a path cannot hold a NUL byte")
		}
	}
	return nil
}

// set takes one value from where (a flag or a variable, for messages).
func (val *value) set(where, text string) *strict.Problem {
	if text == "" {
		return &strict.Problem{Field: where, Message: "the value is empty", Hint: "leave " + where + " out, or give it a value"}
	}
	if err := val.input.check(text); err != nil {
		return &strict.Problem{Field: where, Message: err.Error()}
	}
	val.given = true
	if val.input.Kind == List {
		val.list = append(val.list, text)
		return nil
	}
	val.text = text
	return nil
}
