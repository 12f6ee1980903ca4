// Package lane audits the workflows of a repository: which lanes (one job of one workflow that an event
// starts) get the Docker daemon's socket, which events and which people can reach them, and whether
// pkg/grant's list signs for that; and what else in the workflows would let somebody in. It reads
// workflows, reusable workflows and composite actions as they are written and follows the calls between
// them with the inputs that each call binds. What it cannot tell counts as reached.
//
// The rules are in [Rules], each with its reason and its remedy.
package lane

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Lane is one job of a workflow that an event starts.
type Lane struct {
	// Lane is the workflow's file name and the job, as FILE#JOB; Path, Line and Col are the job's place.
	Lane string `json:"lane"`
	Path string `json:"path"`
	Line int    `json:"line"`
	Col  int    `json:"col"`

	// Socket says that the lane gets the Docker daemon's socket, Listed that it is signed off.
	Socket bool `json:"socket"`
	Listed bool `json:"listed"`

	// Events can start the lane. Outsiders says that somebody who may not push can.
	Events    []string `json:"events"`
	Outsiders bool     `json:"outsiders"`

	// SelfHosted says that the lane runs on a machine that is not GitHub's, as far as can be told.
	SelfHosted bool `json:"self_hosted"`

	// Evidence is where the socket comes from.
	Evidence []Evidence `json:"evidence"`
}

// Report is the answer of an audit.
type Report struct {
	Lanes    []Lane
	Findings strict.Problems
}

// Audit judges what was read by the list of lanes; nil is an empty list.
func (r *Repository) Audit(lanes *grant.Lanes) Report {
	var out Report
	for _, f := range r.workflows {
		scenarios := r.scenarios(f)
		if len(scenarios) == 0 {
			continue // only called, or broken
		}
		f.root.get("jobs").each(func(key, job value) {
			l, findings := r.lane(f, key, job, scenarios, lanes)
			out.Lanes = append(out.Lanes, l)
			out.Findings = append(out.Findings, findings...)
		})
	}
	out.Findings = append(out.Findings, stale(out.Lanes, lanes)...)
	for _, f := range r.workflows {
		out.Findings = append(out.Findings, r.checkWorkflow(f)...)
	}
	for _, dir := range sortedKeys(r.actions) {
		out.Findings = append(out.Findings, checkSteps(r.actions[dir], r.actions[dir].root.at("runs", "steps"), value{})...)
	}
	for _, f := range r.dockerfiles {
		out.Findings = append(out.Findings, checkDockerfile(f)...)
	}
	out.Findings = out.Findings.Sort()
	return out
}

// lane follows one job in every way in which it may be started.
func (r *Repository) lane(f *file, key, job value, scenarios []scenario, lanes *grant.Lanes) (Lane, strict.Problems) {
	l := Lane{Lane: path.Base(f.path) + "#" + key.text, Path: f.path, Line: key.line, Col: key.col, Events: []string{}, Evidence: []Evidence{}}
	signed := lanes.Lane(l.Lane)
	l.Listed = signed != nil
	var findings strict.Problems
	for _, s := range scenarios {
		if !reached(f, key.text, scope{scenario: s}, map[string]bool{}) {
			continue
		}
		if !slices.Contains(l.Events, s.event) {
			l.Events = append(l.Events, s.event)
		}
		l.Outsiders = l.Outsiders || s.outsider
		var socket []Evidence
		var sites []site
		w := walker{Repository: r, visit: func(at site) {
			socket = append(socket, r.socket(at)...)
			sites = append(sites, at)
		}}
		w.job(f, job, scope{scenario: s})
		if w.lost() {
			socket = append(socket, Evidence{f.path, key.line, key.col, "it calls more than can be followed, so what it gets is not known"})
		}
		hosted := slices.ContainsFunc(sites, func(at site) bool { return at.selfHosted() })
		l.SelfHosted = l.SelfHosted || hosted
		for _, at := range sites {
			findings = append(findings, at.claims(l.Lane)...)
			findings = append(findings, at.headCheckout(l.Lane, hosted)...)
		}
		if len(socket) > 0 {
			l.Socket = true
			findings = append(findings, reachable(f, key, l.Lane, s, signed)...)
		}
		for _, e := range socket {
			if !slices.Contains(l.Evidence, e) {
				l.Evidence = append(l.Evidence, e)
			}
		}
	}
	if l.Socket && !l.Listed {
		findings = append(findings, f.problem("unlisted-lane", key, "the lane %s gets the Docker socket and is not signed off: %s", l.Lane, l.Evidence[0]))
	}
	return l, findings
}

// String is the evidence in a line.
func (e Evidence) String() string {
	return strict.Problem{Path: e.Path, Line: e.Line, Col: e.Col, Message: e.Text}.Error()
}

// reachable finds what is wrong with a way to reach the socket.
func reachable(f *file, job value, lane string, s scenario, signed *grant.Lane) strict.Problems {
	switch {
	case s.outsider || slices.Contains(forkEvents, s.upstream):
		return strict.Problems{f.problem("socket-reach", job, "the lane %s gets the Docker socket and can be started by %s", lane, s.name())}
	case !slices.Contains(grant.Events, s.event):
		return strict.Problems{f.problem("socket-reach", job, "the lane %s gets the Docker socket and can be started by %s, to which no sign-off leads", lane, s.name())}
	case signed != nil && !slices.Contains(signed.Events, s.event):
		return strict.Problems{f.problem("lane-conditions", job, "the lane %s can be started by %s, but its sign-off covers %s", lane, s.event, strings.Join(signed.Events, ", "))}
	}
	return nil
}

// stale finds listed lanes that are not there, or have no use for the socket.
func stale(lanes []Lane, listed *grant.Lanes) strict.Problems {
	if listed == nil {
		return nil
	}
	var found strict.Problems
	for i, one := range listed.Lanes {
		at := slices.IndexFunc(lanes, func(l Lane) bool { return l.Lane == one.Lane })
		var p strict.Problem
		switch {
		case at < 0:
			p = listed.Problem(i, "lane", "there is no lane %s", one.Lane)
		case !lanes[at].Socket:
			p = listed.Problem(i, "lane", "the lane %s does not get the socket any more", one.Lane)
		default:
			continue
		}
		p.Field, p.Rule, p.Hint = "", "stale-lane", remedy("stale-lane")
		found = append(found, p)
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
