package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Version is the release of this build, set by the linker for releases; a build
// from a checkout falls back on what the Go toolchain recorded.
var Version = ""

// Output declares one output of a door, set by [Step.Output].
type Output struct {
	// Name is the output's name, such as "matrix-path".
	Name string

	// Help is one sentence for the manual.
	Help string
}

// Door declares a binary: its manual, its inputs and its outputs.
type Door struct {
	// Name is the binary's and the action's name.
	Name string

	// Summary says in one line what the door does: lower case, no full stop.
	Summary string

	// Manual is the body of the manual: paragraphs, and indented examples.
	Manual string

	Inputs  []Input
	Outputs []Output

	// Needs names the other binaries of the toolkit that this one executes.
	Needs []string

	// SelfTest proves, offline and in under a second, that the binary works on this
	// machine.
	SelfTest func(ctx context.Context, s *Step) error
}

// Run parses the inputs and hands over to do. It answers -help, --version,
// --self-test and --describe itself, reports bad usage as exit status 2, and turns
// a panic into exit status 3 with its stack on stderr.
func (d *Door) Run(ctx context.Context, p Proc, do func(ctx context.Context, s *Step) int) (status int) {
	values, b, problems := d.parse(p)
	s := newStep(d, p, values)
	defer s.close()
	defer func() {
		if r := recover(); r != nil {
			s.Say("internal error: %v", r)
			fmt.Fprintf(s.Stderr, "%s", debug.Stack())
			s.Hint("this is a bug in %s; please report it with the lines above", d.Name)
			status = s.Finish(CouldNotRun, nil, strict.Problem{Message: fmt.Sprintf("internal error: %v", r)})
		}
	}()
	switch {
	case len(problems) > 0:
		return s.Finish(Usage, nil, problems...)
	case b.help:
		io.WriteString(p.Stdout, d.Help())
		return OK
	case b.version:
		fmt.Fprintf(p.Stdout, "%s %s\n", d.Name, version())
		return OK
	case b.describe:
		return d.describe(p.Stdout)
	case b.selfTest:
		return d.selfTest(ctx, s)
	}
	return do(ctx, s)
}

func (d *Door) selfTest(ctx context.Context, s *Step) int {
	if d.SelfTest != nil {
		if err := d.SelfTest(ctx, s); err != nil {
			return s.Finish(Negative, selfTestResult{d.Name}, strict.Problem{Message: "self-test: " + err.Error()})
		}
	}
	return s.Done(selfTestResult{d.Name})
}

type selfTestResult struct {
	SelfTest string `json:"self_test"`
}

// description is the machine-readable form of the door's table.
type description struct {
	Name    string              `json:"name"`
	Summary string              `json:"summary"`
	Manual  string              `json:"manual"`
	Help    string              `json:"help"`
	Needs   []string            `json:"needs,omitempty"`
	Inputs  []inputDescription  `json:"inputs"`
	Outputs []outputDescription `json:"outputs"`
}

type inputDescription struct {
	Name     string   `json:"name"`
	Env      string   `json:"env"`
	Kind     string   `json:"kind"`
	Default  string   `json:"default"`
	Help     string   `json:"help"`
	Choices  []string `json:"choices,omitempty"`
	Required bool     `json:"required"`
}

type outputDescription struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

func (d *Door) describe(w io.Writer) int {
	doc := description{Name: d.Name, Summary: d.Summary, Manual: d.Manual, Help: d.Help(), Needs: d.Needs,
		Inputs: []inputDescription{}, Outputs: []outputDescription{}}
	for _, in := range d.Inputs {
		doc.Inputs = append(doc.Inputs, inputDescription{in.Name, in.Env(), kindNames[in.Kind], in.Default, in.Help, in.Choices, in.Required})
	}
	for _, out := range d.Outputs {
		doc.Outputs = append(doc.Outputs, outputDescription(out))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return CouldNotRun
	}
	return OK
}

// Problems turns an error into the findings it carries: those of a strict reader
// as they are, anything else as one finding without a place.
func Problems(err error) strict.Problems {
	var problems strict.Problems
	if errors.As(err, &problems) {
		return problems
	}
	var one strict.Problem
	if errors.As(err, &one) {
		return strict.Problems{one}
	}
	return strict.Problems{{Message: err.Error()}}
}

func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "devel" {
			v += "-" + s.Value[:12]
		}
	}
	return v
}
