package gatehouse

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated files and blocks")

// door is what a binary says about itself with --describe.
type door struct {
	Name, Summary, Manual, Help string
	Needs                       []string
	Inputs                      []struct {
		Name, Env, Kind, Default, Help string
		Choices                        []string
		Required                       bool
	}
	Outputs []struct{ Name, Help string }
}

// doors asks every binary of cmd/ for its tables.
func doors(t *testing.T) []door {
	t.Helper()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("cmd/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("finding the doors: %v", err)
	}
	var all []door
	for _, name := range names {
		cmd := exec.Command(filepath.Join(dir, filepath.Base(name)), "--describe")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s --describe: %v", name, err)
		}
		var d door
		if err := json.Unmarshal(out, &d); err != nil {
			t.Fatalf("%s --describe: %v", name, err)
		}
		if d.Name != filepath.Base(name) {
			t.Errorf("cmd/%s calls itself %q", filepath.Base(name), d.Name)
		}
		all = append(all, d)
	}
	return all
}

// TestGenerated holds everything that is made from a door's tables to them: the
// package comment of its command, its composite action, the action's README, and
// the table of doors in the README. Run with -update to write them anew.
func TestGenerated(t *testing.T) {
	all := doors(t)
	for _, d := range all {
		main := filepath.Join("cmd", d.Name, "main.go")
		current(t, main, commandSource(t, main, d))
		current(t, filepath.Join("actions", d.Name, "action.yml"), []byte(actionYAML(d)))
		current(t, filepath.Join("actions", d.Name, "README.md"), []byte(actionReadme(d)))
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	current(t, "README.md", replaceBlock(t, readme, "doors", doorTable(all)))
	actions, _ := filepath.Glob("actions/*/action.yml")
	for _, path := range actions {
		name := filepath.Base(filepath.Dir(path))
		if _, err := os.Stat(filepath.Join("cmd", name)); err != nil {
			t.Errorf("%s has no command", path)
		}
	}
}

// current compares a file with what it should hold, or writes it with -update.
func current(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if !*update {
		t.Errorf("%s is not current: run go test . -run TestGenerated -update", path)
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

var packageClause = regexp.MustCompile(`(?m)^package main$`)

// commandSource is main.go with the door's manual as its package comment.
func commandSource(t *testing.T, path string, d door) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := packageClause.FindIndex(text)
	if at == nil {
		t.Fatalf("%s has no package clause", path)
	}
	var b strings.Builder
	manual := upperFirst(strings.Replace(d.Help, d.Name+": ", d.Name+" ", 1))
	manual = strings.Replace(manual, "\n", ".\n", 1)
	for line := range strings.Lines(strings.TrimRight(manual, "\n") + "\n") {
		b.WriteString(strings.TrimRight("// "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	b.Write(text[at[0]:])
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

const generatedNote = "# Made from the binary's own tables: change pkg/…, then run go test . -run TestGenerated -update\n"

// actionYAML is the composite action of a door. Inputs reach the shell through env:
// alone (a composite run step gets no INPUT_* of its own); the step ends in exec, so
// that the runner's signals reach the binary.
func actionYAML(d door) string {
	var b strings.Builder
	b.WriteString(generatedNote)
	fmt.Fprintf(&b, "name: Gatehouse %s\ndescription: %s\nauthor: Gatehouse\nbranding:\n  icon: activity\n  color: green\ninputs:\n", d.Name, quote(upperFirst(d.Summary)))
	for _, in := range d.Inputs {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n    required: %t\n    default: %s\n", in.Name, quote(inputHelp(in.Help, in.Choices, in.Kind)), in.Required, quote(in.Default))
	}
	if len(d.Outputs) > 0 {
		b.WriteString("outputs:\n")
		for _, out := range d.Outputs {
			fmt.Fprintf(&b, "  %s:\n    description: %s\n    value: ${{ steps.run.outputs.%s }}\n", out.Name, quote(out.Help), out.Name)
		}
	}
	b.WriteString("runs:\n  using: composite\n  steps:\n    - id: run\n      shell: bash\n      env:\n")
	for _, in := range d.Inputs {
		fmt.Fprintf(&b, "        %s: ${{ inputs.%s }}\n", in.Env, in.Name)
	}
	fmt.Fprintf(&b, "      run: |\n        bin=\"$(\"$GITHUB_ACTION_PATH/../setup/install.sh\" %s)\"\n        exec \"$bin/%s\"\n",
		strings.Join(append([]string{d.Name}, d.Needs...), " "), d.Name)
	return b.String()
}

func inputHelp(help string, choices []string, kind string) string {
	if len(choices) > 0 {
		help += " One of " + strings.Join(choices, ", ") + "."
	}
	if kind == "list" {
		help += " One per line."
	}
	return help
}

// actionReadme is the action's page: what to copy into a workflow, and the tables.
func actionReadme(d door) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Made from the binary's own tables: run go test . -run TestGenerated -update -->\n# %s\n\n%s.\n\n```yaml\n- uses: gatehouse-ci/gatehouse/actions/%s@<commit>\n", d.Name, upperFirst(d.Summary), d.Name)
	first := true
	for _, in := range d.Inputs {
		if !in.Required {
			continue
		}
		if first {
			b.WriteString("  with:\n")
			first = false
		}
		fmt.Fprintf(&b, "    %s: …\n", in.Name)
	}
	b.WriteString("```\n\n## Inputs\n\n| input | default | meaning |\n|---|---|---|\n")
	for _, in := range d.Inputs {
		def := "`" + in.Default + "`"
		if in.Default == "" {
			def = ""
		}
		if in.Required {
			def = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", in.Name, cell(def), cell(inputHelp(in.Help, in.Choices, in.Kind)))
	}
	if len(d.Outputs) > 0 {
		b.WriteString("\n## Outputs\n\n| output | meaning |\n|---|---|\n")
		for _, out := range d.Outputs {
			fmt.Fprintf(&b, "| `%s` | %s |\n", out.Name, cell(out.Help))
		}
	}
	fmt.Fprintf(&b, "\n## Manual\n\n```text\n%s```\n", d.Help)
	return b.String()
}

func doorTable(all []door) string {
	var b strings.Builder
	b.WriteString("| binary and action | does |\n|---|---|\n")
	for _, d := range all {
		fmt.Fprintf(&b, "| [`%s`](actions/%s/README.md) | %s |\n", d.Name, d.Name, cell(d.Summary))
	}
	return b.String()
}

// replaceBlock puts text between the markers of a generated block.
func replaceBlock(t *testing.T, doc []byte, name, text string) []byte {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- generated: %s -->\n", name), fmt.Sprintf("<!-- end: %s -->", name)
	i, j := bytes.Index(doc, []byte(begin)), bytes.Index(doc, []byte(end))
	if i < 0 || j < i {
		t.Fatalf("the document has no block %q", name)
	}
	return append(append(append([]byte{}, doc[:i+len(begin)]...), text...), doc[j:]...)
}

// quote is a YAML double-quoted scalar.
func quote(s string) string {
	out, _ := json.Marshal(s)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(out))
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
