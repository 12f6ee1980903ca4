package enginesim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong, and for which requests.
//
// Its text form is NAME[=VALUE][@SELECTOR[,SELECTOR]...]. A request must pass
// every selector:
//
//	3..10     requests number 3 to 10 (3.. open-ended, 3 alone)
//	burst=2   requests of the second burst (2..4 a range)
//	nth=1..8  the first eight requests of a burst
//	p=0.5     half the requests, by a seeded choice
//	bp=0.08   all requests of 8 % of the bursts, by a seeded choice
//	id=TEXT   requests whose x-request-id contains TEXT
//
// A burst is what arrives between two spells of idleness, as a benchmark step
// does (see burst-gap). Connections are numbered too: a fault of connections
// takes N..M and p only. A fault of the whole process takes no selector.
type Fault struct {
	Name  string
	Value string // as written; "" means the fault's default
	Which Selector

	kind     *faultKind
	duration time.Duration // the value of a fault that takes a duration
	number   int           // the value of a fault that takes a number
	factor   float64       // the value of a fault that takes a factor
}

// Selector says which requests or connections a fault is for. A zero field
// does not restrict.
type Selector struct {
	From, To           int // numbers, from 1; To 0 is open-ended
	BurstFrom, BurstTo int
	PlaceFrom, PlaceTo int     // in the burst, from 1
	Share              float64 // of requests
	BurstShare         float64 // of bursts
	ID                 string
}

// String gives the text form that ParseFault reads.
func (f Fault) String() string {
	s := f.Name
	if f.Value != "" {
		s += "=" + f.Value
	}
	if w := f.Which.String(); w != "" {
		s += "@" + w
	}
	return s
}

// String gives the text form, "" when nothing is restricted.
func (w Selector) String() string {
	var parts []string
	if w.From != 0 {
		parts = append(parts, formatRange(w.From, w.To))
	}
	if w.BurstFrom != 0 {
		parts = append(parts, "burst="+formatRange(w.BurstFrom, w.BurstTo))
	}
	if w.PlaceFrom != 0 {
		parts = append(parts, "nth="+formatRange(w.PlaceFrom, w.PlaceTo))
	}
	if w.Share != 0 {
		parts = append(parts, "p="+formatShare(w.Share))
	}
	if w.BurstShare != 0 {
		parts = append(parts, "bp="+formatShare(w.BurstShare))
	}
	if w.ID != "" {
		parts = append(parts, "id="+w.ID)
	}
	return strings.Join(parts, ",")
}

func formatShare(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func formatRange(from, to int) string {
	switch to {
	case 0:
		return strconv.Itoa(from) + ".."
	case from:
		return strconv.Itoa(from)
	}
	return strconv.Itoa(from) + ".." + strconv.Itoa(to)
}

// ParseFault reads the text form of a fault. Its errors name the part that is
// wrong and what would be right.
func ParseFault(s string) (Fault, error) {
	head, which, selected := strings.Cut(s, "@")
	name, value, valued := strings.Cut(head, "=")
	kind := faultKinds[name]
	if kind == nil {
		return Fault{}, fmt.Errorf("there is no fault %q; see engine-sim serve --help for the list", name)
	}
	if valued && value == "" {
		return Fault{}, fmt.Errorf("fault %s: the value after = is empty", name)
	}
	f := Fault{Name: name, Value: value, kind: kind}
	if err := f.setValue(value); err != nil {
		return Fault{}, fmt.Errorf("fault %s: %w", name, err)
	}
	if !selected {
		return f, nil
	}
	if err := f.Which.parse(which); err != nil {
		return Fault{}, fmt.Errorf("fault %s: %w", name, err)
	}
	if err := kind.allows(f.Which); err != nil {
		return Fault{}, fmt.Errorf("fault %s: %w", name, err)
	}
	return f, nil
}

func (f *Fault) setValue(s string) (err error) {
	k := f.kind
	if s == "" {
		if k.value != noValue && k.fallback == "" {
			return fmt.Errorf("it needs a value: %s=%s", k.name, k.value)
		}
		s = k.fallback
	} else if k.value == noValue {
		return fmt.Errorf("it takes no value, and got %q", s)
	}
	switch k.value {
	case aDuration:
		return durationValue{&f.duration}.Set(s)
	case aNumber:
		f.number, err = parseInt(s, k.min, k.max)
	case aFactor:
		f.factor, err = parseDecimal(s, 0, 100)
	}
	return err
}

func (w *Selector) parse(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		key, value, keyed := strings.Cut(part, "=")
		if !keyed {
			key, value = "number", part
		}
		if err := w.set(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (w *Selector) set(key, value string) (err error) {
	given := false
	switch key {
	case "number":
		given = w.From != 0
		w.From, w.To, err = parseRange(value)
	case "burst":
		given = w.BurstFrom != 0
		w.BurstFrom, w.BurstTo, err = parseRange(value)
	case "nth":
		given = w.PlaceFrom != 0
		w.PlaceFrom, w.PlaceTo, err = parseRange(value)
	case "p":
		given = w.Share != 0
		w.Share, err = parseShare(value)
	case "bp":
		given = w.BurstShare != 0
		w.BurstShare, err = parseShare(value)
	case "id":
		given = w.ID != ""
		if w.ID = value; value == "" {
			err = fmt.Errorf("the selector id= is empty")
		}
	default:
		return fmt.Errorf("there is no selector %q; use N..M, burst=N, nth=N, p=SHARE, bp=SHARE or id=TEXT", key)
	}
	if given {
		return fmt.Errorf("the selector %s is given twice", key)
	}
	return err
}

func parseRange(s string) (from, to int, err error) {
	low, high, ranged := strings.Cut(s, "..")
	if from, err = parseInt(low, 1, 1<<30); err != nil {
		return 0, 0, err
	}
	switch {
	case !ranged:
		return from, from, nil
	case high == "":
		return from, 0, nil
	}
	to, err = parseInt(high, from, 1<<30)
	return from, to, err
}

func parseShare(s string) (float64, error) {
	if s == "" {
		return 0, fmt.Errorf("a share is missing; write one from 0 to 1, as p=0.5")
	}
	f, err := parseDecimal(s, 0, 1)
	if err == nil && f == 0 {
		err = fmt.Errorf("a share of 0 selects nothing; leave the fault out")
	}
	return f, err
}
