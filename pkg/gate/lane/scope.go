package lane

import (
	"strings"

	"github.com/rhysd/actionlint"
)

// scenario is a way in which a lane may be started.
type scenario struct {
	event    string
	upstream string // what started the run that a workflow_run follows, "" where that is not told apart
	outsider bool   // by somebody who may not push: the head is a fork's
}

// name is the scenario for people.
func (s scenario) name() string {
	text := s.event
	if s.upstream != "" {
		text += " after " + s.upstream
	}
	if s.outsider {
		text += " by outsiders"
	}
	return text
}

// scope is where an expression stands: the scenario, and the inputs that a caller has bound.
type scope struct {
	scenario
	inputs map[string]bound // nil at the top, where inputs are whoever's who dispatches
}

// bound is an input as the caller wrote it, with what is known of its value.
type bound struct {
	text  string // the caller's text, expressions and all
	value result
}

// result is the value of an expression as far as it is known.
type result struct {
	known  bool
	isBool bool
	text   string
}

func boolean(b bool) result {
	if b {
		return result{known: true, isBool: true, text: "true"}
	}
	return result{known: true, isBool: true, text: "false"}
}

func text(s string) result { return result{known: true, text: s} }

func (r result) isFalse() bool {
	return r.known && (r.text == "" || r.isBool && r.text == "false")
}

func (r result) isTrue() bool { return r.known && !r.isFalse() }

// resolve is the value of a scalar of a workflow: literal, or one expression.
func (s scope) resolve(v value) result {
	if !strings.Contains(v.text, "${{") {
		if v.plain && (v.text == "true" || v.text == "false") {
			return boolean(v.text == "true")
		}
		return text(v.text)
	}
	whole := strings.TrimSpace(v.text)
	if strings.Count(whole, "${{") != 1 || !strings.HasPrefix(whole, "${{") || !strings.HasSuffix(whole, "}}") {
		return result{}
	}
	return s.expression(whole[3 : len(whole)-2])
}

// condition is the value of an if:, where the braces may be left out; absent it is true.
func (s scope) condition(v value) result {
	if v.kind == absent || strings.TrimSpace(v.text) == "" {
		return boolean(true)
	}
	if strings.Contains(v.text, "${{") {
		return s.resolve(v)
	}
	return s.expression(v.text)
}

// expand writes the caller's texts in place of ${{ inputs.NAME }}, so that what an input carries can be
// looked at.
func (s scope) expand(t string) string {
	for name, b := range s.inputs {
		for _, form := range []string{"${{ inputs." + name + " }}", "${{inputs." + name + "}}"} {
			t = strings.ReplaceAll(t, form, b.text)
		}
	}
	return t
}

func (s scope) expression(src string) result {
	node, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(src + "}}"))
	if err != nil {
		return result{}
	}
	return s.eval(node)
}

func (s scope) eval(n actionlint.ExprNode) result {
	switch n := n.(type) {
	case *actionlint.BoolNode:
		return boolean(n.Value)
	case *actionlint.StringNode:
		return text(n.Value)
	case *actionlint.NotOpNode:
		if r := s.eval(n.Operand); r.known {
			return boolean(r.isFalse())
		}
	case *actionlint.LogicalOpNode:
		return s.logical(n)
	case *actionlint.CompareOpNode:
		a, b := s.eval(n.Left), s.eval(n.Right)
		if !a.known || !b.known || a.isBool != b.isBool {
			return result{}
		}
		switch n.Kind {
		case actionlint.CompareOpNodeKindEq:
			return boolean(strings.EqualFold(a.text, b.text))
		case actionlint.CompareOpNodeKindNotEq:
			return boolean(!strings.EqualFold(a.text, b.text))
		}
	case *actionlint.FuncCallNode:
		if n.Callee == "always" || n.Callee == "success" {
			return boolean(true)
		}
	default:
		return s.lookup(dotted(n))
	}
	return result{}
}

func (s scope) logical(n *actionlint.LogicalOpNode) result {
	a, b := s.eval(n.Left), s.eval(n.Right)
	and := n.Kind == actionlint.LogicalOpNodeKindAnd
	switch {
	case and && a.isTrue(), !and && a.isFalse():
		return b
	case and && a.isFalse(), !and && a.isTrue():
		return a
	case and && b.isFalse(), !and && b.isTrue():
		return boolean(!and)
	}
	return result{}
}

// dotted is a chain of properties as a.b.c, "" for anything else.
func dotted(n actionlint.ExprNode) string {
	switch n := n.(type) {
	case *actionlint.VariableNode:
		return n.Name
	case *actionlint.ObjectDerefNode:
		if left := dotted(n.Receiver); left != "" {
			return left + "." + n.Property
		}
	case *actionlint.IndexAccessNode:
		if key, ok := n.Index.(*actionlint.StringNode); ok {
			if left := dotted(n.Operand); left != "" {
				return left + "." + strings.ToLower(key.Value)
			}
		}
	}
	return ""
}

// lookup is what the scenario tells of a context. The names of the two repositories stand for
// themselves: all that matters is that they differ.
func (s scope) lookup(name string) result {
	if input, ok := strings.CutPrefix(name, "inputs."); ok {
		return s.inputs[input].value
	}
	const here, fork = "\x00here", "\x00fork"
	head := here
	if s.outsider {
		head = fork
	}
	switch name {
	case "github.event_name":
		return text(s.event)
	case "github.repository", "github.event.repository.full_name", "github.event.pull_request.base.repo.full_name":
		return text(here)
	case "github.event.pull_request.head.repo.full_name":
		if strings.HasPrefix(s.event, "pull_request") {
			return text(head)
		}
		return text("")
	case "github.event.pull_request.head.repo.fork":
		if strings.HasPrefix(s.event, "pull_request") {
			return boolean(s.outsider)
		}
		return text("")
	case "github.event.workflow_run.head_repository.full_name":
		if s.event == "workflow_run" {
			return text(head)
		}
		return text("")
	case "github.event.workflow_run.head_repository.fork":
		return boolean(s.outsider)
	case "github.event.workflow_run.event":
		if s.event == "workflow_run" && s.upstream != "" {
			return text(s.upstream)
		}
	}
	return result{}
}
