package step

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// readCommandFile decodes a command file by the grammar of the runner's
// FileCommandManager: NAME=VALUE, or NAME<<DELIMITER up to a line that is DELIMITER;
// whichever of = and << comes first decides.
func readCommandFile(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" {
			continue
		}
		eq, here := strings.Index(line, "="), strings.Index(line, "<<")
		if eq >= 0 && (here < 0 || eq < here) {
			out[line[:eq]] = line[eq+1:]
			continue
		}
		if here < 0 {
			return nil, fmt.Errorf("line %d: %q is no record", i+1, line)
		}
		name, delimiter := line[:here], line[here+2:]
		var value []string
		for i++; ; i++ {
			if i >= len(lines) {
				return nil, fmt.Errorf("%s: the delimiter never comes", name)
			}
			if lines[i] == delimiter {
				break
			}
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out, nil
}

func FuzzCommandRecord(f *testing.F) {
	f.Add("result", "plain")
	f.Add("result", "two\nlines\n")
	f.Add("result", "x\n_GitHubActionsFileCommandDelimeter_\nforged=1")
	f.Add("result", "DELIM")
	f.Add("re=sult", "v")
	f.Add("a<<b", "v")
	f.Add("", "v\r\nw")
	f.Fuzz(func(t *testing.T, name, text string) {
		record, err := commandRecord(name, text, "DELIM")
		if err != nil {
			return
		}
		got, err := readCommandFile("before=1\n" + record + "after=2\n")
		if err != nil {
			t.Fatalf("the runner could not read %q: %v", record, err)
		}
		if len(got) != 3 && name != "before" && name != "after" {
			t.Fatalf("%q became %d values: %v", record, len(got), got)
		}
		if got[name] != text && name != "before" && name != "after" {
			t.Fatalf("got %q, want %q", got[name], text)
		}
	})
}

func jobFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"GITHUB_ACTIONS": "true"}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		env[name] = filepath.Join(dir, name)
		if err := os.WriteFile(env[name], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return env
}

func TestOutput(t *testing.T) {
	env := jobFiles(t)
	hostile := "x\n_GitHubActionsFileCommandDelimeter_\nforged<<E\n1\nE\n::set-output name=y::z"
	run(t, demo(), nil, env, func(_ context.Context, s *Step) int {
		s.Output("result", hostile)
		return OK
	})
	text, _ := os.ReadFile(env["GITHUB_OUTPUT"])
	got, err := readCommandFile(string(text))
	if err != nil || len(got) != 1 || got["result"] != hostile {
		t.Errorf("got %v (%v), want the one value as it was", got, err)
	}
}

func TestCommandFileMissing(t *testing.T) {
	env := jobFiles(t)
	env["GITHUB_OUTPUT"] = filepath.Join(t.TempDir(), "stray")
	status, _, stderr := run(t, demo(), nil, env, func(_ context.Context, s *Step) int {
		s.Output("result", "x")
		return s.Done(nil)
	})
	if status != OK || !strings.Contains(stderr, "setting output result") {
		t.Errorf("got status %d and %s, want a warning", status, stderr)
	}
	if _, err := os.Stat(env["GITHUB_OUTPUT"]); err == nil {
		t.Error("a stray command file was made")
	}
}

