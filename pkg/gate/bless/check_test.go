package bless

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blessed is a repository whose baselines file was derived from its history, and committed: base.yaml is
// the same file.
func blessed(t *testing.T) *rig {
	t.Helper()
	r := serveRig(t)
	r.write(baselinesPath, "version: 1\nbaselines:\n  # smoke\n  serve::a:\n    passed: true\n    metrics:\n      checksum:\n        policy: equal\n        value: 7\n")
	r.run("--from", "window", "--history", "history", "--perf-gate-entry", "serve").want(t, 0)
	r.write(baselinesPath, r.read(baselinesPath)+"  # end\n")
	r.write("base.yaml", r.read(baselinesPath))
	r.door = Check
	return r
}

func (r *rig) replace(old, with string) {
	r.t.Helper()
	text := r.read(baselinesPath)
	if !strings.Contains(text, old) {
		r.t.Fatalf("the file has no %q:\n%s", old, text)
	}
	r.write(baselinesPath, strings.Replace(text, old, with, 1))
}

// cut takes out everything from one text to another.
func (r *rig) cut(from, to string) {
	r.t.Helper()
	text := r.read(baselinesPath)
	i := strings.Index(text, from)
	j := strings.Index(text[i:], to)
	r.write(baselinesPath, text[:i]+text[i+j:])
}

func TestCheck(t *testing.T) {
	check := []string{"--base", "base.yaml", "--history", "history"}
	tests := []struct {
		name   string
		change func(r *rig)
		status int
		says   string // a regular expression
	}{
		{"nothing changed", func(r *rig) {}, 0, `gates: 3 unchanged`},
		{"newer nights", func(r *rig) {
			r.nights(911, "sha256:aaaa", 1.87, 1.86)
			r.door = Refresh
			r.run("--from", "window", "--history", "history").want(r.t, 0)
			r.door = Check
		}, 0, `gates: `},
		{"a bound raised by hand", func(r *rig) { r.replace("value: 2.3922\n", "value: 2.5\n") }, 1,
			`(?s)baselines.yaml:11:9: .*median_tpot_ms: median_tpot_ms loosened from 2.3922 to 2.5 \(\+4.5 %\): there is no reason for it \[reason\].*the bound is 2.5, and its 10 night\(s\) give 2.3922`},
		{"a raised bound whose reason is in the cell, without evidence", func(r *rig) {
			r.replace("    passed: true\n", "    passed: true\n    reason: a newer compiler\n")
			r.replace("value: 2.3922\n", "value: 2.5\n")
		}, 1, `the bound is 2.5, and its 10 night\(s\) give 2.3922 \(rule extremum, margin 0.25\) \[evidence\]`},
		{"a value of a night changed", func(r *rig) {
			r.replace("value: 1.9138", "value: 1.9")
			r.replace("value: 2.3922\n", "value: 2.3875\n")
		}, 1, `run 904-1 measured 1.9138, and 1.9 stands here`},
		{"a digest changed", func(r *rig) {
			text := r.read(baselinesPath)
			r.write(baselinesPath, regexp.MustCompile(`sha256: "?[0-9a-f]{64}"?`).ReplaceAllString(text, `sha256: "`+strings.Repeat("0", 64)+`"`))
		}, 1, `run 901-1 has the digest [0-9a-f]{16}… in the history, and 0{16}… here`},
		{"a night picked out", func(r *rig) { r.cut("            - {run: 905", "            - {run: 906") }, 1, `the history does not admit run 901-1 at place 1 of 9`},
		{"the stack changed", func(r *rig) { r.replace("sha256:aaaa", "sha256:bbbb") }, 1, `the stack of its nights is another than the one recorded: engine_digest was sha256:bbbb, is sha256:aaaa`},
		{"a night that is not there", func(r *rig) { r.replace("run: 910", "run: 990") }, 1, `run 990-1 is not in the history`},
		{"too few nights", func(r *rig) { r.cut("            - {run: 901", "            - {run: 908") }, 1, `3 nights are no window`},
		{"provenance dropped", func(r *rig) { r.cut("        provenance:", "  # end") }, 1, `the bound no longer says where it comes from`},
		{"the first level moved", func(r *rig) { r.replace("first_blessed: 2.3922", "first_blessed: 2.9") }, 1, `first_blessed was 2.3922, is 2.9`},
		{"an unknown rule", func(r *rig) { r.replace("rule: extremum", "rule: mean") }, 1, `rule "mean" with margin 0.25 over 10 night\(s\) derives nothing`},
		{"a checksum changed", func(r *rig) { r.replace("value: 7", "value: 8") }, 1, `checksum changed from 7 to 8: there is no reason for it`},
		{"a checksum changed with a reason", func(r *rig) {
			r.replace("value: 7", "value: 8")
			r.write("body.md", "Kernels were replaced.\n\n- reason serve::a checksum: kernels were replaced\n")
		}, 0, `serve::a: checksum changed from 7 to 8: kernels were replaced`},
		{"a reason for another gate", func(r *rig) {
			r.replace("value: 7", "value: 8")
			r.write("body.md", "reason serve::a median_tpot_ms: kernels were replaced\nreason serve::b: x\n")
		}, 1, `checksum changed from 7 to 8: there is no reason for it`},
		{"a line that is no reason", func(r *rig) { r.write("body.md", "text\n- reason serve::a checksum\n") }, 2, `body.md:2:1: this line begins like a reason and is none`},
		{"reverted to record-only", func(r *rig) {
			r.write(baselinesPath, "baselines:\n  serve::a:\n    passed: true\n    reason: nobody knows what moved\n")
		}, 0, `serve::a: median_tpot_ms, back to record-only: nobody knows what moved`},
		{"reverted without a reason", func(r *rig) { r.write(baselinesPath, "baselines:\n  serve::a:\n    passed: true\n") }, 1, `baselines.yaml:3:5: .*median_tpot_ms reverted \(was 2.3922\): there is no reason for it`},
		{"the key deleted", func(r *rig) { r.write(baselinesPath, "baselines: {}\n") }, 1, `baselines.yaml:1:12: baselines\["serve::a"\]: passed lost \(was true\)`},
		{"an expected failure", func(r *rig) { r.replace("passed: true", "passed: false") }, 1, `the cell is now expected to fail`},
		{"keys without a cell", func(r *rig) {
			r.write(baselinesPath, r.read(baselinesPath)+"  serve::b: {passed: true}\n  srve::a: {passed: true}\n")
		}, 1, `(?s)serve::b"\]: r.yaml has no cell b.*srve::a"\]: the matrix has no entry srve`},
		{"not valid", func(r *rig) { r.replace("passed: true", "pased: true") }, 1, `(?s)baselines.yaml:5:5: .*did you mean`},
		{"a base that is not there", func(r *rig) { os.Remove(filepath.Join(r.root, "base.yaml")) }, 2, `base.yaml`},
		{"the first baselines of all", func(r *rig) { r.write("base.yaml", "") }, 0, `gates: 3 gained`},
		{"an unreadable history", func(r *rig) { r.write("history/runs/2031/03/20/999-1-gate.json", "{") }, 2, `999-1-gate.json`},
		{"pruned nights of a bound that did not change", func(r *rig) { os.RemoveAll(filepath.Join(r.root, "history/runs/2031/03/01")) }, 0, `the history admits 9 of its 10 nights, so the bound cannot be derived again`},
		{"a bound by hand", func(r *rig) {
			r.replace("      checksum:", "      p99_itl_ms: {policy: max, value: 40}\n      checksum:")
		}, 0, `1 bound\(s\) do not say on which stack they were derived, so they are held on every stack: serve::a p99_itl_ms`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := blessed(t)
			tt.change(r)
			args := check
			if r.read("body.md") != "" {
				args = append(append([]string{}, check...), "--reason-file", "body.md")
			}
			a := r.run(args...)
			a.want(t, tt.status)
			if !regexp.MustCompile(tt.says).MatchString(a.stderr) {
				t.Errorf("stderr lacks %q:\n%s", tt.says, a.stderr)
			}
		})
	}
}

