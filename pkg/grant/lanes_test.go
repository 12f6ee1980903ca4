package grant

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	holds := "digest_hold:\n  - {images: [ghcr.io/example/engine, 'localhost:5000/base'], since: 2026-09-08, until: 2026-09-17, reason: a window}\n"
	l, err := Parse("lanes.yaml", []byte(list+holds))
	if err != nil {
		t.Fatal(err)
	}
	if l.Lane("night.yml#eval") == nil || l.Lane("night.yml#other") != nil || (*Lanes)(nil).Lane("night.yml#eval") != nil {
		t.Errorf("got %+v, want the one lane", l.Lanes)
	}
	if got := l.Problem(0, "events", "x").Error(); got != "lanes.yaml:7:13: lanes[0].events: x" {
		t.Errorf("got %s, want the place of the key", got)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"version":        {"version: 1", "version: 2", "lanes.yaml:1:10: version: this version"},
		"a lane":         {"night.yml#eval", "night.yml", `lanes.yaml:3:11: lanes[0].lane: "night.yml" is no lane`},
		"a path":         {"night.yml#eval", ".github/workflows/night.yml#eval", "is no lane"},
		"no reason":      {"reason: the engine is a sibling container", "reason: ' '", "lanes[0].reason: it is empty"},
		"missing":        {"    signed_off_by: the maintainers\n", "", "signed_off_by"},
		"unknown":        {"signed_off_by", "signed_of_by", "signed_of_by"},
		"pull requests":  {"[schedule,", "[pull_request,", `lanes.yaml:7:14: lanes[0].events[0]: no sign-off can cover the event "pull_request"`},
		"no event":       {"[schedule, workflow_dispatch, workflow_run]", "[]", "covers none"},
		"a day":          {"2026-09-03", "2026-9-3", `"2026-9-3" is no day`},
		"twice":          {"    date: 2026-09-03\n", "    date: 2026-09-03\n  - {lane: night.yml#eval, reason: r, signed_off_by: s, who_may_trigger: w, events: [schedule], date: 2026-09-03}\n", "lanes.yaml:9:12: lanes[1].lane: the lane is listed twice"},
		"an image":       {"ghcr.io/example/engine", "ghcr.io/example/engine:latest", "is no name of an image"},
		"backwards":      {"until: 2026-09-17", "until: 2026-09-01", "the window ends before it begins"},
		"a hold of none": {"[ghcr.io/example/engine, 'localhost:5000/base']", "[]", "holds nothing"},
	} {
		text := list + holds
		if !strings.Contains(text, c.from) {
			t.Fatalf("%s: nothing to change", name)
		}
		_, err := Parse("lanes.yaml", []byte(strings.Replace(text, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestHoldOpen(t *testing.T) {
	h := Hold{Since: "2026-09-08", Until: "2026-09-17"}
	for at, want := range map[string]bool{
		"2026-09-07T23:59:59Z": false, "2026-09-08T00:00:00Z": true, "2026-09-17T23:59:59Z": true, "2026-09-18T00:00:00Z": false, "2026-09-08T01:00:00+02:00": false,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Open(now); got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
	if now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC); !(Hold{Since: "2026-09-08"}).Open(now) {
		t.Error("a window without an end: got closed, want open")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(list))
	f.Add([]byte("version: 1\nlanes: []\ndigest_hold: [{images: [a], since: 2026-01-01, reason: r}]\n"))
	f.Add([]byte("lanes: [{lane: &a x}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse("f", text)
		if err != nil {
			return
		}
		for _, one := range l.Lanes {
			if !laneGrammar.MatchString(one.Lane) || len(one.Events) == 0 || !isDay(one.Date) {
				t.Errorf("accepted %+v", one)
			}
		}
	})
}
