package enginesim

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseFault(t *testing.T) {
	tests := []struct {
		text     string
		which    Selector
		duration time.Duration
		number   int
	}{
		{"no-done", Selector{}, 0, 0},
		{"stall", Selector{}, 920 * time.Millisecond, 0},
		{"stall=1.5s", Selector{}, 1500 * time.Millisecond, 0},
		{"status=503@p=0.5", Selector{Share: 0.5}, 0, 503},
		{"truncate=3@4", Selector{From: 4, To: 4}, 0, 3},
		{"compile@2..9", Selector{From: 2, To: 9}, 1263 * time.Millisecond, 0},
		{"compile@2..", Selector{From: 2}, 1263 * time.Millisecond, 0},
		{"compile@burst=3", Selector{BurstFrom: 3, BurstTo: 3}, 1263 * time.Millisecond, 0},
		{"stall@burst=3..4,p=0.25", Selector{BurstFrom: 3, BurstTo: 4, Share: 0.25}, 920 * time.Millisecond, 0},
		{"stall@nth=1..64,bp=0.08", Selector{PlaceFrom: 1, PlaceTo: 64, BurstShare: 0.08}, 920 * time.Millisecond, 0},
		{"stall@bp=0.08", Selector{BurstShare: 0.08}, 920 * time.Millisecond, 0},
		{"stall@id=bench-s0", Selector{ID: "bench-s0"}, 920 * time.Millisecond, 0},
		{"reset-connect@3..", Selector{From: 3}, 0, 0},
		{"backlog=1", Selector{}, 0, 1},
	}
	for _, tt := range tests {
		f, err := ParseFault(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.which, f.Which); diff != "" || f.duration != tt.duration || f.number != tt.number {
			t.Errorf("%s: got duration %s, number %d, selector (-want +got):\n%s", tt.text, f.duration, f.number, diff)
		}
		if got := f.String(); got != tt.text {
			t.Errorf("got %q back, want %q", got, tt.text)
		}
	}
}

func TestParseFaultErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `there is no fault ""`,
		"stal":                `there is no fault "stal"`,
		"stall=":              "value after = is empty",
		"stall=5":             "write it with its unit",
		"stall=-5ms":          "negative",
		"no-done=1":           "takes no value",
		"backlog":             "needs a value: backlog=N",
		"die-after":           "needs a value: die-after=N",
		"status=200":          "must be 400 to 599",
		"status=0503":         "plain decimal digits",
		"prompt-inflate=1e1":  "plain decimal digits",
		"prompt-inflate=NaN":  "plain decimal digits",
		"stall@":              `"" is no whole number`,
		"stall@0":             "out of range",
		"stall@5..3":          "must be 5 to",
		"stall@3...5":         "no whole number",
		"stall@p=":            "share is missing",
		"stall@p=0":           "selects nothing",
		"stall@p=1.5":         "out of range",
		"stall@p=50%":         "plain decimal",
		"stall@q=1":           `no selector "q"`,
		"stall@p=0.1,p=0.2":   "given twice",
		"stall@1,2":           "given twice",
		"stall@id=":           "id= is empty",
		"reset-connect@id=a":  "concerns connections",
		"reset-connect@bp=.5": "concerns connections",
		"never-ready@1":       "whole process",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzParseFault holds that a fault that is read is written as it was meant.
func FuzzParseFault(f *testing.F) {
	for _, seed := range []string{"stall=920ms@p=0.08", "compile@burst=2..4,id=x", "status=503@3..9", "backlog=1", "stall@bp=0.5,7", "x@y=z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := ParseFault(text)
		if err != nil {
			return
		}
		two, err := ParseFault(one.String())
		if err != nil {
			t.Fatalf("%q is written as %q, which cannot be read: %v", text, one, err)
		}
		if one != two {
			t.Fatalf("%q: got %+v back, want %+v", text, two, one)
		}
	})
}

func TestSelection(t *testing.T) {
	parse := func(text string) faultSet {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		return faultSet{all: []Fault{f}, seed: 7}
	}
	picks := func(text string, at subject) bool {
		s := parse(text)
		return s.forRequest(at).has("stall")
	}
	for _, tt := range []struct {
		text string
		at   subject
		want bool
	}{
		{"stall", subject{number: 1}, true},
		{"stall@2..4", subject{number: 1}, false},
		{"stall@2..4", subject{number: 4}, true},
		{"stall@2..4", subject{number: 5}, false},
		{"stall@2..", subject{number: 500}, true},
		{"stall@burst=3", subject{number: 9, burst: 3}, true},
		{"stall@burst=3", subject{number: 9, burst: 2}, false},
		{"stall@nth=1..8", subject{number: 40, place: 8}, true},
		{"stall@nth=1..8", subject{number: 1, place: 9}, false},
		{"stall@id=s0", subject{number: 1, id: "x-s0-4"}, true},
		{"stall@id=s0", subject{number: 1, id: "x-s1-4"}, false},
		{"stall@2..4,id=a", subject{number: 3, id: "b"}, false},
	} {
		if got := picks(tt.text, tt.at); got != tt.want {
			t.Errorf("%s for %+v: got %v, want %v", tt.text, tt.at, got, tt.want)
		}
	}
	half := 0
	for n := 1; n <= 10000; n++ {
		if picks("stall@p=0.5", subject{number: n}) {
			half++
		}
		if a, b := picks("stall@bp=0.3", subject{number: n, burst: n / 32}), picks("stall@bp=0.3", subject{number: n / 32 * 32, burst: n / 32}); a != b {
			t.Fatalf("two requests of burst %d fare differently", n/32)
		}
	}
	if half < 4800 || half > 5200 {
		t.Errorf("p=0.5 chose %d of 10000", half)
	}
	if s := parse("stall=1s"); len(s.forRequest(subject{number: 1})) != 1 || s.forConnection("reset-connect", 1) != nil || s.process("orphan") != nil {
		t.Error("a request's fault must concern requests alone")
	}
}