func TestDriftAddsUp(t *testing.T) {
	r := newRig(t, Check)
	r.write(matrixPath, "entries:\n  - {name: e, recipe: r.yaml}\n")
	r.recipe("r.yaml", "c")
	bound := func(value, first, extra string) string {
		return "baselines: {e::c: {" + extra + "metrics: {median_tpot_ms: {policy: max, value: " + value + ", provenance: {rule: run, margin: 0.25, nights: [{run: 1, value: 1.8}], first_blessed: " + first + "}}}}}\n"
	}
	r.write("base.yaml", strings.ReplaceAll(bound("2.125", "2", ""), "value: 1.8", "value: 1.7"))
	tests := []struct {
		reason string
		status int
		says   string
	}{
		{"", 1, "there is no reason for it"},
		{"reason: a slower clock, ", 1, "it is 12.5 % past the level first blessed, over the budget of 10 %: the reason must say accept-regression [drift]"},
		{"reason: accept-regression of the slower clock, ", 0, "1 bound(s) stand on a single run, which no history can confirm: e::c median_tpot_ms"},
	}
	for _, tt := range tests {
		r.write(baselinesPath, bound("2.25", "2", tt.reason))
		r.run("--base", "base.yaml").want(t, tt.status, tt.says)
	}
}

func FuzzReasons(f *testing.F) {
	f.Add("- reason serve::a checksum: why\nreason a::b: c\nreason x::\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, problems := parseReasons("f", text)
		for _, g := range file {
			if strings.TrimSpace(g.text) == "" || g.line < 1 || g.key.Entry == "" {
				t.Errorf("got reason %+v", g)
			}
		}
		if lines := strings.Count(text, "::"); len(file)+len(problems) > lines {
			t.Errorf("got %d reasons and %d problems from %d keys", len(file), len(problems), lines)
		}
	})
}