func TestAnnotationsAreLimited(t *testing.T) {
	_, _, stderr := run(t, demo(), nil, jobFiles(t), func(_ context.Context, s *Step) int {
		for i := range 37 {
			s.Error(strict.Problem{Path: "a,b:c.yaml", Line: 3, Col: 4, Message: fmt.Sprintf("breach %d%%\nnext ::error::forged", i)})
		}
		s.Warn(strict.Problem{Message: "careful"})
		return OK
	})
	var errors []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "::error") {
			errors = append(errors, strings.TrimSpace(line))
		}
	}
	if len(errors) != annotationLimit {
		t.Fatalf("got %d error annotations, want %d:\n%s", len(errors), annotationLimit, stderr)
	}
	if want := "::error col=4,file=a%2Cb%3Ac.yaml,line=3,title=demo::breach 0%25%0Anext ::error::forged"; errors[0] != want {
		t.Errorf("got %s, want %s", errors[0], want)
	}
	if !strings.Contains(errors[9], "28 more of this kind") {
		t.Errorf("the last annotation does not count the rest: %s", errors[9])
	}
	if strings.Count(stderr, "a,b:c.yaml:3:4: breach") != 37 {
		t.Errorf("the log does not hold every finding:\n%s", stderr)
	}
	if !strings.Contains(stderr, "::warning title=demo::careful") {
		t.Errorf("no warning annotation:\n%s", stderr)
	}
}

func TestNoCommandsOutsideAJob(t *testing.T) {
	_, _, stderr := run(t, demo(), nil, nil, func(_ context.Context, s *Step) int {
		s.Error(strict.Problem{Message: "bad"})
		s.Mask("hunter2")
		s.Output("result", "x")
		s.Summary("# hi")
		s.Say("token hunter2")
		return OK
	})
	if want := "demo: bad\ndemo: token ***\n"; stderr != want {
		t.Errorf("got %q, want %q", stderr, want)
	}
}

func TestMask(t *testing.T) {
	status, stdout, stderr := run(t, demo(), nil, jobFiles(t), func(_ context.Context, s *Step) int {
		s.Mask("first%\nsecond\n")
		s.Say("a first%% b second c")
		return s.Finish(Negative, map[string]string{"x": "second"})
	})
	if status != Negative || strings.Contains(stdout, "second") {
		t.Errorf("the secret is in stdout: %s", stdout)
	}
	want := "::add-mask::first%25\n::add-mask::second\ndemo: a *** b *** c\n"
	if stderr != want {
		t.Errorf("got %q, want %q", stderr, want)
	}
}

func TestChildCannotSpeakToTheRunner(t *testing.T) {
	_, _, stderr := run(t, demo(), nil, jobFiles(t), func(_ context.Context, s *Step) int {
		w := s.Child("engine")
		io.WriteString(w, "::set-output na")
		io.WriteString(w, "me=x::y\r\n  ::error::z\n##[add-mask]a\rbad \xff utf8\n\nunfinished")
		w.Close()
		s.Text("::error::from a table\n")
		return OK
	})
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("the runner would read a command: %q", line)
		}
	}
	for _, want := range []string{"engine | ::set-output name=x::y\n", "engine | bad \uFFFD utf8\n", "engine | unfinished\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("got %q, want %q in it", stderr, want)
		}
	}
}

func TestSummaryFits(t *testing.T) {
	env := jobFiles(t)
	var b strings.Builder
	b.WriteString("| verdict |\n|---|\n")
	for i := range 12000 {
		fmt.Fprintf(&b, "| row %d %s |\n", i, strings.Repeat("é", 60))
	}
	run(t, demo(), nil, env, func(_ context.Context, s *Step) int {
		s.Summary(b.String())
		s.Summary("the second tool")
		return OK
	})
	text, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if len(text) > summaryLimit {
		t.Fatalf("the summary has %d bytes, over the limit of %d", len(text), summaryLimit)
	}
	kept := strings.Count(string(text), "| row ")
	if want := fmt.Sprintf("%d rows omitted", 12000-kept); !strings.Contains(string(text), want) || kept < 5000 {
		t.Errorf("kept %d rows and does not say %q", kept, want)
	}
}

func TestDescribedTermsOfHelp(t *testing.T) {
	help := demo().Help()
	for _, want := range []string{"--fixture-id ID", "May be repeated.", "--mode run|reap", "Default: 0.10.", "[INPUT_HEADROOM]", "Exit status:", "result\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("the manual has no %q:\n%s", want, help)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > manualWidth+1 {
			t.Errorf("a line of the manual is %d wide: %s", len(line), line)
		}
	}
}
