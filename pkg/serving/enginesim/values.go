package enginesim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// settingValue parses one setting, the same way for a flag and for a profile
// key: one spelling for a number, units on every duration, bounds that are
// told when they are broken.
type settingValue interface {
	Set(text string) error
	String() string
	describe(in *step.Input)
}

// durationValue is a time that is not negative, as 45ms or 1.9ms.
type durationValue struct{ p *time.Duration }

func (v durationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || s[0] == '+' {
		return fmt.Errorf("%q is no duration; write it with its unit, as 45ms or 1.9ms", s)
	}
	if d < 0 {
		return fmt.Errorf("%q is negative", s)
	}
	if d > 24*time.Hour {
		return fmt.Errorf("%q is longer than a day", s)
	}
	*v.p = d
	return nil
}
func (v durationValue) String() string          { return v.p.String() }
func (v durationValue) describe(in *step.Input) { in.Kind, in.Arg = step.Duration, "DURATION" }

// intValue is a whole number within bounds.
type intValue struct {
	p        *int
	min, max int
}

func (v intValue) Set(s string) error {
	n, err := parseInt(s, v.min, v.max)
	if err != nil {
		return err
	}
	*v.p = n
	return nil
}
func (v intValue) String() string          { return strconv.Itoa(*v.p) }
func (v intValue) describe(in *step.Input) { in.Kind, in.Arg = step.Int, "N" }

func parseInt(s string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("%q is no whole number; write it in plain decimal digits", s)
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("%d is out of range; it must be %d to %d", n, lo, hi)
	}
	return n, nil
}

// floatValue is a decimal number within bounds.
type floatValue struct {
	p        *float64
	min, max float64
}

func (v floatValue) Set(s string) error {
	f, err := parseDecimal(s, v.min, v.max)
	if err != nil {
		return err
	}
	*v.p = f
	return nil
}
func (v floatValue) String() string          { return strconv.FormatFloat(*v.p, 'g', -1, 64) }
func (v floatValue) describe(in *step.Input) { in.Kind, in.Arg = step.Float, "X" }

func parseDecimal(s string, lo, hi float64) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	plain := strings.Trim(s, "0123456789.") == "" || s[0] == '-' && strings.Trim(s[1:], "0123456789.") == ""
	if err != nil || !plain {
		return 0, fmt.Errorf("%q is no number; write it in plain decimal digits, as 0.25", s)
	}
	if f < lo || f > hi {
		return 0, fmt.Errorf("%s is out of range; it must be %v to %v", s, lo, hi)
	}
	return f, nil
}

// boolValue is true or false, nothing else.
type boolValue struct{ p *bool }

func (v boolValue) Set(s string) error {
	if s != "true" && s != "false" {
		return fmt.Errorf("%q is neither true nor false", s)
	}
	*v.p = s == "true"
	return nil
}
func (v boolValue) String() string          { return strconv.FormatBool(*v.p) }
func (v boolValue) describe(in *step.Input) { in.Kind = step.Bool }

// wordValue is one of a few words.
type wordValue struct {
	p     *string
	words []string
}

func (v wordValue) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("%q is not known; use one of %s", s, strings.Join(v.words, ", "))
	}
	*v.p = s
	return nil
}
func (v wordValue) String() string          { return *v.p }
func (v wordValue) describe(in *step.Input) { in.Kind, in.Choices = step.Choice, v.words }

// faultsValue collects faults, one a use.
type faultsValue struct{ p *[]Fault }

func (v faultsValue) Set(s string) error {
	f, err := ParseFault(s)
	if err != nil {
		return err
	}
	*v.p = append(*v.p, f)
	return nil
}
func (v faultsValue) String() string {
	all := make([]string, len(*v.p))
	for i, f := range *v.p {
		all[i] = f.String()
	}
	return strings.Join(all, " ")
}
func (v faultsValue) describe(in *step.Input) { in.Kind, in.Arg = step.List, "FAULT" }
