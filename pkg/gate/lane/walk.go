package lane

import (
	"slices"
	"strings"
)

// site is a job or a step that a lane reaches, with the scope it is reached in.
type site struct {
	*file
	scope
	at   value
	uses value // what it calls, absent where it runs something itself
	step bool
}

// maxCalls is how deep calls are followed, and GitHub itself stops at ten; maxSites is how many jobs and
// steps a lane may come to.
const (
	maxCalls = 10
	maxSites = 20_000
)

// walker visits everything that a job of a lane comes to.
type walker struct {
	*Repository
	visit func(site)
	stack []*file // the calls that lead here
	sites int
}

// enter reports whether a file may be called from here: it does not call itself, and there is an end to
// it.
func (w *walker) enter(f *file) bool {
	if f == nil || len(w.stack) >= maxCalls || slices.Contains(w.stack, f) {
		return false
	}
	w.stack = append(w.stack, f)
	return true
}

func (w *walker) leave() { w.stack = w.stack[:len(w.stack)-1] }

// lost reports whether there was more than could be followed.
func (w *walker) lost() bool { return w.sites > maxSites }

func (w *walker) see(s site) {
	if w.sites++; !w.lost() {
		w.visit(s)
	}
}

// job visits a job, its steps, and what they call.
func (w *walker) job(f *file, job value, s scope) {
	if w.lost() || s.condition(job.get("if")).isFalse() {
		return
	}
	uses := job.get("uses")
	w.see(site{file: f, scope: s, at: job, uses: uses})
	if uses.kind == scalar {
		w.call(job, s, uses.text)
	}
	w.steps(f, job.get("steps"), s)
}

// call follows a reusable workflow of the same repository.
func (w *walker) call(job value, s scope, uses string) {
	name, ok := local(uses)
	called := w.workflow(name)
	if !ok || !w.enter(called) {
		return
	}
	defer w.leave()
	inner := s.bind(called.root.at("on", "workflow_call", "inputs"), job.get("with"), true)
	called.root.get("jobs").each(func(_, job value) { w.job(called, job, inner) })
}

// steps visits the steps of a job or of an action, and the local actions they use.
func (w *walker) steps(f *file, steps value, s scope) {
	for _, step := range steps.items {
		if w.lost() || s.condition(step.get("if")).isFalse() {
			continue
		}
		uses := step.get("uses")
		w.see(site{file: f, scope: s, at: step, uses: uses, step: true})
		dir, ok := local(uses.text)
		action := w.actions[dir]
		if !ok || !w.enter(action) {
			continue
		}
		w.steps(action, action.root.at("runs", "steps"), s.bind(action.root.get("inputs"), step.get("with"), false))
		w.leave()
	}
}

// bind is the scope inside a workflow or an action that is called with inputs. An action's inputs are all
// texts.
func (s scope) bind(declared, with value, typed bool) scope {
	inner := scope{scenario: s.scenario, inputs: map[string]bound{}}
	set := func(name string, v value, outer scope) {
		r := outer.resolve(v)
		if !typed || declared.at(name, "type").text == "string" {
			r.isBool = false
		}
		inner.inputs[strings.ToLower(name)] = bound{outer.expand(v.text), r}
	}
	declared.each(func(name, about value) {
		def := about.get("default")
		if def.kind == absent && about.get("type").text == "boolean" {
			def = value{kind: scalar, text: "false", plain: true}
		}
		set(name.text, def, scope{scenario: s.scenario})
	})
	with.each(func(name, v value) { set(name.text, v, s) })
	return inner
}
