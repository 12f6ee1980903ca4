package step

import (
	"fmt"
	"strings"
)

var kindNames = map[Kind]string{
	String: "string", Bool: "bool", Int: "int", Float: "float", Duration: "duration",
	Path: "path", List: "list", Choice: "choice",
}

const manualWidth = 96

// Help is the door's manual: usage, what it does, inputs, outputs, exit statuses.
func (d *Door) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nUsage:\n\n%s\n", d.Name, d.Summary, d.usage())
	if m := strings.TrimSpace(d.Manual); m != "" {
		fmt.Fprintf(&b, "\n%s\n", m)
	}
	b.WriteString("\nInputs, each a flag and an environment variable (the flag wins):\n\n")
	for _, in := range d.Inputs {
		writeEntry(&b, "--"+in.Name+argOf(in), in.manual())
	}
	writeEntry(&b, "-h, -help", "Print this manual.")
	writeEntry(&b, "--version", "Print the version.")
	writeEntry(&b, "--self-test", "Prove offline, without hardware and in under a second, that the binary works here.")
	writeEntry(&b, "--describe", "Print the tables of this manual as JSON.")
	if len(d.Outputs) > 0 {
		b.WriteString("\nOutputs of the step, in a job:\n\n")
		for _, out := range d.Outputs {
			writeEntry(&b, out.Name, out.Help)
		}
	}
	b.WriteString(`
Exit status:

    0  done, or pass
    1  a negative result: a regression, a finding, a failed cell, an invalid file
    2  bad usage or unreadable input
    3  could not run: something needed is not there
    4  no verdict: it ran, and nothing can be concluded

Standard output carries one JSON document; text for people goes to standard error.
`)
	return b.String()
}

// usage is the synopsis, wrapped.
func (d *Door) usage() string {
	line := "    " + d.Name
	var out []string
	for _, in := range d.Inputs {
		word := "--" + in.Name + argOf(in)
		if in.Positional {
			word = strings.TrimPrefix(argOf(in), " ")
		}
		if !in.Required {
			word = "[" + word + "]"
		}
		if in.Kind == List {
			word += "..."
		}
		if len(line)+1+len(word) > manualWidth {
			out = append(out, line)
			line = "        " + word
			continue
		}
		line += " " + word
	}
	return strings.Join(append(out, line), "\n")
}

func argOf(in Input) string {
	switch {
	case in.Kind == Bool:
		return ""
	case in.Arg != "":
		return " " + in.Arg
	case in.Kind == Choice:
		return " " + strings.Join(in.Choices, "|")
	}
	return " " + strings.ToUpper(kindNames[in.Kind])
}

// manual is the input's help with what the table adds to it.
func (in Input) manual() string {
	text := in.Help
	if in.Kind == Choice && in.Arg != "" {
		text += " One of " + strings.Join(in.Choices, ", ") + "."
	}
	if in.Kind == List {
		text += " May be repeated."
	}
	if in.Required {
		text += " Required."
	} else if in.Default != "" {
		text += " Default: " + in.Default + "."
	}
	return text + " [" + in.Env() + "]"
}

// writeEntry writes a term and its wrapped explanation.
func writeEntry(b *strings.Builder, term, text string) {
	fmt.Fprintf(b, "    %s\n", term)
	line := "       "
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > manualWidth {
			b.WriteString(line + "\n")
			line = "       "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
