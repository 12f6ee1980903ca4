package baseline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/metric"
	"github.com/google/go-cmp/cmp"
)

const armed = `version: 1
baselines:
  tokenspeed_serve_smoke::baseline:
    passed: true
    step_time_ms: {max: 1461.88}
    metrics:
      p99_itl_ms: {policy: max, value: 44.287, required: false}
      median_tpot_ms:
        value: 2.3922
        provenance:
          rule: extremum
          margin: 0.25
          fingerprint: {engine_digest: "sha256:60c1"}
          nights: [{run: 900, attempt: 1, sha256: ab, value: 1.9138}]
          first_blessed: 1.9138
  tokenspeed_serve_smoke::no-scratch-reclaim: {}
`

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baselines.yaml")
	if err := os.WriteFile(path, []byte(armed), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := baseline.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &baseline.Spec{
		Passed:   true,
		StepTime: &baseline.StepTime{Max: 1461.88},
		Bounds: []baseline.Bound{
			{Metric: "p99_itl_ms", Policy: metric.Max, Value: 44.287},
			{Metric: "median_tpot_ms", Policy: metric.Max, Value: 2.3922, Required: true, Provenance: &baseline.Provenance{
				Rule: "extremum", Margin: new(0.25), Fingerprint: map[string]string{"engine_digest": "sha256:60c1"},
				Nights: []baseline.Night{{Run: 900, Attempt: 1, SHA256: "ab", Value: 1.9138}}, FirstBlessed: 1.9138,
			}},
		},
	}
	if d := cmp.Diff(want, f.Specs[baseline.Key{Entry: "tokenspeed_serve_smoke", Cell: "baseline"}]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"baseline", "no-scratch-reclaim"}, f.Cells("tokenspeed_serve_smoke")); d != "" {
		t.Errorf("cells (-want +got):\n%s", d)
	}
	if got := f.Cells("tokenspeed"); got != nil {
		t.Errorf("got cells %v for an entry that is not there", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "the file is empty"},
		"a list":             {"- a\n", "b.yaml:1:1: must be a mapping, not a list"},
		"no baselines":       {"version: 1\n", "key baselines is missing"},
		"null baselines":     {"baselines:\n", "baselines: must have a value, not null"},
		"version 2":          {"version: 2\nbaselines: {}\n", "b.yaml:1:10: version: version 2 is not known"},
		"unknown top key":    {"baseline: {}\nbaselines: {}\n", "baseline: unknown key"},
		"null spec":          {"baselines:\n  a::b:\n", `baselines["a::b"]: is null, which guards nothing`},
		"unknown spec key":   {"baselines:\n  a::b: {metric: {}}\n", `b.yaml:2:10: baselines["a::b"].metric: unknown key`},
		"null step time":     {"baselines: {a::b: {step_time_ms: }}\n", `step_time_ms: is null`},
		"step time, no max":  {"baselines: {a::b: {step_time_ms: {}}}\n", `step_time_ms: key max is missing`},
		"null metrics":       {"baselines: {a::b: {metrics: }}\n", `metrics: must be a mapping`},
		"null metric":        {"baselines: {a::b: {metrics: {p99_itl_ms: }}}\n", `metrics.p99_itl_ms: is null`},
		"null value":         {"baselines: {a::b: {metrics: {p99_itl_ms: {value: }}}}\n", `value: must have a value, not null`},
		"null policy":        {"baselines: {a::b: {metrics: {p99_itl_ms: {policy: , value: 1}}}}\n", "p99_itl_ms has no policy of its own"},
		"null required":      {"baselines: {a::b: {metrics: {p99_itl_ms: {required: , value: 1}}}}\n", "required: is null"},
		"no known policy":    {"baselines: {a::b: {metrics: {kv_hits: {value: 1}}}}\n", "metric kv_hits has no policy of its own"},
		"policy word":        {"baselines: {a::b: {metrics: {kv_hits: {policy: le, value: 1}}}}\n", `unknown policy "le"`},
		"on for passed":      {"baselines: {a::b: {passed: on}}\n", "passed: must be true or false"},
		"text for passed":    {"baselines: {a::b: {passed: 'true'}}\n", "passed: must be true or false"},
		"hex bound":          {"baselines: {a::b: {metrics: {p99_itl_ms: {value: 0x1F}}}}\n", "value: readers of YAML disagree"},
		"underscore":         {"baselines: {a::b: {step_time_ms: {max: 1_000}}}\n", "max: must be a number"},
		"infinite":           {"baselines: {a::b: {step_time_ms: {max: .inf}}}\n", "max: must be a number"},
		"boolean bound":      {"baselines: {a::b: {metrics: {p99_itl_ms: {value: true}}}}\n", "a max bound must be a number, not true"},
		"list for checksum":  {"baselines: {a::b: {metrics: {checksum: {value: [1]}}}}\n", "is no single value"},
		"duplicate key":      {"baselines:\n  a::b: {}\n  c::d: {}\n  a::b: {}\n", "duplicate key, first on line 2"},
		"duplicate, quoted":  {"baselines:\n  a::b: {}\n  'a::b': {}\n", "duplicate key, first on line 2"},
		"alias":              {"baselines: {a::b: &x {}, c::d: *x}\n", "b.yaml:1"},
		"no cell":            {"baselines: {serve: {}}\n", `"serve" is no key: write entry::cell`},
		"ambiguous key":      {"baselines: {a::b::c: {}}\n", `"b::c" is no usable name`},
		"unknown provenance": {"baselines: {a::b: {step_time_ms: {max: 1, provenance: {why: x}}}}\n", "why: unknown key"},
		"two documents":      {"baselines: {}\n---\nbaselines: {}\n", "b.yaml:2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := baseline.Parse("b.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "b.yaml:") {
				t.Errorf("got %v, want %q with its place", err, c.want)
			}
		})
	}
}

func TestEveryProblemIsTold(t *testing.T) {
	_, err := baseline.Parse("b.yaml", []byte("baselines:\n  a::b:\n  nokey: {}\n  c::d: {metrics: {kv_hits: {value: 1}}}\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v, want three problems", err)
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]baseline.Key{
		"serve::a":     {Entry: "serve", Cell: "a"},
		"s_1::isl-4.0": {Entry: "s_1", Cell: "isl-4.0"},
	} {
		got, err := baseline.ParseKey(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "::", "a", "a:b", "::b", "a::", "a::b::c", "a:::b", "../x::c", "a::../c", "a b::c", "a::c\n", "a/b::c", ".a::b", "-a::b", "ä::b",
		strings.Repeat("a", 101) + "::b",
	} {
		if got, err := baseline.ParseKey(text); err == nil {
			t.Errorf("%q: got %+v, want a refusal", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(armed))
	f.Add([]byte("baselines: {a::b: {metrics: {checksum: {value: 123456789012345678901}}}}"))
	f.Add([]byte("baselines: {a::b: null, c: {}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := baseline.Parse("b.yaml", text)
		if err != nil {
			return
		}
		for key, spec := range file.Specs {
			if again, err := baseline.ParseKey(key.String()); err != nil || again != key {
				t.Errorf("key %q: got %v, %v", key, again, err)
			}
			if spec == nil {
				t.Errorf("key %q: no spec and no problem", key)
			}
		}
	})
}
