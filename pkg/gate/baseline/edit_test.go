package baseline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func spec(metrics Map) Map { return Map{{"passed", true}, {"metrics", metrics}} }

func bound(policy string, value float64) Map { return Map{{"policy", policy}, {"value", value}} }

var tpot = Key{"serve", "a"}

// TestEditStyles shows what an edit leaves of each way to write the file.
func TestEditStyles(t *testing.T) {
	provenance := Map{{"rule", "extremum"}, {"margin", 0.25}, {"nights", []any{
		Map{{"run", 900}, {"value", 1.9}}, Map{{"run", 901}, {"value", 1.8}},
	}}}
	tests := []struct {
		name, text, want string
		key              Key
		change           func(Map) Map
	}{
		{
			name: "a value in a block keeps comments and order",
			text: "# top\nversion: 1\nbaselines:\n  # about a\n  serve::a:\n    passed: true # yes\n    metrics:\n      # tight\n      m_ms:\n        value: 2.0   # ms\n        policy: max\n  other::b: {passed: true}\n# end\n",
			want: "# top\nversion: 1\nbaselines:\n  # about a\n  serve::a:\n    passed: true # yes\n    metrics:\n      # tight\n      m_ms:\n        value: 2.5   # ms\n        policy: max\n  other::b: {passed: true}\n# end\n",
			key:  tpot,
			change: func(s Map) Map {
				m := s.Get("metrics").(Map)
				return s.With("metrics", m.With("m_ms", m.Get("m_ms").(Map).With("value", 2.5)))
			},
		},
		{
			name:   "a value in flow",
			text:   "baselines: {serve::a: {metrics: {m_ms: {policy: max, value: 2.0}}}, x::y: {passed: false}} # c\n",
			want:   "baselines: {serve::a: {metrics: {m_ms: {policy: max, value: 2.5}}}, x::y: {passed: false}} # c\n",
			key:    tpot,
			change: func(s Map) Map { return Map{{"metrics", Map{{"m_ms", bound("max", 2.5)}}}} },
		},
		{
			name:   "an equal value keeps its spelling",
			text:   "baselines: {serve::a: {metrics: {m_ms: {policy: 'max', value: 2.500}}}}\n",
			want:   "baselines: {serve::a: {metrics: {m_ms: {policy: 'max', value: 2.500}}}}\n",
			key:    tpot,
			change: func(s Map) Map { return Map{{"metrics", Map{{"m_ms", bound("max", 2.5)}}}} },
		},
		{
			name: "a metric is added behind its block siblings",
			text: "baselines:\n  serve::a:\n    metrics:\n      m_ms:\n        policy: max\n        value: 2 # two\n      # note at the end\n  z::z: {passed: true}\n",
			want: "baselines:\n  serve::a:\n    metrics:\n      m_ms:\n        policy: max\n        value: 2 # two\n      n_ms:\n        policy: max\n        value: 3\n      # note at the end\n  z::z: {passed: true}\n",
			key:  tpot,
			change: func(s Map) Map {
				return s.With("metrics", s.Get("metrics").(Map).With("n_ms", bound("max", 3)))
			},
		},
		{
			name: "a metric is added behind its flow siblings, in flow",
			text: "baselines:\n  serve::a:\n    metrics:\n      m_ms: {policy: max, value: 2} # two\n",
			want: "baselines:\n  serve::a:\n    metrics:\n      m_ms: {policy: max, value: 2} # two\n      n_ms: {policy: max, value: 3, provenance: {rule: extremum, margin: 0.25, nights: [\n          {run: 900, value: 1.9},\n          {run: 901, value: 1.8}]}}\n",
			key:  tpot,
			change: func(s Map) Map {
				return s.With("metrics", s.Get("metrics").(Map).With("n_ms", bound("max", 3).With("provenance", provenance)))
			},
		},
		{
			name: "provenance is added in a block, a night a line",
			text: "baselines:\n  serve::a:\n    metrics:\n      m_ms:\n        policy: max\n        value: 2\n    step_time_ms:\n      max: 3",
			want: "baselines:\n  serve::a:\n    metrics:\n      m_ms:\n        policy: max\n        value: 2\n        provenance:\n          rule: extremum\n          margin: 0.25\n          nights:\n            - {run: 900, value: 1.9}\n            - {run: 901, value: 1.8}\n    step_time_ms:\n      max: 3",
			key:  tpot,
			change: func(s Map) Map {
				m := s.Get("metrics").(Map)
				return s.With("metrics", m.With("m_ms", m.Get("m_ms").(Map).With("provenance", provenance)))
			},
		},
		{
			name: "a multi-line flow mapping is added to in its layout",
			text: "baselines: {\n    serve::a: {\n        passed: true, # yes\n    },\n}\n",
			want: "baselines: {\n    serve::a: {\n        passed: true,\n        metrics: {m_ms: {policy: max, value: 2.5}}, # yes\n    },\n}\n",
			key:  tpot,
			change: func(s Map) Map {
				return s.With("metrics", Map{{"m_ms", bound("max", 2.5)}})
			},
		},
		{
			name:   "a key is added to none, in a block",
			text:   "version: 1\nbaselines: {}   # none yet\n",
			want:   "version: 1\nbaselines:   # none yet\n  serve::a:\n    passed: true\n    metrics:\n      m_ms:\n        policy: max\n        value: 2.5\n",
			key:    tpot,
			change: func(Map) Map { return spec(Map{{"m_ms", bound("max", 2.5)}}) },
		},
		{
			name:   "a key is removed with its lines, the comments above stay",
			text:   "baselines:\n  # first\n  serve::a:\n    passed: true # yes\n  # second\n  z::z:\n    passed: true\n",
			want:   "baselines:\n  # first\n  # second\n  z::z:\n    passed: true\n",
			key:    tpot,
			change: func(Map) Map { return nil },
		},
		{
			name:   "the only key is removed",
			text:   "baselines:\n  serve::a: {passed: true}\n",
			want:   "baselines:\n  {}\n",
			key:    tpot,
			change: func(Map) Map { return nil },
		},
		{
			name: "the last metric of a block goes while the cell gains a reason",
			text: "baselines:\n  serve::a:\n    passed: true\n    metrics:\n      a_ms: {value: 1, policy: max}\n      b_ms: {value: 1, policy: max}\n",
			want: "baselines:\n  serve::a:\n    passed: true\n    metrics:\n      a_ms: {value: 1, policy: max}\n    reason: \"b: moved\"\n",
			key:  tpot,
			change: func(s Map) Map {
				return s.With("metrics", s.Get("metrics").(Map).Without("b_ms")).With("reason", "b: moved")
			},
		},
		{
			name:   "first and last keys of a flow mapping are removed",
			text:   "baselines: {serve::a: {metrics: {a_ms: {value: 1, policy: max}}, passed: true, step_time_ms: {max: 3}}}\n",
			want:   "baselines: {serve::a: {passed: true}}\n",
			key:    tpot,
			change: func(Map) Map { return Map{{"passed", true}} },
		},
		{
			name:   "a removed key of a multi-line flow mapping leaves the comments of its neighbours",
			text:   "baselines: {\n  serve::a: {passed: true}, # a\n  z::z: {passed: true}  # z\n}\n",
			want:   "baselines: {\n   # a\n  z::z: {passed: true}  # z\n}\n",
			key:    tpot,
			change: func(Map) Map { return nil },
		},
		{
			name:   "line ends are kept",
			text:   "baselines:\r\n  serve::a:\r\n    passed: true\r\n",
			want:   "baselines:\r\n  serve::a:\r\n    passed: true\r\n    step_time_ms:\r\n      max: 3\r\n",
			key:    tpot,
			change: func(s Map) Map { return s.With("step_time_ms", Map{{"max", 3}}) },
		},
		{
			name: "texts of every kind find their end",
			text: "# é\nbaselines:\n  'serve::a':\n    metrics:\n      \"checksum\": {value: \"a\\\"}b\", policy: 'equal'} # é\n      output_checksum: {policy: equal, value: 'it''s }'}\n      logits_checksum:\n        policy: equal\n        value: |\n          one\n\n          two\n      z: {policy: equal, value: plain text\n          goes on}\n",
			want: "# é\nbaselines:\n  'serve::a':\n    metrics:\n      \"checksum\": {value: new, policy: 'equal'} # é\n      output_checksum: {policy: equal, value: new}\n      logits_checksum:\n        policy: equal\n        value: new\n      z: {policy: equal, value: new}\n",
			key:  tpot,
			change: func(s Map) Map {
				m := s.Get("metrics").(Map)
				for _, p := range m {
					m = m.With(p.Key, p.Value.(Map).With("value", "new"))
				}
				return s.With("metrics", m)
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := ParseText("b.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			edited, err := text.Edit([]SpecEdit{{tt.key, tt.change(text.Spec(tt.key))}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(edited.Bytes())); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestFiftyRefreshes takes a file full of comments through fifty refreshes. Each may change the lines of
// the values it is about and nothing else.
func TestFiftyRefreshes(t *testing.T) {
	var b strings.Builder
	b.WriteString("# head\nversion: 1 # one\n\nbaselines: # all of them\n")
	for i := range 12 {
		fmt.Fprintf(&b, "  # cell %d\n  e%d::c:   # key\n    passed: true\n    # metrics of %d\n    metrics:\n      p99_itl_ms: {policy: max, value: 40, required: false} # by hand\n      # tight\n      median_tpot_ms:\n        value: %d.5   # tpot %d\n        policy: max # worse is more\n\n", i, i, i, i, i)
	}
	b.WriteString("# tail\n")
	text, err := ParseText("b.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 50))
	for round := range 50 {
		i := random.IntN(12)
		key := Key{fmt.Sprintf("e%d", i), "c"}
		value := float64(round) + 0.25
		before := strings.Split(string(text.Bytes()), "\n")
		s := text.Spec(key)
		m := s.Get("metrics").(Map)
		text, err = text.Edit([]SpecEdit{{key, s.With("metrics", m.With("median_tpot_ms", m.Get("median_tpot_ms").(Map).With("value", value)))}})
		if err != nil {
			t.Fatal(err)
		}
		after := strings.Split(string(text.Bytes()), "\n")
		if len(after) != len(before) {
			t.Fatalf("round %d: got %d lines, want %d", round, len(after), len(before))
		}
		for n := range after {
			want := before[n]
			if strings.HasSuffix(want, fmt.Sprintf("# tpot %d", i)) {
				want = fmt.Sprintf("        value: %s   # tpot %d", number(value), i)
			}
			if after[n] != want {
				t.Fatalf("round %d, line %d: got %q, want %q", round, n+1, after[n], want)
			}
		}
	}
}

func TestNewFile(t *testing.T) {
	text, err := ParseText("b.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err = text.Edit([]SpecEdit{{tpot, spec(Map{{"median_tpot_ms", bound("max", 2.3922)}})}, {Key{"serve", "b"}, Map{{"passed", true}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "# What each nightly cell is held to. Written by refresh-baselines, reviewed by people.\n# A cell without a key here is recorded and nothing more.\nversion: 1\nbaselines:\n  serve::a:\n    passed: true\n    metrics:\n      median_tpot_ms:\n        policy: max\n        value: 2.3922\n  serve::b:\n    passed: true\n"
	if d := cmp.Diff(want, string(text.Bytes())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "config", "ci", "b.yaml"), filepath.Join(dir, "link.yaml")
	if err := text.Store(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := text.Store(link); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link was replaced by a file: %v, %v", info, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNumberIsOneToEveryReader(t *testing.T) {
	tests := map[float64]string{0: "0", 2.3922: "2.3922", 1375: "1375", 1e-12: "1.0e-12", 1.5e300: "1.5e+300", -4: "-4", 3e15: "3.0e+15"}
	for v, want := range tests {
		if got := number(v); got != want {
			t.Errorf("%g: got %s, want %s", v, got, want)
		}
	}
}

// FuzzEdit edits whatever parses. An edit that is not refused says what was asked for; adding a key and
// taking it away again gives the bytes of before; lines that are not about the key stay, in their order.
func FuzzEdit(f *testing.F) {
	f.Add("version: 1\nbaselines:\n  serve::a:\n    passed: true # x\n    metrics:\n      m: {policy: max, value: 2}\n# end\n", "serve::a", "m", 2.5)
	f.Add("baselines: {serve::a: {metrics: {m: {policy: max, value: 2.0}}}, x::y: {passed: false}} # c\n", "x::z", "m", 1.0)
	f.Add("baselines: {\n  serve::a: {passed: true}, # a\n  z::z: {passed: true}  # z\n}\n", "z::z", "n", 1e-9)
	f.Add("baselines: {} # none\n", "a::b", "on", 3.0)
	f.Add("---\nbaselines:\n  'a::b': {metrics: {m: {policy: equal, value: 'it''s'}}}", "a::b", "m", 3.0)
	f.Add("baselines:\r\n  a::b:\r\n    metrics:\r\n      m:\r\n        policy: equal\r\n        value: |\r\n          x\r\n    step_time_ms: {max: 1}\r\n", "a::b", "m", 3.0)
	f.Fuzz(func(t *testing.T, source, name, metricName string, value float64) {
		key, err := ParseKey(name)
		if err != nil || value != value || value-value != 0 {
			return
		}
		text, err := ParseText("b.yaml", []byte(source))
		if err != nil {
			return
		}
		had := text.Spec(key)
		metrics, _ := had.Get("metrics").(Map)
		want := had.With("metrics", metrics.With(metricName, bound("max", value)))
		edited, err := text.Edit([]SpecEdit{{key, want}})
		if err != nil {
			return // refused, nothing written
		}
		if got := plainValue(edited.Spec(key)); !reflect.DeepEqual(got, plainValue(want)) {
			t.Errorf("got %v, want %v", got, want)
		}
		if again, err := edited.Edit([]SpecEdit{{key, want}}); err != nil || string(again.Bytes()) != string(edited.Bytes()) {
			t.Errorf("the same edit again: got %v and %q, want %q", err, again.Bytes(), edited.Bytes())
		}
		keepsComments(t, source, string(edited.Bytes()))
		if had != nil || len(text.File().Specs) == 0 || !strings.HasSuffix(source, "\n") {
			return
		}
		back, err := edited.Edit([]SpecEdit{{key, nil}})
		if err != nil || string(back.Bytes()) != source {
			t.Errorf("added and removed: got %v and %q, want %q", err, back.Bytes(), source)
		}
	})
}

// keepsComments looks for every line that is a comment and nothing else, in order. Inside a text in
// several lines a line only looks like a comment, so texts in several lines are left alone.
func keepsComments(t *testing.T, before, after string) {
	if strings.ContainsAny(before, "|>\"'") {
		return
	}
	for line := range strings.Lines(before) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		_, rest, found := strings.Cut(after, strings.TrimRight(line, "\r\n"))
		if !found {
			t.Fatalf("comment %q is gone", line)
		}
		after = rest
	}
}
