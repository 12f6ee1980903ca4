package enginesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// valueKind is what may follow a fault's name. Its text is what help shows.
type valueKind string

const (
	noValue   valueKind = ""
	aDuration valueKind = "DURATION"
	aNumber   valueKind = "N"
	aFactor   valueKind = "FACTOR"
)

// scope is what a fault is about, which decides the selectors it takes.
type scope int

const (
	ofRequest scope = iota
	ofConnection
	ofProcess
)

// faultKind is one fault: its name, its value, and what it does.
type faultKind struct {
	name     string
	scope    scope
	value    valueKind
	fallback string // the value when none is written; "" when one must be
	min, max int    // bounds of a number
	help     string
}

func (k *faultKind) allows(w Selector) error {
	if k.scope == ofProcess {
		return fmt.Errorf("it concerns the whole process and takes no selector")
	}
	numbersOnly := Selector{From: w.From, To: w.To, Share: w.Share}
	if k.scope == ofConnection && w != numbersOnly {
		return fmt.Errorf("it concerns connections, which N..M and p=SHARE select")
	}
	return nil
}

const anyNumber = 1 << 30

// faultList is every fault, in the order help shows them.
var faultList = []faultKind{
	{"compile", ofRequest, aDuration, "1263ms", 0, 0,
		"first tokens late by DURATION, as when a kernel is compiled"},
	{"stall", ofRequest, aDuration, "920ms", 0, 0,
		"first tokens late by DURATION, as in an admission stall"},
	{"hang", ofRequest, aNumber, "1", 0, anyNumber,
		"send nothing more after N output writes; the connection stays open"},

	{"error-event", ofRequest, aNumber, "1", 0, anyNumber,
		"after N output writes an error event in the stream, status 200, then [DONE]"},
	{"truncate", ofRequest, aNumber, "1", 0, anyNumber,
		"close the connection after N output writes, without the last chunk"},
	{"no-usage", ofRequest, noValue, "", 0, 0, "no usage, asked for or not"},
	{"usage-every", ofRequest, noValue, "", 0, 0,
		"usage in every event, zero completion tokens in all but the last"},
	{"no-finish-reason", ofRequest, noValue, "", 0, 0, "finish_reason stays null"},
	{"no-done", ofRequest, noValue, "", 0, 0, "the stream ends cleanly without [DONE]"},
	{"short-output", ofRequest, aNumber, "1", 1, anyNumber,
		"stop by itself after N tokens, finish_reason stop, usage true"},
	{"long-output", ofRequest, aNumber, "8", 1, 1 << 16, "N tokens more than max_tokens, usage true"},
	{"crlf", ofRequest, noValue, "", 0, 0, "events framed by CRLF"},
	{"no-space", ofRequest, noValue, "", 0, 0, "data: without the blank"},
	{"role-first", ofRequest, aDuration, "20ms", 0, 0,
		"chat: a first event with the role alone, DURATION before the first tokens"},
	{"empty-first", ofRequest, aDuration, "20ms", 0, 0,
		"a first event with empty text, DURATION before the first tokens"},
	{"reasoning", ofRequest, aNumber, "4", 1, anyNumber,
		"chat: the first N output writes come as reasoning_content"},
	{"split-event", ofRequest, aDuration, "1ms", 0, 0,
		"each output write in two, cut inside an event, DURATION apart"},
	{"split-utf8", ofRequest, aDuration, "1ms", 0, 0,
		"each output write in two, cut inside a character, DURATION apart"},
	{"comments", ofRequest, noValue, "", 0, 0, "a comment line before each event"},

	{"status", ofRequest, aNumber, "500", 400, 599, "answer HTTP N with an error body"},
	{"refuse-token-ids", ofRequest, noValue, "", 0, 0, "answer 400 to prompts of token ids"},
	{"prompt-inflate", ofRequest, aFactor, "1.25", 0, 0, "usage reports FACTOR times the prompt's tokens"},
	{"leak", ofRequest, aNumber, "1", 1, 1024, "keep N MiB more a request, up to 2048 MiB in all"},

	{"refuse-connect", ofConnection, noValue, "", 0, 0,
		"stop listening: connects are refused from the first selected connection on; refuse-connect@10.. after nine"},
	{"reset-connect", ofConnection, noValue, "", 0, 0, "accept and reset at once"},
	{"accept-pause", ofConnection, aDuration, "10ms", 0, 0, "wait DURATION before accepting the next connection"},
	{"backlog", ofProcess, aNumber, "", 1, 65535, "an accept queue of N connections"},

	{"die-at-start", ofProcess, aNumber, "1", 1, 125, "exit N half-way through the start-up time"},
	{"die-after", ofProcess, aNumber, "", 1, anyNumber, "exit 70 at the first tokens of request N"},
	{"never-ready", ofProcess, noValue, "", 0, 0, "both ports answer, readiness never comes"},
	{"no-control", ofProcess, noValue, "", 0, 0, "control port not bound: a warning, and on it goes"},
	{"ignore-term", ofProcess, noValue, "", 0, 0, "go on at SIGTERM and SIGINT"},
	{"orphan", ofProcess, aDuration, "60s", 0, 0,
		"start a child in the same process group that ignores SIGTERM and lives DURATION"},
}

// faultKinds finds a fault by name.
var faultKinds = func() map[string]*faultKind {
	m := make(map[string]*faultKind, len(faultList))
	for i := range faultList {
		m[faultList[i].name] = &faultList[i]
	}
	return m
}()

// FaultNames lists every fault, sorted.
func FaultNames() []string { return slices.Sorted(maps.Keys(faultKinds)) }

// faultHelp is the manual's list of faults.
func faultHelp() string {
	var b strings.Builder
	for _, k := range faultList {
		form := k.name
		switch {
		case k.value != noValue && k.fallback != "":
			form += "[=" + string(k.value) + "]"
		case k.value != noValue:
			form += "=" + string(k.value)
		}
		help := k.help
		if k.value != noValue && k.fallback != "" {
			help += " (" + k.fallback + ")"
		}
		fmt.Fprintf(&b, "  %-26s %s\n", form, help)
	}
	return b.String()
}
