package recipe

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// What a count may be at most. The reference has no ceiling; these keep sums and durations finite.
const (
	maxCount   = 1_000_000
	maxSeconds = 366 * 24 * 3600
)

// checkFile checks what every workload's recipe has.
func checkFile[C any](c *checker, f *file[C], h head) {
	r := c.recipe
	r.Workload, r.Confound.Threshold = string(f.Workload), 1.15
	if f.Ticket != nil {
		r.Ticket = string(*f.Ticket)
	}
	if f.SchemaVersion != 1 {
		c.refuse("schema_version", ruleRange, "write schema_version: 1", "must be 1, not %d", f.SchemaVersion)
	}
	if f.Mode != nil && *f.Mode != "triage" {
		c.refuse("mode", ruleRefused, "leave mode out", "mode %q is refused: only triage recipes are run", *f.Mode)
	}
	r.Trials = c.count("trials", f.Trials)
	r.Steps = c.count("steps", f.Steps)
	r.WorkloadConfig = mapping(h.Rest["workload_config"])
	c.workloadConfig("workload_config", r.WorkloadConfig)
	if len(f.Cells) == 0 {
		c.refuse("cells", ruleRange, "list at least one cell", "must not be empty")
	}
	list, _ := h.Rest["cells"].([]any)
	seen := map[string]int{}
	for i := range f.Cells {
		var own map[string]any
		if i < len(list) {
			own = mapping(mapping(list[i])["workload_config"])
		}
		r.Cells = append(r.Cells, newCell(c, i, &f.Cells[i], own))
		c.uniqueName(seen, i)
	}
	c.confound(f.Confound)
}

// mapping returns a mapping as it was written, an empty one for anything else.
func mapping(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{}
}

func (c *checker) count(field string, n whole) int {
	if n < 1 || n > maxCount {
		c.refuse(field, ruleRange, "", "must be 1 to %d, not %d", maxCount, n)
	}
	return int(n)
}

// workloadConfig refuses what may be in no workload_config.
func (c *checker) workloadConfig(field string, keys map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		at := sub(field, k)
		switch {
		case k == "steps":
			c.refuse(at, ruleReserved, "set steps beside workload_config, in the recipe or the cell", "steps is not a key of workload_config")
		case strings.HasPrefix(k, "_aorta_"):
			c.refuse(at, ruleReserved, "remove it", "keys _aorta_… are reserved")
		case keys[k] == nil:
			c.refuse(at, "type", "leave the key out for the default", "must have a value, not null")
		}
	}
}

// sub names a key of a field.
func sub(field, key string) string {
	name := strict.Field(key)
	if name != key || field == "" { // ["…"], or no field to be below of
		return field + name
	}
	return field + "." + name
}

func newCell[C any](c *checker, i int, f *fileCell[C], own map[string]any) Cell {
	r := c.recipe
	at := fmt.Sprintf("cells[%d]", i)
	cell := Cell{
		Name: f.Name, Mitigations: f.Mitigations, Environment: Environment{Name: local}, ExtraEnv: f.ExtraEnv,
		Trials: r.Trials, Steps: r.Steps, WorkloadConfig: map[string]any{},
	}
	if f.Environment != nil {
		cell.Environment = *f.Environment
	}
	if f.Trials != nil {
		cell.Trials = c.count(at+".trials", *f.Trials)
	}
	if f.Steps != nil {
		cell.Steps = c.count(at+".steps", *f.Steps)
	}
	c.workloadConfig(at+".workload_config", own)
	maps.Copy(cell.WorkloadConfig, r.WorkloadConfig)
	maps.Copy(cell.WorkloadConfig, own)
	c.environment(at, &cell)
	return cell
}

var (
	cellName      = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	reservedNames = []string{"matrix.md", "matrix.json"}
)

func (c *checker) uniqueName(seen map[string]int, i int) {
	at := fmt.Sprintf("cells[%d].name", i)
	name := c.recipe.Cells[i].Name
	if !cellName.MatchString(name) || slices.Contains(reservedNames, name) {
		c.refuse(at, ruleRange, "use letters, digits, _ . and -, the first a letter, a digit or _", "%q cannot be the name of a cell", name)
		return
	}
	if first, ok := seen[name]; ok {
		c.refuse(at, ruleDuplicate, "rename one of them", "cells[%d] is named %s too", first, name)
		return
	}
	seen[name] = i
}

func (c *checker) confound(f *fileConfound) {
	if f == nil {
		return
	}
	if f.Threshold != nil {
		c.recipe.Confound.Threshold = *f.Threshold
		if !(*f.Threshold > 0) {
			c.refuse("confound.threshold", ruleRange, "", "must be above 0, not %v", *f.Threshold)
		}
	}
	if f.BaselineCell != nil {
		c.recipe.Confound.BaselineCell = *f.BaselineCell
		if c.recipe.Cell(*f.BaselineCell) == nil {
			c.refuse("confound.baseline_cell", ruleUnknown, "name one of the cells", "there is no cell %q", *f.BaselineCell)
		}
	}
}

// environment merges what the cell sets for the engine: its mitigations, then its extra_env.
func (c *checker) environment(at string, cell *Cell) {
	cell.Env = map[string]string{}
	if len(cell.Mitigations) == 0 {
		c.refuse(at+".mitigations", ruleRange, "write [none] for nothing", "must not be empty")
	}
	from := map[string]string{}
	for i, m := range cell.Mitigations {
		field := fmt.Sprintf("%s.mitigations[%d]", at, i)
		bundle, known := mitigations[m]
		switch {
		case slices.Contains(cell.Mitigations[:i], m):
			c.refuse(field, ruleDuplicate, "list it once", "%s is listed twice", m)
		case m == none && len(cell.Mitigations) > 1:
			c.refuse(field, ruleConflict, "write [none] alone, or leave none out", "none stands beside other mitigations")
		case !known && c.recipe.Workload == Serving:
			c.refuse(field, ruleUnknown, "use some of "+strings.Join(slices.Sorted(maps.Keys(mitigations)), ", "), "mitigation %q is not known", m)
		}
		for k, v := range bundle {
			if other, set := cell.Env[k]; set && other != v {
				c.refuse(field, ruleConflict, "split them over two cells", "sets %s=%s, but %s sets it to %s", k, v, from[k], other)
			}
			cell.Env[k], from[k] = v, m
		}
	}
	for _, k := range slices.Sorted(maps.Keys(cell.ExtraEnv)) {
		field, v := sub(at+".extra_env", k), cell.ExtraEnv[k]
		switch {
		case !variableName.MatchString(k):
			c.refuse(field, ruleRange, "use letters, digits and _", "%q is no name for a variable", k)
		case strings.ContainsRune(v, 0):
			c.refuse(field, ruleRange, "remove it", "holds a NUL character")
		case from[k] != "" && cell.Env[k] != v:
			c.warn(field, "replaces the %s of mitigation %s", cell.Env[k], from[k])
		}
		cell.Env[k] = v
	}
}
