package ghapi

import (
	"errors"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The rules of this package's problems.
const (
	RuleUnreachable = "github-unreachable" // no answer, or none to work with
	RuleLimit       = "github-limit"       // an answer later, see [LimitError]
	RuleRefused     = "github-refused"     // the token may not, see [AccessError]
	RuleExpired     = "artifact-expired"   // see [ErrExpired]
	RuleIncomplete  = "download-incomplete"
)

// Problem is an error of a call as people and machines read it, with what to do next.
func Problem(err error) strict.Problem {
	p := strict.Problem{Rule: RuleUnreachable, Message: err.Error(), Hint: "check the network and GITHUB_API_URL, and try again"}
	switch {
	case IsLimit(err):
		p.Rule, p.Hint = RuleLimit, "try again after that time"
	case IsAccess(err):
		p.Rule, p.Hint = RuleRefused, "set GITHUB_TOKEN or GH_TOKEN to a token with that permission"
	case errors.Is(err, ErrExpired):
		p.Rule, p.Hint = RuleExpired, "run the workflow again"
	case errors.Is(err, ErrIncomplete):
		p.Rule, p.Hint = RuleIncomplete, "try again; if it stays so, run the workflow again"
	}
	return p
}
