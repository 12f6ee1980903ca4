// Package grant decides whether a run may use the Docker daemon's socket. Who can talk to the daemon is
// root on the host, so the answer is no unless three things come together: the lane asks for it (its
// docker-socket input is true and its lane input names it), the default branch of the repository lists
// the lane with a sign-off, and the event that started the run is one that the sign-off covers.
//
// A lane is one job of one workflow, written FILE#JOB: the workflow that the event starts and its job,
// not the reusable workflow that the job may call. The list is config/ci/socket_lanes.yaml:
//
//	version: 1
//	lanes:
//	  - lane: nightly-eval.yml#eval
//	    reason: the serving entries start their engine as a sibling container
//	    signed_off_by: the maintainers
//	    who_may_trigger: whoever may push to this repository
//	    events: [workflow_run, workflow_dispatch]   # of schedule, workflow_dispatch, workflow_run
//	    date: 2026-09-03
//	digest_hold:                                    # windows in which pinned images must not move
//	  - images: [ghcr.io/example/engine]            # without tag and digest
//	    since: 2026-09-08
//	    until: 2026-09-17                           # inclusive; left out, the window stays open
//	    reason: ten nights for the first bless
//
// The check guards against mistakes: a lane copied, a switch set one level too high, a pull request that
// lists itself. A job is known by its variables: a container that does not get them looks like a person's
// shell, so hand them on. The check does not guard against someone who may run arbitrary commands on the runner: that
// boundary is runner groups and branch rules.
package grant

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// DefaultPath is where the list is, from the top of the repository.
const DefaultPath = "config/ci/socket_lanes.yaml"

// Events are what a sign-off may cover. Every other event can be had by somebody who may not push.
var Events = []string{"schedule", "workflow_dispatch", "workflow_run"}

// Lane is one sign-off.
type Lane struct {
	// Lane is the workflow's file name and the job's id, as FILE#JOB.
	Lane string `json:"lane" strict:"required"`

	// Reason says what the lane needs the socket for.
	Reason string `json:"reason" strict:"required"`

	// SignedOffBy names who agreed, WhoMayTrigger who can start the lane according to the sign-off.
	SignedOffBy   string `json:"signed_off_by" strict:"required"`
	WhoMayTrigger string `json:"who_may_trigger" strict:"required"`

	// Events are the events that the sign-off covers, of [Events].
	Events []string `json:"events" strict:"required"`

	// Date is the day of the sign-off, as YYYY-MM-DD.
	Date string `json:"date" strict:"required"`
}

// Hold is a window in which pinned images must stay what they are.
type Hold struct {
	// Images are repositories of images, without tag and digest.
	Images []string `json:"images" strict:"required"`

	// Since and Until are days, both inclusive. An empty Until leaves the window open.
	Since  string `json:"since" strict:"required"`
	Until  string `json:"until,omitempty"`
	Reason string `json:"reason" strict:"required"`
}

// Open reports whether the window is open at that time, by the day in UTC.
func (h Hold) Open(now time.Time) bool {
	day := now.UTC().Format(time.DateOnly)
	return h.Since <= day && (h.Until == "" || day <= h.Until)
}

// Lanes is the list of sign-offs.
type Lanes struct {
	Version int    `json:"version" strict:"required"`
	Lanes   []Lane `json:"lanes" strict:"required"`
	Holds   []Hold `json:"digest_hold,omitempty"`

	doc *strict.Document
}

// Parse reads a list; path is only named in problems. The error is of type [strict.Problems].
func Parse(path string, text []byte) (*Lanes, error) {
	l := &Lanes{}
	doc, err := strict.YAML(path, text, l)
	if err != nil {
		return nil, err
	}
	l.doc = doc
	return l, l.check().Err()
}

// Lane is the sign-off of a lane, nil where there is none. A nil list has none.
func (l *Lanes) Lane(lane string) *Lane {
	if l == nil {
		return nil
	}
	if i := slices.IndexFunc(l.Lanes, func(one Lane) bool { return one.Lane == lane }); i >= 0 {
		return &l.Lanes[i]
	}
	return nil
}

// Problem is a finding about the i-th lane, at its key in the file.
func (l *Lanes) Problem(i int, key, format string, args ...any) strict.Problem {
	return l.doc.Problem(fmt.Sprintf("lanes[%d].%s", i, key), format, args...)
}

var (
	laneGrammar  = regexp.MustCompile(`^[A-Za-z0-9_.-]+\.ya?ml#[A-Za-z_][A-Za-z0-9_-]*$`)
	imageGrammar = regexp.MustCompile(`^[a-z0-9]([a-z0-9._/-]|:[0-9]+/)*$`)
)

const (
	laneHint  = "write the workflow's file name and the job, such as nightly-eval.yml#eval"
	dateHint  = "write it as 2026-09-03"
	emptyHint = "say it in words: a reviewer decides by it"
)

func (l *Lanes) check() strict.Problems {
	var problems strict.Problems
	add := func(field, hint, format string, args ...any) {
		p := l.doc.Problem(field, format, args...)
		p.Hint = hint
		problems = append(problems, p)
	}
	if l.Version != 1 {
		add("version", "write version: 1", "this version of the list is not known")
	}
	seen := map[string]bool{}
	for i, one := range l.Lanes {
		at := fmt.Sprintf("lanes[%d].", i)
		if !laneGrammar.MatchString(one.Lane) {
			add(at+"lane", laneHint, "%q is no lane", one.Lane)
		}
		if seen[one.Lane] {
			add(at+"lane", "keep one", "the lane is listed twice")
		}
		seen[one.Lane] = true
		for _, f := range []struct{ key, text string }{{"reason", one.Reason}, {"signed_off_by", one.SignedOffBy}, {"who_may_trigger", one.WhoMayTrigger}} {
			if strings.TrimSpace(f.text) == "" {
				add(at+f.key, emptyHint, "it is empty")
			}
		}
		if len(one.Events) == 0 {
			add(at+"events", "name the events of "+strings.Join(Events, ", "), "a sign-off without events covers none")
		}
		for j, event := range one.Events {
			if !slices.Contains(Events, event) {
				add(fmt.Sprintf("%sevents[%d]", at, j), "use "+strings.Join(Events, ", "), "no sign-off can cover the event %q", event)
			}
		}
		if !isDay(one.Date) {
			add(at+"date", dateHint, "%q is no day", one.Date)
		}
	}
	for i, h := range l.Holds {
		h.check(fmt.Sprintf("digest_hold[%d].", i), add)
	}
	return problems
}

func (h Hold) check(at string, add func(field, hint, format string, args ...any)) {
	if len(h.Images) == 0 {
		add(at+"images", "name at least one image", "a hold of no image holds nothing")
	}
	for i, image := range h.Images {
		if !imageGrammar.MatchString(image) {
			add(fmt.Sprintf("%simages[%d]", at, i), "write it without tag and digest, such as ghcr.io/example/engine", "%q is no name of an image", image)
		}
	}
	if !isDay(h.Since) {
		add(at+"since", dateHint, "%q is no day", h.Since)
	}
	if h.Until != "" && !isDay(h.Until) {
		add(at+"until", dateHint, "%q is no day", h.Until)
	} else if h.Until != "" && h.Until < h.Since {
		add(at+"until", "swap them", "the window ends before it begins")
	}
	if strings.TrimSpace(h.Reason) == "" {
		add(at+"reason", emptyHint, "it is empty")
	}
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
