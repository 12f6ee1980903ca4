package metric

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// plain is the one grammar of a number: decimal digits without a leading zero, an optional
// fraction, an optional exponent. Everything else that strconv or YAML would take (1_000, 0x1p-2,
// 017, +12, inf, NaN) reads as something else to somebody.
var plain = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// ParseNumber reads a finite number in plain decimal or exponent spelling ("2.3922", "-4", "1e3").
// The error names the spelling that was refused and says which one to use.
func ParseNumber(text string) (float64, error) {
	if !plain.MatchString(text) {
		return 0, fmt.Errorf("%q is no plain number: write digits with an optional fraction and exponent, such as 1250, 2.3922 or 1e-3", text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is too large for a 64-bit number", text)
	}
	return v, nil
}

// Finite reports whether v is neither NaN nor an infinity.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
