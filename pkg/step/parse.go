package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/sethvargo/go-githubactions"
	"github.com/spf13/pflag"
)

// flagValue collects what the command line said about one input; the texts are
// checked afterwards, so that every mistake is reported in one go.
type flagValue struct {
	input Input
	texts []string
}

func (f *flagValue) String() string     { return "" }
func (f *flagValue) Type() string       { return f.input.Arg }
func (f *flagValue) Set(s string) error { f.texts = append(f.texts, s); return nil }

// builtins are the flags that every door has.
type builtins struct{ help, version, selfTest, describe bool }

// parse reads the door's inputs: flag before INPUT_ variable before default.
func (d *Door) parse(p Proc) (Values, builtins, strict.Problems) {
	set := pflag.NewFlagSet(d.Name, pflag.ContinueOnError)
	set.SetOutput(nothing{})
	set.SetInterspersed(true)
	set.SortFlags = false
	set.Usage = func() {}

	var b builtins
	set.BoolVarP(&b.help, "help", "h", false, "")
	set.BoolVar(&b.version, "version", false, "")
	set.BoolVar(&b.selfTest, "self-test", false, "")
	set.BoolVar(&b.describe, "describe", false, "")
	flags := make(map[string]*flagValue)
	for _, in := range d.Inputs {
		f := &flagValue{input: in}
		flags[in.Name] = f
		set.Var(f, in.Name, in.Help)
		if in.Kind == Bool {
			set.Lookup(in.Name).NoOptDefVal = "true"
		}
	}

	values := Values{inputs: make(map[string]*value)}
	for _, in := range d.Inputs {
		values.inputs[in.Name] = &value{input: in}
	}
	if err := set.Parse(normalize(p.Args)); err != nil {
		return values, b, strict.Problems{{
			Message: lowerFirst(err.Error()),
			Hint:    fmt.Sprintf("%s -help lists the flags", d.Name),
		}}
	}
	if b.help || b.version || b.selfTest || b.describe {
		return values, b, nil
	}

	problems := d.positionals(set.Args(), flags)
	env := githubactions.New(githubactions.WithWriter(nothing{}), githubactions.WithGetenv(p.Getenv))
	for _, in := range d.Inputs {
		val := values.inputs[in.Name]
		if texts := flags[in.Name].texts; len(texts) > 0 {
			problems = append(problems, val.setAll("--"+in.Name, texts)...)
			continue
		}
		if text := env.GetInput(strings.ReplaceAll(in.Name, "-", "_")); text != "" {
			texts := []string{text}
			if in.Kind == List {
				texts = lines(text)
			}
			problems = append(problems, val.setAll(in.Env(), texts)...)
			continue
		}
		val.text = in.Default
		if in.Kind == List && in.Default != "" {
			val.list = lines(in.Default)
		}
		if in.Required {
			problems = append(problems, strict.Problem{
				Field:   "--" + in.Name,
				Message: "the input is required",
				Hint:    fmt.Sprintf("give --%s %s, or set %s", in.Name, in.Arg, in.Env()),
			})
		}
	}
	return values, b, problems
}

func (val *value) setAll(where string, texts []string) strict.Problems {
	var problems strict.Problems
	if len(texts) > 1 && val.input.Kind != List {
		return strict.Problems{{
			Field:   where,
			Message: fmt.Sprintf("given %d times: %s", len(texts), strings.Join(texts, ", ")),
			Hint:    "give it once",
		}}
	}
	for _, text := range texts {
		if p := val.set(where, text); p != nil {
			problems = append(problems, *p)
		}
	}
	return problems
}

// positionals hands the arguments without a flag to the positional inputs.
func (d *Door) positionals(args []string, flags map[string]*flagValue) strict.Problems {
	for _, in := range d.Inputs {
		if !in.Positional {
			continue
		}
		if in.Kind == List {
			flags[in.Name].texts = append(flags[in.Name].texts, args...)
			return nil
		}
		if len(args) > 0 {
			flags[in.Name].texts = append(flags[in.Name].texts, args[0])
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return nil
	}
	return strict.Problems{{
		Message: fmt.Sprintf("unexpected argument %q", args[0]),
		Hint:    fmt.Sprintf("%s -help shows the usage", d.Name),
	}}
}

// normalize lets -help and -version stand for their two-dash forms, as people who
// know Go's flag package type them.
func normalize(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if a == "-help" || a == "-version" {
			out[i] = "-" + a
		}
	}
	return out
}

func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// nothing swallows what a library would print by itself.
type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
