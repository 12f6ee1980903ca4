package lane

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/rhysd/actionlint"
)

// checkWorkflow finds what can be told from a workflow alone.
func (r *Repository) checkWorkflow(f *file) strict.Problems {
	var found strict.Problems
	if on := f.root.get("on"); on.kind == absent {
		found = append(found, f.problem("unreadable-workflow", f.root, "the workflow has no on:, so nothing can be said of its lanes"))
	}
	onEvents := f.root.get("on")
	for i, name := range onEvents.texts() {
		if name == "pull_request_target" {
			found = append(found, f.problem("dangerous-trigger", place(onEvents, i), "pull_request_target gives strangers' pull requests the rights of the repository"))
		}
	}
	found = append(found, r.checkPermissions(f)...)
	f.root.get("jobs").each(func(_, job value) {
		found = append(found, f.checkUses(job.get("uses"))...)
		container := job.get("container")
		if container.kind == mapping {
			container = container.get("image")
		}
		found = append(found, f.checkImage(container)...)
		job.get("services").each(func(_, s value) { found = append(found, f.checkImage(s.get("image"))...) })
		found = append(found, checkSteps(f, job.get("steps"), job.get("env"))...)
	})
	return found
}

// place is the i-th text of a value that texts lists.
func place(v value, i int) value {
	switch {
	case v.kind == mapping && i < len(v.keys):
		return v.keys[i]
	case v.kind == list && i < len(v.items):
		return v.items[i]
	}
	return v
}

// checkSteps finds what can be told from steps alone.
func checkSteps(f *file, steps, env value) strict.Problems {
	var found strict.Problems
	pushes := slices.ContainsFunc(steps.items, func(s value) bool { return gitPush.MatchString(s.get("run").text) })
	for _, s := range steps.items {
		uses := s.get("uses")
		found = append(found, f.checkUses(uses)...)
		found = append(found, f.checkScript(s.get("run"))...)
		found = append(found, f.checkCommandImages(s.get("run"), s.get("env"), env, f.root.get("env"))...)
		if strings.HasPrefix(uses.text, "actions/github-script@") {
			found = append(found, f.checkScript(s.at("with", "script"))...)
		}
		if strings.HasPrefix(uses.text, "actions/checkout@") && !pushes && s.at("with", "persist-credentials").text != "false" {
			found = append(found, f.problem("persist-credentials", uses, "the checkout leaves the token in .git/config, where every later step can read it"))
		}
	}
	if image := f.root.at("runs", "image"); strings.HasPrefix(image.text, "docker://") {
		found = append(found, f.checkUses(image)...)
	}
	return found
}

var gitPush = regexp.MustCompile(`\bgit\b[^\n]*\bpush\b`)

// checkScript finds expressions in a script: the shell would run what they bring.
func (f *file) checkScript(script value) strict.Problems {
	var found strict.Problems
	rest, seen := script.text, 0
	for {
		_, after, ok := strings.Cut(rest, "${{")
		if !ok {
			return found
		}
		inside, next, _ := strings.Cut(after, "}}")
		at := f.expressionPlace(script, seen)
		inside = strings.TrimSpace(inside)
		if untrusted(inside) {
			found = append(found, f.problem("script-injection", at, "%q puts what others write into a script", inside))
		} else {
			found = append(found, f.problem("run-expression", at, "%q is written into a script before the shell reads it", inside))
		}
		rest, seen = next, seen+1
	}
}

// expressionPlace is the place of the n-th expression of a scalar: in every style of YAML the braces
// stand in the file as they are.
func (f *file) expressionPlace(v value, n int) value {
	line := 1
	for text := range strings.Lines(f.text) {
		from := 0
		if line == v.line {
			from = min(max(v.col-1, 0), len(text))
		}
		for line >= v.line {
			i := strings.Index(text[from:], "${{")
			if i < 0 {
				break
			}
			if from += i; n == 0 {
				return value{line: line, col: len([]rune(text[:from])) + 1}
			}
			from, n = from+3, n-1
		}
		line++
	}
	return v
}

