package recipe_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// A digest is part of the fingerprint of recorded nights: when it changes for a recipe that did not,
// every bound is lost. Change these only for a reason that is worth it.
func TestDigestIsStable(t *testing.T) {
	tests := map[string]string{
		"serve-bench-smoke.yaml": "sha256:515eaba83f1dd5261cc3c142047e40fb0b241dfde1f0c3369f60cb24de9c25b6",
		"process.json":           "sha256:bf027d933a3c4a4a3c64f1b3375f43d1fa39d43bcdbee3ddbefede0e08b3a642",
		"training-ddp.yaml":      "sha256:283286d2a4401abcdf629d1005958a8d09bd9b5380798a586f0663fee2e47a82",
	}
	for name, want := range tests {
		if got := load(t, name).Digest(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

const digestBase = `schema_version: 1
ticket: T
workload: tokenspeed_serve
trials: 1
steps: 3
workload_config: {seed: 0}
cells: [{name: a, mitigations: [none]}]
`

func parse(t *testing.T, text string) *recipe.Recipe {
	t.Helper()
	r, err := recipe.Parse("f", []byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return r
}

func TestDigestFollowsTheMeasurement(t *testing.T) {
	base := parse(t, digestBase).Digest()
	config := func(keys string) string { return strings.Replace(digestBase, "{seed: 0}", "{"+keys+"}", 1) }
	same := map[string]string{
		"key order and defaults": config("dataset: random, num_prompts: 64, request_rate: inf, driver: docker"),
		"ticket":                 strings.Replace(digestBase, "ticket: T", "ticket: U", 1),
		"confound":               digestBase + "confound: {threshold: 2}\n",
		"work_dir":               config("work_dir: /scratch"),
		"keep_work_dir":          config("keep_work_dir: false"),
		"token name":             config("hf_token_env: OTHER"),
		"timeouts":               config("ready_timeout_sec: 60, bench_timeout_sec: 70, timeout_sec: 4000, teardown_grace_sec: 20, gateway_startup_timeout_sec: 9"),
		"drain":                  config("serve_args: --drain-timeout 9"),
		"ports":                  config("port: 8000, control_port: 8001"),
		"gates":                  config("gates: {max_p99_itl_ms: 1}"),
		"exported percentiles":   config("metric_percentiles: 99"),
		"tag beside the digest":  config("image: mirror.example/x:tag@sha256:60c12e37c01496891053b9c30c4204e5d1cf9b4b641859d3aadcbd95bccc7c78"),
		"scope":                  strings.Replace(strings.Replace(digestBase, "{seed: 0}", "{}", 1), "[none]", "[none], workload_config: {seed: 0}", 1),
		"comments":               "# x\n" + digestBase,
	}
	for name, text := range same {
		if got := parse(t, text).Digest(); got != base {
			t.Errorf("%s: got another digest, want the same", name)
		}
	}
	other := map[string]string{
		"warmup_steps":  config("warmup_steps: 2"),
		"num_warmups":   config("num_warmups: 2"),
		"seed":          config("seed: 1"),
		"model":         config("model: m"),
		"prompts":       config("num_prompts: 65"),
		"lengths":       config("input_len: 1"),
		"rate":          config("request_rate: 3"),
		"concurrency":   config("max_concurrency: 8"),
		"image":         config("image: x@sha256:" + strings.Repeat("1", 64)),
		"driver":        config("driver: process"),
		"command":       config("driver: process, command: [x]"),
		"attach":        config("driver: attach, base_url: 'http://h:1'"),
		"client":        config("client: engine"),
		"serve_args":    config("serve_args: [--x]"),
		"docker_args":   config("docker_args: [--init]"),
		"devices":       config("hip_visible_devices: '0'"),
		"prompt":        config("prompt: text"),
		"rollout":       config("rollout: true"),
		"network":       config("network: bridge"),
		"mitigation":    strings.Replace(digestBase, "[none]", "[hsa_no_scratch_reclaim]", 1),
		"extra_env":     strings.Replace(digestBase, "[none]", "[none], extra_env: {A: b}", 1),
		"steps":         strings.Replace(digestBase, "steps: 3", "steps: 4", 1),
		"trials":        strings.Replace(digestBase, "trials: 1", "trials: 2", 1),
		"cell's name":   strings.Replace(digestBase, "name: a", "name: b", 1),
		"another cell":  strings.Replace(digestBase, "cells: [", "cells: [{name: z, mitigations: [none]}, ", 1),
		"cell's number": strings.Replace(digestBase, "[none]", "[none], steps: 9", 1),
	}
	seen := map[string]string{base: "the base"}
	for name, text := range other {
		got := parse(t, text).Digest()
		if twin, ok := seen[got]; ok {
			t.Errorf("%s: got the digest of %s, want another", name, twin)
		}
		seen[got] = name
	}
	if a, b := parse(t, digestBase), parse(t, other["another cell"]); a.Cells[0].Digest() != b.Cell("a").Digest() {
		t.Error("a cell's digest changed with another cell, want it of its own")
	}
}

// What the files of testdata do not use.
var otherConfigs = []string{
	"driver: attach, base_url: 'http://127.0.0.1:8000/', control_url: 'http://127.0.0.1:8001'",
	"client: engine, bench_args: --burstiness 2, docker_args: [-it, --cpuset-cpus, 0-3], hf_home: /hf, hip_visible_devices: '0,1'",
	"dataset: sharegpt, dataset_path: d.json, ignore_eos: false, request_rate: 1e-3, port: 8000, shm_size: 64m",
	"gates: {max_median_ttft_ms: 1.5, min_request_throughput: 2}, model: 'on', tokenizer: '017', serve_args: ['', 'a: b', '#']",
}

func TestResolvedLoadsToTheSame(t *testing.T) {
	for _, keys := range otherConfigs {
		r := parse(t, strings.Replace(digestBase, "seed: 0", keys, 1))
		text, err := r.Resolved()
		if err != nil {
			t.Fatal(err)
		}
		again := parse(t, string(text))
		if diff := cmp.Diff(r.Cells[0].Serve, again.Cells[0].Serve, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", keys, diff)
		}
		if len(again.Warnings) != 0 {
			t.Errorf("%s: the resolved recipe warns: %v", keys, again.Warnings)
		}
	}
	for _, name := range []string{"serve-bench-smoke.yaml", "serve-load.yaml", "serve-gptoss.yaml", "serve-rollout-smoke.yaml", "training-ddp.yaml", "process.json"} {
		t.Run(name, func(t *testing.T) {
			r := load(t, name)
			text, err := r.Resolved()
			if err != nil {
				t.Fatal(err)
			}
			again, err := recipe.Parse("recipe.resolved.yaml", text)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			ignore := cmp.Options{cmpopts.IgnoreUnexported(recipe.Recipe{}), cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(recipe.Recipe{}, "Path", "SHA256", "WorkloadConfig"), cmpopts.IgnoreFields(recipe.Cell{}, "WorkloadConfig")}
			if diff := cmp.Diff(r, again, ignore); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again.Digest() != r.Digest() {
				t.Error("got another digest, want the same")
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	r := parse(t, `schema_version: 1
workload: tokenspeed_serve
trials: 1
steps: 1
workload_config:
  driver: process
  shm_size: 8g
  max_concurrency: 100
cells:
  - {name: a, mitigations: [hsa_no_scratch_reclaim], extra_env: {HSA_NO_SCRATCH_RECLAIM: "0"}}
  - {name: b, mitigations: [none], workload_config: {dataset: sharegpt, dataset_path: d.json, input_len: 5, num_prompts: 200}}
`)
	want := []string{
		"10:90: cells[0].extra_env.HSA_NO_SCRATCH_RECLAIM: replaces the 1 of mitigation hsa_no_scratch_reclaim",
		"8:20: workload_config.max_concurrency: is more than num_prompts (64), so it is never reached",
		"7:13: workload_config.shm_size: has no effect with driver process",
		"11:106: cells[1].workload_config.input_len: has no effect: the lengths of dataset sharegpt are its own",
	}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := r.Cells[0].Env["HSA_NO_SCRATCH_RECLAIM"]; got != "0" {
		t.Errorf("extra_env: got %s, want it to win", got)
	}
}

func TestGateBreached(t *testing.T) {
	high, low := recipe.Gate{Max: true, Bound: 2}, recipe.Gate{Bound: 2}
	nan := 0.0
	nan /= nan
	for _, tt := range []struct {
		gate     recipe.Gate
		observed float64
		want     bool
	}{{high, 2, false}, {high, 2.1, true}, {high, nan, true}, {low, 2, false}, {low, 1.9, true}, {low, nan, true}} {
		if got := tt.gate.Breached(tt.observed); got != tt.want {
			t.Errorf("%+v of %v: got %v, want %v", tt.gate, tt.observed, got, tt.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"serve-bench-smoke.yaml", "serve-load.yaml", "serve-gptoss.yaml", "serve-rollout-smoke.yaml", "training-ddp.yaml"} {
		f.Add(read(f, name))
	}
	f.Add([]byte(digestBase))
	f.Add([]byte("schema_version: 1\nworkload: tokenspeed_serve\ntrials: 1\nsteps: 1\nworkload_config: {serve_args: \"a 'b c' \\\"d\\\"\", driver: process, request_rate: 1e-3}\ncells: [{name: a, mitigations: [none], extra_env: {A: 'on', B: '017'}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := recipe.Parse("f.yaml", data)
		if err != nil {
			for _, p := range problems(t, err) {
				if p.Path != "f.yaml" || p.Line < 1 || p.Message == "" || p.Rule == "" {
					t.Errorf("problem without a place or a rule: %#v", p)
				}
			}
			return
		}
		text, err := r.Resolved()
		if err != nil {
			t.Fatal(err)
		}
		again, err := recipe.Parse("g.yaml", text)
		if err != nil {
			t.Fatalf("the resolved recipe does not load: %v\n%s", err, text)
		}
		if again.Digest() != r.Digest() {
			t.Errorf("got another digest for\n%s", text)
		}
	})
}
