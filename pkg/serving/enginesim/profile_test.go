package enginesim

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

func writeProfile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseProfile(t *testing.T) {
	got, err := ParseProfile("p.yaml", []byte(`
base: smoke
startup: 2s
slow: 40
events_per_write: 1   # over the base
early_headers: false
jitter_kind: normal
fault:
  - compile@burst=3
  - status=503@p=0.5
`))
	if err != nil {
		t.Fatal(err)
	}
	want := smokeProfile()
	want.Startup, want.Slow, want.EventsPerWrite, want.EarlyHeaders, want.JitterKind = 2*time.Second, 40, 1, false, "normal"
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Profile{}, "Faults")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Faults) != 2 || got.Faults[0].String() != "compile@burst=3" {
		t.Errorf("got faults %v, want the two", got.Faults)
	}
}

func TestParseProfileErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // line:col: field: and the beginning of a message
	}{
		{"unknown key", "ttft: 1ms\nttfl: 2ms\n", []string{"2:7: ttfl: there is no such setting"}},
		{"duplicate key", "ttft: 1ms\nttft: 2ms\n", []string{"2:1: ttft"}},
		{"no unit", "ttft: 45\n", []string{`1:7: ttft: "45" is no duration`}},
		{"odd number", "seed: 0x10\n", []string{"1:7: seed"}},
		{"fraction", "tokens_per_event: 1.5\n", []string{"1:19: tokens_per_event"}},
		{"out of range", "block_size: 0\n", []string{"1:13: block_size: 0 is out of range"}},
		{"not a number", "slow: .nan\n", []string{"1:7: slow"}},
		{"yes", "prefix_cache: yes\n", []string{"1:15: prefix_cache"}},
		{"a list for a value", "ttft: [1ms]\n", []string{"1:7: ttft: it must be one value"}},
		{"a value for a list", "fault: stall\n", []string{"1:8: fault: it must be a list"}},
		{"bad fault", "fault:\n  - stall\n  - stal@1\n  - 7\n", []string{`3:5: fault[1]: there is no fault "stal"`, "4:5: fault[2]: a fault is a text"}},
		{"unknown base", "base: smok\n", []string{"1:7: base: there is no built-in profile"}},
		{"a list at the top", "- a\n", []string{"1:1"}},
		{"two documents", "seed: 1\n---\nseed: 2\n", []string{"2:1"}},
		{"several mistakes", "ttft: x\nitl: y\n", []string{"1:7: ttft", "2:6: itl"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseProfile("p.yaml", []byte(tt.text))
			var problems strict.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got error %v, want problems with places", err)
			}
			for _, want := range tt.want {
				if !slices.ContainsFunc(problems, func(p strict.Problem) bool { return strings.HasPrefix(p.Error(), "p.yaml:"+want) }) {
					t.Errorf("got %v, want one that begins %q", problems, want)
				}
			}
		})
	}
}

func TestFlagsGoOverTheProfile(t *testing.T) {
	path := writeProfile(t, "ttft: 7ms\nitl: 8ms\nfault: [no-done]\n")
	status, stdout, stderr := run(t, nil, "serve", "m", "--port", "0", "--control-port", "0", "--profile", path, "--itl", "9ms", "--fault", "crlf")
	if status != 0 {
		t.Errorf("got %d, %s, %s", status, stdout, stderr)
	}
	status, stdout, _ = run(t, nil, "serve", "m", "--profile", writeProfile(t, "itl: 9\n"))
	if status != 2 || !strings.Contains(stdout, `"line":1,"col":6,"field":"itl"`) {
		t.Errorf("got %d, %s, want 2 and the place", status, stdout)
	}
}

// TestSmokeProfile holds the schedule of the smoke profile, without the noise
// of sending it, to the figures of the reference smoke cell.
func TestSmokeProfile(t *testing.T) {
	for _, tt := range []struct {
		slow, tpotLo, tpotHi, p99Lo, p99Hi float64
	}{
		{0, 1.89, 1.91, 34, 36},
		{40, 2.64, 2.68, 47.5, 50},
	} {
		p := smokeProfile()
		p.Slow = tt.slow
		var ttfts, tpots, gaps []float64
		for n := 1; n <= 96; n++ {
			in := completion{prompt: prompt{tokens: make([]uint32, 512)}, maxTokens: 128, choices: 1, stream: true}
			var s script
			m := composer{script: &s, p: &p, c: &in, n: n, w: eventWriter{id: "i", model: "m"}}
			m.stream()
			var at []float64 // of each event, ms
			for _, w := range s.writes {
				for range w.events {
					at = append(at, float64(w.at)/1e6)
				}
			}
			if len(at) != 16 {
				t.Fatalf("got %d events, want 16", len(at))
			}
			ttfts = append(ttfts, at[0])
			tpots = append(tpots, (at[15]-at[0])/127)
			for i := range at[1:] {
				gaps = append(gaps, at[i+1]-at[i])
			}
		}
		figure := func(name string, got, lo, hi float64) {
			if got < lo || got > hi {
				t.Errorf("slow %v: got %s %.3f, want %.2f to %.2f", tt.slow, name, got, lo, hi)
			}
		}
		figure("median TTFT", stats.Percentile(stats.Sorted(ttfts), 50), 44.8, 45.2)
		figure("median TPOT", stats.Percentile(stats.Sorted(tpots), 50), tt.tpotLo, tt.tpotHi)
		figure("median ITL", stats.Percentile(stats.Sorted(gaps), 50), 0, 0.001)
		figure("p99 ITL", stats.Percentile(stats.Sorted(gaps), 99), tt.p99Lo, tt.p99Hi)
	}
}

func TestJitter(t *testing.T) {
	p := DefaultProfile()
	p.Jitter = time.Millisecond
	for kind, bounds := range map[string]struct{ lo, hi, mean time.Duration }{
		"none":    {0, 0, 0},
		"uniform": {-time.Millisecond, time.Millisecond, 0},
		"normal":  {-3 * time.Millisecond, 3 * time.Millisecond, 0},
		"late":    {0, 20 * time.Millisecond, time.Millisecond},
	} {
		p.JitterKind = kind
		var sum time.Duration
		for k := range 10000 {
			j := p.jitterOf(1, k)
			if j < bounds.lo || j > bounds.hi {
				t.Fatalf("%s: got %s, want %s to %s", kind, j, bounds.lo, bounds.hi)
			}
			if j != p.jitterOf(1, k) {
				t.Fatalf("%s: two answers for one write", kind)
			}
			sum += j
		}
		if got := sum / 10000; (got - bounds.mean).Abs() > 50*time.Microsecond {
			t.Errorf("%s: got mean %s, want %s", kind, got, bounds.mean)
		}
	}
}

// FuzzParseProfile holds that no text makes the reader fall over, and that
// whatever it takes is a profile that works.
func FuzzParseProfile(f *testing.F) {
	f.Add("base: smoke\nttft: 1ms\nfault: [stall@p=0.5]\n")
	f.Add("seed: 1\nslow: -99\n---\n")
	f.Add("fault:\n  - {a: b}\nttft:\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProfile("p.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, s := range p.settings() {
			if _, many := s.value.(faultsValue); many {
				continue
			}
			if err := s.value.Set(s.value.String()); err != nil {
				t.Errorf("%s cannot be set to its own value: %v", s.name, err)
			}
		}
	})
}