// untrusted reports whether an expression carries what somebody who may not push can write, or an input.
func untrusted(src string) bool {
	node, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(src + "}}"))
	if err != nil {
		return false
	}
	checker := actionlint.NewUntrustedInputChecker(actionlint.BuiltinUntrustedInputs)
	input := false
	actionlint.VisitExprNode(node, func(n, _ actionlint.ExprNode, entering bool) {
		if entering {
			checker.OnVisitNodeEnter(n)
			name := dotted(n)
			input = input || strings.HasPrefix(name, "inputs.") || strings.HasPrefix(name, "github.event.inputs.") || strings.HasPrefix(name, "github.event.client_payload")
			return
		}
		checker.OnVisitNodeLeave(n)
	})
	checker.OnVisitEnd()
	return input || len(checker.Errs()) > 0
}

var (
	commitRef   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	digestRef   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	imageTagged = regexp.MustCompile(`^[a-z0-9][a-z0-9._/-]*(:[0-9]+/[a-z0-9._/-]+)?:[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	dockerStart = regexp.MustCompile(`\b(docker|podman)\s+(container\s+)?(run|pull|create)\b(.*)`)
)

// checkUses holds what is used to a full commit, or an image to its digest.
func (f *file) checkUses(uses value) strict.Problems {
	if uses.kind != scalar || uses.text == "" {
		return nil
	}
	if image, ok := strings.CutPrefix(uses.text, "docker://"); ok {
		uses.text = image
		return f.checkImage(uses)
	}
	if _, ok := local(uses.text); ok || !strings.Contains(uses.text, "/") {
		return nil
	}
	if _, ref, _ := strings.Cut(uses.text, "@"); !commitRef.MatchString(ref) {
		return strict.Problems{f.problem("unpinned-action", uses, "%s is not pinned to a full commit", uses.text)}
	}
	return nil
}

// checkImage holds an image to its digest. One that an expression names is looked at where it is written.
func (f *file) checkImage(image value) strict.Problems {
	if image.kind != scalar || image.text == "" || strings.Contains(image.text, "${{") || digestRef.MatchString(image.text) {
		return nil
	}
	return strict.Problems{f.problem("unpinned-image", image, "%s is not pinned to a digest", image.text)}
}

// takesValue are the flags of docker run whose next word is no image, although it may look like one.
var takesValue = []string{"-v", "--volume", "-p", "--publish", "-u", "--user", "-e", "--env", "--name", "-w", "--workdir", "--mount", "--add-host", "--network", "--device", "--label", "-l"}

// checkCommandImages finds images that commands name by tag, directly or by a variable of the step, the
// job or the workflow.
func (f *file) checkCommandImages(run value, envs ...value) strict.Problems {
	var found strict.Problems
	script := strings.ReplaceAll(run.text, "\\\n", " ")
	for _, match := range dockerStart.FindAllStringSubmatch(script, -1) {
		before := ""
		for _, word := range strings.Fields(match[4]) {
			word, at := strings.Trim(word, `"'`), run
			if name, ok := strings.CutPrefix(word, "$"); ok {
				at = variable(strings.Trim(name, "{}"), envs)
				word = at.text
			}
			if imageTagged.MatchString(word) && !slices.Contains(takesValue, before) {
				found = append(found, f.problem("unpinned-image", at, "%s is not pinned to a digest", word))
				break
			}
			before = word
		}
	}
	return found
}

// variable is the innermost value of a variable.
func variable(name string, envs []value) value {
	for _, env := range envs {
		if v := env.get(name); v.kind == scalar {
			return v
		}
	}
	return value{}
}

var from = regexp.MustCompile(`(?i)^\s*FROM\s+(--\S+\s+)*(\S+)(\s+AS\s+(\S+))?`)

// checkDockerfile holds every base image to its digest.
func checkDockerfile(f *file) strict.Problems {
	var found strict.Problems
	stages, line := map[string]bool{"scratch": true}, 0
	for text := range strings.Lines(f.text) {
		line++
		m := from.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		image := text[m[4]:m[5]]
		if m[8] >= 0 {
			stages[strings.ToLower(text[m[8]:m[9]])] = true
		}
		if stages[strings.ToLower(image)] || digestRef.MatchString(image) {
			continue
		}
		message := fmt.Sprintf("%s is not pinned to a digest", image)
		if strings.Contains(image, "$") {
			message = fmt.Sprintf("%s is named by an argument, so nothing pins it here", image)
		}
		found = append(found, f.problem("unpinned-image", value{line: line, col: m[4] + 1}, "%s", message))
	}
	return found
}
