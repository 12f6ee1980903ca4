package window

import "github.com/gatehouse-ci/gatehouse/pkg/metric"

// Rule is how a bound is derived from a window.
type Rule string

// The rules.
const (
	// Extremum is the reference's: the window's maximum x 1.25, or its minimum x 0.85.
	Extremum Rule = "extremum"
	// Screened leaves excursions out, then takes the extremum x 1.10, or ÷ 1.10 for a floor.
	Screened Rule = "screened"
)

// Margins are the headroom of the rules, as shares.
type Margins struct {
	// Ceiling is the extremum rule's for every max metric and the step time, 0.25.
	Ceiling float64
	// Floor is the extremum rule's for min metrics, 0.15.
	Floor float64
	// Screened is the screened rule's, 0.10.
	Screened float64
}

// Bound is a bound with what it can see.
type Bound struct {
	Rule   Rule
	Margin float64
	// Anchor is the night's value that it stands on, Value the bound, rounded.
	Anchor, Value float64
	// Detects is the smallest lasting change for the worse, as a share of the median, that takes the
	// median night over the bound.
	Detects float64
}

// Derive gives the bound of a rule over values, which must be finite and above zero.
func (r Rule) Derive(policy metric.Policy, values []float64, m Margins) Bound { return Bound{} }

// Round rounds a bound as the reference does, to four decimals, unless that loses more than 1 % of the
// headroom between anchor and bound: then outward with more digits.
func Round(policy metric.Policy, anchor, bound float64) float64 { return 0 }
