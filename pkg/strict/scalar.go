package strict

import (
	"math/big"
	"regexp"
	"strings"
)

// What is no number by the grammar of isNumber, but one to some reader of YAML.
var (
	oddDecimal  = regexp.MustCompile(`^[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$`)
	oddBase     = regexp.MustCompile(`^[-+]?0([xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)$`)
	oddSixty    = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
	oddInfinite = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	switches    = regexp.MustCompile(`^(yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|True|TRUE|False|FALSE)$`)
	notFinite   = regexp.MustCompile(`(?i)^[-+]?\.?(inf|infinity|nan)$`)
)

// plainScalar says what an unquoted YAML scalar is.
func plainScalar(s string) Kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "false":
		return Bool
	}
	switch {
	case s[0] > '9' && !isSwitch(s): // no number starts with a letter
		return Text
	case IsNumber(s):
		return Number
	case isSwitch(s), isOddNumber(s):
		return Odd
	}
	return Text
}

func isSwitch(s string) bool {
	return len(s) <= len("False") && switches.MatchString(s)
}

func isOddNumber(s string) bool {
	return oddDecimal.MatchString(s) || oddBase.MatchString(s) || oddSixty.MatchString(s) || oddInfinite.MatchString(s)
}

// IsNumber reports whether s is a number in the one grammar, JSON's, without the cost of a regular expression.
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := func() bool {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		s = s[i:]
		return i > 0
	}
	if strings.HasPrefix(s, "0") {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// isInteger reports whether a number has neither a fraction nor an exponent.
func isInteger(s string) bool {
	return !strings.ContainsAny(s, ".eE")
}

// numberHint says how to write the number that s was perhaps meant to be, "" when there is nothing to
// suggest.
func numberHint(s string) string {
	bare := strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
	sign, digits := "", bare
	if strings.HasPrefix(bare, "-") {
		sign, digits = "-", bare[1:]
	}
	switch {
	case IsNumber(s):
		return ""
	case notFinite.MatchString(s):
		return "write a finite number, or leave the key out"
	case oddBase.MatchString(s):
		if n, ok := new(big.Int).SetString(bare, 0); ok {
			return "write " + n.String()
		}
		return "write it in decimal"
	case oddSixty.MatchString(s):
		return "write it in one unit, as a plain decimal number"
	case !oddDecimal.MatchString(s):
		return ""
	}
	padded := len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
	plain := strings.TrimLeft(digits, "0")
	if plain == "" || plain[0] < '0' || plain[0] > '9' {
		plain = "0" + plain
	}
	plain = strings.Replace(strings.TrimSuffix(plain, "."), ".e", "e", 1)
	hint := "write " + sign + plain
	if octal, ok := new(big.Int).SetString(digits, 8); padded && ok && octal.String() != plain {
		hint += ", or " + sign + octal.String() + " if octal was meant"
	}
	return hint
}

// integerHint spells a number such as 3.0 or 1e3 as the integer it equals.
func integerHint(s string) string {
	if len(s) > 40 {
		return ""
	}
	f, _, err := big.ParseFloat(s, 10, 200, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.MantExp(nil) > 64 {
		return ""
	}
	n, _ := f.Int(nil)
	return "write " + n.String()
}
