package baseline

import (
	"maps"
	"slices"
)

// Map is the provenance as it is written into a file.
func (p *Provenance) Map() Map {
	m := Map{{"rule", p.Rule}}
	if p.Margin != nil {
		m = append(m, Pair{"margin", *p.Margin})
	}
	if len(p.Fingerprint) > 0 {
		stack := Map{}
		for _, field := range slices.Sorted(maps.Keys(p.Fingerprint)) {
			stack = append(stack, Pair{field, p.Fingerprint[field]})
		}
		m = append(m, Pair{"fingerprint", stack})
	}
	nights := make([]any, len(p.Nights))
	for i, n := range p.Nights {
		night := Map{{"run", n.Run}}
		if n.Attempt > 0 {
			night = append(night, Pair{"attempt", n.Attempt})
		}
		if n.SHA256 != "" {
			night = append(night, Pair{"sha256", n.SHA256})
		}
		nights[i] = append(night, Pair{"value", n.Value})
	}
	return append(m, Pair{"nights", nights}, Pair{"first_blessed", p.FirstBlessed})
}
