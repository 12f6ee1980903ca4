package baseline

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The reasons keep the reference's wording to the digit, so that what reads its results reads ours:
// its numbers are Python's %.4g, %.3f and str().

// general is %.4g.
func general(v float64) string { return special(v, fmt.Sprintf("%.4g", v)) }

// fixed is %.3f.
func fixed(v float64) string { return special(v, fmt.Sprintf("%.3f", v)) }

// special spells NaN and the infinities as the reference does.
func special(v float64, finite string) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return finite
}

// plain is a scalar as it is.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if math.Abs(v) >= 1e-4 && math.Abs(v) < 1e16 {
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		return special(v, text)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// quoted is a text in single quotes, and None for none, as in "unknown policy 'le'".
func quoted(text string) string {
	if text == "" {
		return "None"
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}

// float returns the number that a decoded scalar is. A text or a boolean is none.
func float(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// equal compares scalars as the reference does: numbers by value whatever their spelling, true as 1
// and false as 0, texts byte by byte. NaN equals nothing. A json.Number is an integer that no float64
// holds, so it equals its own digits only.
func equal(a, b any) bool {
	a, b = ones(a), ones(b)
	switch a := a.(type) {
	case float64:
		f, ok := b.(float64)
		return ok && a == f
	case json.Number:
		n, ok := b.(json.Number)
		return ok && a == n
	case string:
		s, ok := b.(string)
		return ok && a == s
	}
	return false
}

// ones turns a boolean into the number it equals.
func ones(v any) any {
	switch v {
	case true:
		return 1.0
	case false:
		return 0.0
	}
	return v
}

// Same reports whether an observation equals the bound of a correctness metric.
func Same(observed, bound any) bool { return equal(observed, bound) }
