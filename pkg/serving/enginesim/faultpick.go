package enginesim

import "strings"

// faultSet is the faults of a profile, asked by request, connection or
// process.
type faultSet struct {
	all  []Fault
	seed uint64
}

// subject is what a selector looks at.
type subject struct {
	number int
	burst  int
	place  int // in its burst
	id     string
}

// forRequest lists the faults that apply to a request, at most one of a name:
// the first given wins.
func (s *faultSet) forRequest(at subject) applied {
	var a applied
	for i := range s.all {
		f := &s.all[i]
		if f.kind.scope == ofRequest && a.get(f.Name) == nil && s.selects(i, at) {
			a = append(a, f)
		}
	}
	return a
}

// forConnection gives the named fault if it applies to connection number n.
func (s *faultSet) forConnection(name string, n int) *Fault {
	for i := range s.all {
		if s.all[i].Name == name && s.selects(i, subject{number: n}) {
			return &s.all[i]
		}
	}
	return nil
}

// process gives the named fault of the whole process, or nil.
func (s *faultSet) process(name string) *Fault {
	for i := range s.all {
		if s.all[i].Name == name {
			return &s.all[i]
		}
	}
	return nil
}

func (s *faultSet) selects(i int, at subject) bool {
	w := s.all[i].Which
	switch {
	case !within(at.number, w.From, w.To),
		!within(at.burst, w.BurstFrom, w.BurstTo),
		!within(at.place, w.PlaceFrom, w.PlaceTo),
		!strings.Contains(at.id, w.ID):
		return false
	case w.Share != 0 && dice(s.seed, uint64(i), uint64(at.number)) >= w.Share:
		return false
	case w.BurstShare != 0 && dice(s.seed, uint64(i)+1<<32, uint64(at.burst)) >= w.BurstShare:
		return false
	}
	return true
}

func within(n, from, to int) bool {
	return from == 0 || n >= from && (to == 0 || n <= to)
}

// applied is the faults of one request.
type applied []*Fault

// get gives the fault of that name, or nil.
func (a applied) get(name string) *Fault {
	for _, f := range a {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func (a applied) has(name string) bool { return a.get(name) != nil }
