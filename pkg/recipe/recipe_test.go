package recipe_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// problems returns what a loader's error holds.
func problems(t *testing.T, err error) strict.Problems {
	t.Helper()
	list, ok := err.(strict.Problems)
	if err != nil && !ok {
		t.Fatalf("got %T, want strict.Problems", err)
	}
	return list
}

// lines returns the problems of err, one a line.
func lines(t *testing.T, err error) []string {
	t.Helper()
	var out []string
	for _, p := range problems(t, err) {
		out = append(out, p.Error())
	}
	return out
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func load(t *testing.T, name string) *recipe.Recipe {
	t.Helper()
	r, err := recipe.Load(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("loading %s: %v", name, err)
	}
	return r
}

// defaults is a Serve that says nothing but the workload.
func defaults() recipe.Serve {
	return recipe.Serve{
		Driver: "docker", Command: []string{"tokenspeed"}, Client: "native", Prompt: "token_ids", Dataset: "random",
		Image: "lightseekorg/tokenspeed-amd@sha256:60c12e37c01496891053b9c30c4204e5d1cf9b4b641859d3aadcbd95bccc7c78",
		Model: "Qwen/Qwen3-0.6B", ServedModelName: "Qwen/Qwen3-0.6B", Tokenizer: "Qwen/Qwen3-0.6B",
		NumPrompts: 64, InputLen: 1024, OutputLen: 128, NumWarmups: 1, WarmupSteps: 1, IgnoreEOS: true,
		PercentileMetrics: []string{"ttft", "tpot", "itl", "e2el"}, MetricPercentiles: []float64{50, 90, 99},
		ReadyTimeout: 900 * time.Second, BenchTimeout: 1800 * time.Second, TeardownGrace: 45 * time.Second,
		GatewayStartupTimeout: 900 * time.Second, DrainTimeout: 40 * time.Second,
		Timeout: (900 + 2*1800 + 45 + 600) * time.Second,
		WorkDir: "/tmp/ts-work-serve", HFTokenEnv: "HF_TOKEN", Network: "host", ShmSize: "16g",
		RunAsCurrentUser: true, KeepWorkDir: true,
	}
}

func TestLoadSmoke(t *testing.T) {
	r := load(t, "serve-bench-smoke.yaml")
	want := defaults()
	want.InputLen, want.NumPrompts, want.MaxConcurrency, want.WarmupSteps = 512, 32, 8, 2
	want.Timeout = (900 + 5*1800 + 45 + 600) * time.Second
	want.Gates = []recipe.Gate{{Name: "max_p99_itl_ms", Metric: "p99_itl_ms", Max: true, Bound: 50}}
	for i, name := range []string{"baseline", "no-scratch-reclaim"} {
		c := r.Cells[i]
		if c.Name != name || c.Trials != 1 || c.Steps != 3 || c.Environment.Name != "local" {
			t.Errorf("cell %d: got %s, %d trials, %d steps, %v", i, c.Name, c.Trials, c.Steps, c.Environment)
		}
		if diff := cmp.Diff(&want, c.Serve); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"HSA_NO_SCRATCH_RECLAIM": "1"}, r.Cells[1].Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if len(r.Cells[0].Env) != 0 || r.Ticket != "SERVE-1" || r.Workload != recipe.Serving || r.Confound.BaselineCell != "baseline" {
		t.Errorf("got %+v", r)
	}
	if got, want := r.Cells[0].WorkloadConfig["input_len"], any(512.0); got != want {
		t.Errorf("workload_config as written: got %v, want %v", got, want)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("got warnings %v, want none", r.Warnings)
	}
}

func TestLoadLoad(t *testing.T) {
	r := load(t, "serve-load.yaml")
	want := []struct {
		name                           string
		steps, conc, prompts, isl, osl int
	}{
		{"conc-1", 3, 1, 16, 512, 128},
		{"conc-8", 3, 8, 32, 512, 128},
		{"conc-32", 3, 32, 128, 512, 128},
		{"conc-64", 12, 64, 256, 512, 128},
		{"isl-4096-osl-128", 3, 16, 64, 4096, 128},
		{"isl-128-osl-1024", 3, 16, 64, 128, 1024},
	}
	for i, w := range want {
		c := r.Cells[i]
		s := c.Serve
		if c.Name != w.name || c.Steps != w.steps || s.MaxConcurrency != w.conc || s.NumPrompts != w.prompts || s.InputLen != w.isl || s.OutputLen != w.osl {
			t.Errorf("cell %d: got %s %d %d %d %d %d, want %v", i, c.Name, c.Steps, s.MaxConcurrency, s.NumPrompts, s.InputLen, s.OutputLen, w)
		}
		if diff := cmp.Diff([]string{"--attention-backend", "triton mla"}, s.ServeArgs); diff != "" {
			t.Errorf("serve_args (-want +got):\n%s", diff)
		}
		if s.DrainTimeout != 30*time.Second {
			t.Errorf("drain timeout: got %v, want 30s", s.DrainTimeout)
		}
	}
}

func TestLoadGPTOSS(t *testing.T) {
	r := load(t, "serve-gptoss.yaml")
	c := r.Cells[1]
	image := "lightseekorg/tokenspeed-amd@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	if c.Serve.Image != image || c.Environment.Docker != image || len(c.Environment.Name) != len("_inline_")+8 {
		t.Errorf("got image %s in %v, want the environment's", c.Serve.Image, c.Environment)
	}
	if c.Serve.Model != "openai/gpt-oss-20b" || c.Serve.ServedModelName != "gpt-oss" || c.Serve.Tokenizer != "openai/gpt-oss-20b" {
		t.Errorf("got %s, %s, %s", c.Serve.Model, c.Serve.ServedModelName, c.Serve.Tokenizer)
	}
	if c.Serve.ReadyTimeout != 1800*time.Second || c.Serve.GatewayStartupTimeout != 1800*time.Second || c.Trials != 2 {
		t.Errorf("got ready %v, gateway %v, %d trials", c.Serve.ReadyTimeout, c.Serve.GatewayStartupTimeout, c.Trials)
	}
	if diff := cmp.Diff(map[string]string{"HSA_NO_SCRATCH_RECLAIM": "1", "GPU_MAX_HW_QUEUES": "4"}, c.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if r.Ticket != "" {
		t.Errorf("ticket: got %q, want none", r.Ticket)
	}
}

func TestLoadRollout(t *testing.T) {
	r := load(t, "serve-rollout-smoke.yaml")
	for i, samples := range []int{1, 4} {
		s := r.Cells[i].Serve
		want := &recipe.Rollout{Samples: samples, Temperature: 0.8, TopP: 0.95, MinMeanOutputTokens: 8}
		if diff := cmp.Diff(want, s.Rollout); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if s.IgnoreEOS || !s.SaveDetailed || s.WarmupSteps != 0 {
			t.Errorf("got ignore_eos %v, save_detailed %v, warmup_steps %d, want false, true, 0", s.IgnoreEOS, s.SaveDetailed, s.WarmupSteps)
		}
	}
}

func TestLoadProcessJSON(t *testing.T) {
	s := load(t, "process.json").Cells[0].Serve
	want := defaults()
	want.Driver, want.Command, want.Prompt, want.PromptGiven, want.VocabSize = "process", []string{"engine-sim"}, "text", true, 32000
	want.NumPrompts, want.RequestRate, want.MaxConcurrency, want.Port = 32, 12.5, 8, 18000
	want.ServeArgs = []string{"--profile", "smoke cell"}
	want.Timeout = (900 + 3*1800 + 45 + 600) * time.Second
	if diff := cmp.Diff(&want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadOtherWorkload(t *testing.T) {
	r := load(t, "training-ddp.yaml")
	if len(r.Cells) != 2 || r.Cells[0].Serve != nil || r.Cells[0].Environment.Name != "rocm-nightly" || r.Cells[1].Trials != 2 {
		t.Errorf("got %+v", r.Cells)
	}
	want := map[string]any{"hidden": 2048.0, "dtype": "bf16"}
	if diff := cmp.Diff(want, r.Cells[1].WorkloadConfig); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOwnRecipesLoad(t *testing.T) {
	paths, err := filepath.Glob("../../bench/recipes/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %v, %v, want the recipes of bench/", paths, err)
	}
	for _, path := range paths {
		r, err := recipe.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(r.Warnings) != 0 {
			t.Errorf("%s: got warnings %v, want none", path, r.Warnings)
		}
	}
}

func TestProblemOfARecipe(t *testing.T) {
	r := load(t, "serve-bench-smoke.yaml")
	if got, want := r.Problem("cells[1].name", "is %s", "odd").Error(), "testdata/serve-bench-smoke.yaml:28:11: cells[1].name: is odd"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := recipe.Load("testdata/none.yaml"); len(lines(t, err)) != 1 {
		t.Errorf("got %v, want one problem", err)
	}
}
