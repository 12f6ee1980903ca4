package bless

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/history"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var checkDoor = step.Door{
	Name:    "baseline-check",
	Summary: "holds a changed baselines file to its base, to the matrix and to the history its bounds come from",
	Manual:  checkManual,
	Inputs: []step.Input{
		{Name: "base", Kind: step.Path, Arg: "FILE", Required: true, Help: "The baselines file as it was, from the repository's root. An empty file is none."},
		{Name: "head", Kind: step.Path, Arg: "FILE", Default: defaultBaselines, Help: "The baselines file as it shall be."},
		historyInput,
		laneInput,
		{Name: "reason-file", Kind: step.Path, Arg: "FILE", Help: "A text with reasons, such as that of the pull request."},
		night.MatrixInput,
	},
	SelfTest: selfTest,
}

const checkManual = `
On a pull request:

    git show origin/main:config/ci/regression_baselines.yaml > base.yaml
    baseline-check --base base.yaml --history branch:ci-results --reason-file body.md

Findings, each with its place in the file:

    file       the file is not valid
    reason     a gate is lost or loosened, a checksum is another, and no reason says why
    drift      a bound is more than a tenth past the level first blessed
    evidence   a bound is not what its nights give, or they are not what the history has
    orphan     a key that no cell of the matrix and its recipes has

A reason is the key reason: of the cell, new in this change, or a line of the reason file:

    reason serve_smoke::baseline median_tpot_ms: ROCm 10 costs 4 % of decode

without the gate it is about the whole cell. Past the drift budget it must say accept-regression.
Going back to record-only (metrics and step_time_ms deleted, passed: true kept) is always allowed
with its reason.

With --history each window is read again as of its last night: the same nights must be admitted,
with the same digests, values and stack, and give the same number. Without it a bound is only held
to the nights that stand beside it. A bound without any is told as a warning.
`

// Check is the door of baseline-check.
func Check(ctx context.Context, p step.Proc) int { return checkDoor.Run(ctx, p, check) }

// checker is one check.
type checker struct {
	*step.Step
	base     *baseline.File
	head     *baseline.Text
	matrix   *matrix.File
	reasons  reasonFile
	history  *history.History // nil: not asked for
	findings strict.Problems
}

func check(ctx context.Context, s *step.Step) int {
	c, problems := newChecker(s)
	if len(problems) > 0 {
		return s.Finish(step.Usage, nil, problems...)
	}
	path := s.Path(s.In.String("head"))
	if _, err := os.Stat(path); err != nil {
		return s.Finish(step.Usage, nil, usage("--head", "name the changed file; a repository without baselines needs no check", err.Error()))
	}
	var err error
	if c.head, err = baseline.ReadText(path); err != nil {
		return s.Finish(step.Negative, nil, step.Problems(err)...)
	}
	changes := baseline.Compare(c.base, c.head.File())
	for _, change := range changes {
		c.change(change)
	}
	c.unused()
	c.keys()
	if status, p := c.evidence(ctx); p != nil {
		return s.Finish(status, nil, *p)
	}
	doc := struct {
		Counts  map[string]int `json:"counts"`
		Changes []change       `json:"changes"`
	}{countChanges(changes), told(changes)}
	s.Say("%s", summary(doc.Counts))
	if len(c.findings) > 0 {
		return s.Finish(step.Negative, doc, c.findings.Sort()...)
	}
	return s.Done(doc)
}

func newChecker(s *step.Step) (*checker, strict.Problems) {
	c := &checker{Step: s}
	var problems strict.Problems
	var err error
	if c.base, err = readBase(s.Path(s.In.String("base"))); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	if c.matrix, err = matrix.Load(s.Root(), s.Path(s.In.String("matrix"))); err != nil {
		problems = append(problems, step.Problems(err)...)
	}
	if s.In.Given("reason-file") {
		var more strict.Problems
		c.reasons, more = readReasons(s.Path(s.In.String("reason-file")))
		problems = append(problems, more...)
	}
	if name := s.In.String("history"); name != "" {
		if c.history, err = history.Open(s.Root(), name); err != nil {
			problems = append(problems, usage("--history", "name a folder, or branch:NAME", err.Error()))
		}
	}
	return c, problems
}

// readBase reads the file as it was. It must be named and there: a path with a typing error would make
// every gate look new.
func readBase(path string) (*baseline.File, error) {
	if text, err := os.ReadFile(path); err == nil && len(text) == 0 {
		return &baseline.File{Path: path}, nil
	}
	return baseline.Load(path)
}

func (c *checker) find(rule, field, hint, format string, args ...any) {
	p := c.head.Problem(field, format, args...)
	p.Rule, p.Hint = rule, hint
	c.findings = append(c.findings, p)
}

// change holds one gate to its reason and its drift.
func (c *checker) change(change baseline.Change) {
	reason := c.reasons.find(change)
	if is, was := c.head.File().Specs[change.Key], c.base.Specs[change.Key]; is != nil && (was == nil || is.Reason != was.Reason) && is.Reason != "" {
		reason = is.Reason
	}
	switch why := objection(change, reason); {
	case why != "" && reason == "":
		c.find("reason", change.Field(), "say why: the key reason of the cell, or a line of the reason file", "%s: %s", change, why)
	case why != "":
		c.find("drift", change.Field(), "look at the whole way since the first bless before going on", "%s: %s", change, why)
	case change.Became == baseline.Reverted:
		c.Say("%s: %s, back to record-only: %s", change.Key, change.Gate, reason)
	case change.WantsReason():
		c.Say("%s: %s: %s", change.Key, change, reason)
	}
	c.firstBlessed(change, reason)
}

