package lane

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// readers are actions that write nothing by the job's token. Any other may use what it is given.
var readers = []string{
	"actions/checkout", "actions/upload-artifact", "actions/download-artifact", "actions/cache", "actions/cache/restore", "actions/cache/save",
	"actions/setup-go", "actions/setup-python", "actions/setup-node", "actions/setup-java", "docker/setup-buildx-action",
}

var tokenUse = regexp.MustCompile(`github\.token|GITHUB_TOKEN|GH_TOKEN|secrets\.|\bgh\s|\bgit\b[^\n]*\bpush\b|ACTIONS_ID_TOKEN`)

// checkPermissions finds rights that are not stated, stated for everything, or used by nothing.
func (r *Repository) checkPermissions(f *file) strict.Problems {
	jobs := f.root.get("jobs")
	var found strict.Problems
	top := f.root.get("permissions")
	if top.kind == absent {
		found = append(found, f.problem("missing-permissions", f.root, "the workflow states no permissions, so its jobs get the repository's default"))
	}
	found = append(found, f.checkBroad(top)...)
	for i, scope := range top.keys {
		if top.items[i].text == "write" && len(jobs.keys) > 1 {
			found = append(found, f.problem("wide-permissions", scope, "every job of the workflow may write %s", scope.text))
		} else if top.items[i].text == "write" {
			jobs.each(func(_, job value) { found = append(found, r.checkUnused(f, job, scope)...) })
		}
	}
	jobs.each(func(_, job value) {
		granted := job.get("permissions")
		found = append(found, f.checkBroad(granted)...)
		for i, scope := range granted.keys {
			if granted.items[i].text == "write" {
				found = append(found, r.checkUnused(f, job, scope)...)
			}
		}
	})
	return found
}

func (f *file) checkBroad(granted value) strict.Problems {
	if granted.kind == scalar && (granted.text == "write-all" || granted.text == "read-all") {
		return strict.Problems{f.problem("wide-permissions", granted, "%s is more than any job needs", granted.text)}
	}
	return nil
}

// checkUnused finds a right to write that nothing in the job can use.
func (r *Repository) checkUnused(f *file, job, scope value) strict.Problems {
	if uses := job.get("uses"); uses.kind == scalar {
		name, ok := local(uses.text)
		if called := r.workflow(name); ok && called != nil && !asked(called, scope.text) {
			return strict.Problems{f.problem("wide-permissions", scope, "%s asks for no right to write %s", uses.text, scope.text)}
		}
		return nil
	}
	if job.get("steps").kind == absent || slices.ContainsFunc(job.get("steps").items, r.mayWrite) || tokenUse.MatchString(flat(job.get("env"))+flat(f.root.get("env"))) {
		return nil
	}
	return strict.Problems{f.problem("wide-permissions", scope, "no step of the job uses the right to write %s", scope.text)}
}

// asked reports whether a called workflow wants a right to write, or does not say what it wants.
func asked(called *file, scope string) bool {
	wants := func(p value) bool { return p.get(scope).text == "write" || p.text == "write-all" }
	top := called.root.get("permissions")
	any := wants(top)
	called.root.get("jobs").each(func(_, job value) {
		p := job.get("permissions")
		any = any || wants(p) || p.kind == absent && top.kind == absent
	})
	return any
}

// mayWrite reports whether a step can use the token to write.
func (r *Repository) mayWrite(step value) bool {
	if tokenUse.MatchString(flat(step)) {
		return true
	}
	uses := step.get("uses").text
	if dir, ok := local(uses); ok {
		action := r.actions[dir]
		return action == nil || tokenUse.MatchString(action.text)
	}
	name, _, _ := strings.Cut(uses, "@")
	return uses != "" && !slices.Contains(readers, name)
}

// flat is all the text below a value.
func flat(v value) string {
	var b strings.Builder
	var walk func(value)
	walk = func(v value) {
		b.WriteString(v.text + "\n")
		for _, k := range v.keys {
			b.WriteString(k.text + "\n")
		}
		for _, item := range v.items {
			walk(item)
		}
	}
	walk(v)
	return b.String()
}
