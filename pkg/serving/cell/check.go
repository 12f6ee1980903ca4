package cell

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Findings are what is wrong with a run before it begins.
type Findings struct {
	// Refused are mistakes of the caller, Unable what is missing on this machine or in this build.
	Refused, Unable strict.Problems
}

// Status is the exit status that the findings lead to.
func (f Findings) Status() int {
	switch {
	case len(f.Refused) > 0:
		return step.Usage
	case len(f.Unable) > 0:
		return step.CouldNotRun
	}
	return step.OK
}

// All lists the findings, refusals first.
func (f Findings) All() strict.Problems { return append(slices.Clone(f.Refused), f.Unable...) }

// Check finds everything that can be known to be wrong without starting anything, all of it at once.
func Check(o Options) Findings {
	var f Findings
	if o.Recipe.Workload != recipe.Serving {
		f.Refused = append(f.Refused, o.Recipe.Problem("workload", "this door runs %s, not %s", recipe.Serving, o.Recipe.Workload))
		return f
	}
	for _, name := range o.Cells {
		if o.Recipe.Cell(name) == nil {
			f.Refused = append(f.Refused, strict.Problem{Field: "--cell", Message: fmt.Sprintf("the recipe has no cell %q", name),
				Hint: "its cells are " + strings.Join(names(o.Recipe), ", ")})
		}
	}
	if err := checkOutDir(o.OutDir); err != nil {
		f.Unable = append(f.Unable, strict.Problem{Field: "--output-dir", Message: err.Error(), Hint: "name a folder that can be written to"})
	}
	seen := map[string]bool{}
	for _, c := range (&run{Options: o}).selected() {
		f.Unable = append(f.Unable, o.checkCell(c)...)
		if dir := o.workDir(c); !seen[dir] {
			seen[dir] = true
			f.Unable = append(f.Unable, checkRoot(dir)...)
		}
	}
	return f
}

// checkCell finds what this build or this machine cannot do for a cell.
func (o Options) checkCell(c *recipe.Cell) strict.Problems {
	at := fmt.Sprintf("cells[%d]", slices.IndexFunc(o.Recipe.Cells, func(other recipe.Cell) bool { return other.Name == c.Name }))
	var out strict.Problems
	add := func(key, hint, format string, args ...any) {
		p := o.Recipe.Problem(at+".workload_config."+key, "cell %s: "+format, append([]any{c.Name}, args...)...)
		p.Hint = hint
		out = append(out, p)
	}
	const engineClient = "the engine's own client comes with the docker driver; use dataset random with the native client"
	if c.Serve.Client != recipe.ClientNative {
		add("client", "use client: native", "client %s needs the docker driver, which is not in this build yet", c.Serve.Client)
	} else {
		if c.Serve.Dataset != recipe.DatasetRandom {
			add("dataset", engineClient, "the native client has no tokenizer to cut a %s dataset with", c.Serve.Dataset)
		}
		if c.Serve.Rollout != nil {
			add("rollout", engineClient, "the native client does not run rollouts yet")
		}
	}
	if c.Serve.Driver == recipe.DriverDocker {
		if err := o.Socket(); err != nil {
			hint := ""
			var refused *grant.Refused
			if errors.As(err, &refused) {
				hint = refused.Hint
			}
			add("driver", hint, "no grant for the docker socket: %v", err)
			return out
		}
	}
	driver, err := engine.For(c.Serve.Driver)
	if err == nil {
		err = driver.Check((&trial{run: &run{Options: o}, cell: c, serve: c.Serve, root: &workroot.Root{}}).spec())
	}
	for _, one := range split(err) {
		var failure *engine.Failure
		message, hint := one.Error(), ""
		if errors.As(one, &failure) {
			message, hint = failure.Message, failure.Hint
		}
		key := "driver"
		if name, rest, ok := strings.Cut(message, ": "); ok && slices.Contains([]string{"command", "base_url", "control_url"}, name) {
			key, message = name, rest
		}
		add(key, cmp.Or(hint, driverHints[key]), "%s", message)
	}
	return out
}

// driverHints say what to do about a finding of a driver, by the key it is about.
var driverHints = map[string]string{
	"driver":      "leave port and control_port at auto, or choose free ones",
	"command":     "name the engine's program by its path, or put it on PATH",
	"base_url":    "write it as http://HOST:PORT",
	"control_url": "write it as http://HOST:PORT",
}

func checkRoot(dir string) strict.Problems {
	err := workroot.Check(dir)
	if err == nil {
		return nil
	}
	return strict.Problems{rootProblem(err)}
}

// rootProblem turns a refused work root into a finding that says what to do.
func rootProblem(err error) strict.Problem {
	p := strict.Problem{Field: "work_dir", Message: err.Error()}
	var refused *workroot.Refused
	var busy *workroot.Busy
	if errors.As(err, &refused) {
		p.Hint = refused.Hint
	}
	if errors.As(err, &busy) {
		p.Message, p.Hint = busy.Error(), "wait for it to end, or give this run a work root of its own with --work-dir"
	}
	return p
}

// checkOutDir tells whether the output folder, or the nearest one above it that exists, can be written to.
func checkOutDir(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", at)
		}
		if err == nil {
			return workroot.Writable(at)
		}
		if at == filepath.Dir(at) {
			return err
		}
	}
}

func names(r *recipe.Recipe) []string {
	var out []string
	for _, c := range r.Cells {
		out = append(out, c.Name)
	}
	return out
}

// split takes joined errors apart.
func split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, split(e)...)
		}
		return out
	}
	return []error{err}
}