// firstBlessed keeps the level that drift is counted from where it was first blessed.
func (c *checker) firstBlessed(change baseline.Change, reason string) {
	was := provenanceOf(c.base.Specs[change.Key], change.Gate)
	if was == nil || was.FirstBlessed == nil || change.New == nil || strings.Contains(reason, accept) {
		return
	}
	switch now := change.Provenance; {
	case now == nil:
		c.find("drift", change.Field(), "keep provenance; refresh-baselines derives it", "the bound no longer says where it comes from, so its drift cannot be told any more")
	case now.FirstBlessed != was.FirstBlessed:
		c.find("drift", change.Field(), "keep first_blessed, or give a reason that says "+accept, "first_blessed was %v, is %v", was.FirstBlessed, now.FirstBlessed)
	}
}

func provenanceOf(spec *baseline.Spec, gate string) *baseline.Provenance {
	switch {
	case spec == nil:
		return nil
	case gate == baseline.StepTimeGate && spec.StepTime != nil:
		return spec.StepTime.Provenance
	}
	for _, b := range spec.Bounds {
		if b.Metric == gate {
			return b.Provenance
		}
	}
	return nil
}

// unused tells of reasons for what did not change: a stale or misspelt one covers nothing.
func (c *checker) unused() {
	for _, g := range c.reasons {
		if !g.used {
			c.Warn(strict.Problem{Path: c.In.String("reason-file"), Line: g.line, Col: 1, Field: strings.TrimSpace(g.key.String() + " " + g.gate), Message: "there is no such gate, so this reason covers nothing", Rule: "reason"})
		}
	}
}

// keys holds every key to the matrix and its recipes.
func (c *checker) keys() {
	for _, key := range c.head.File().Keys() {
		field := strict.Field("baselines", key.String())
		entries := slices.Concat(c.matrix.Entries, c.matrix.Pending)
		i := slices.IndexFunc(entries, func(e matrix.Entry) bool { return e.Name == key.Entry })
		if i < 0 {
			c.find("orphan", field, "mend the name, or remove the key with a reason", "the matrix has no entry %s, so this key guards nothing", key.Entry)
			continue
		}
		rec, err := recipe.Load(c.Path(entries[i].Recipe))
		if err != nil {
			c.find("orphan", field, "mend the recipe", "the cells of %s are not known: %v", key.Entry, step.Problems(err)[0].Error())
			continue
		}
		if rec.Cell(key.Cell) == nil {
			c.find("orphan", field, "mend the name, or remove the key with a reason", "%s has no cell %s, so this key guards nothing", entries[i].Recipe, key.Cell)
		}
	}
}

// claim is a bound that says where it comes from.
type claim struct {
	key    baseline.Key
	gate   string
	metric string // as the nights record it
	policy metric.Policy
	value  float64
	*baseline.Provenance
}

func (c claim) field() string { return baseline.Change{Key: c.key, Gate: c.gate}.Field() }

// evidence holds every bound to the nights it claims.
func (c *checker) evidence(ctx context.Context) (int, *strict.Problem) {
	claims, bare := c.claims()
	if len(bare) > 0 {
		c.Warn(strict.Problem{Path: c.head.File().Path, Message: fmt.Sprintf("%d bound(s) do not say on which stack they were derived, so they are held on every stack: %s", len(bare), strings.Join(bare, ", ")), Hint: "refresh-baselines --from window derives them with their evidence"})
	}
	var alone []string
	for _, claim := range claims {
		c.arithmetic(claim)
		if claim.Rule == RuleRun {
			alone = append(alone, claim.key.String()+" "+claim.gate)
		}
	}
	if len(alone) > 0 {
		c.Warn(strict.Problem{Path: c.head.File().Path, Message: fmt.Sprintf("%d bound(s) stand on a single run, which no history can confirm: %s", len(alone), strings.Join(alone, ", ")), Hint: "derive them from a window as soon as there are nights"})
	}
	if c.history == nil {
		return step.OK, nil
	}
	return c.rederive(ctx, claims)
}

// claims lists the floors and ceilings of the file that have provenance, and names those without a stack.
func (c *checker) claims() (claims []claim, bare []string) {
	for _, key := range c.head.File().Keys() {
		spec := c.head.File().Specs[key]
		add := func(cl claim) {
			if cl.Provenance == nil || len(cl.Fingerprint) == 0 {
				bare = append(bare, key.String()+" "+cl.gate)
			}
			if cl.Provenance != nil {
				claims = append(claims, cl)
			}
		}
		if s := spec.StepTime; s != nil {
			add(claim{key, baseline.StepTimeGate, metric.StepTime, metric.Max, s.Max, s.Provenance})
		}
		for _, b := range spec.Bounds {
			if v, ok := b.Value.(float64); ok && b.Policy != metric.Equal {
				add(claim{key, b.Metric, b.Metric, b.Policy, v, b.Provenance})
			}
		}
	}
	return claims, bare
}
