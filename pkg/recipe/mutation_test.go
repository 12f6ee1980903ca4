package recipe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// One bad value a key of workload_config: exactly that problem, at its place.
func TestWorkloadConfigRefuses(t *testing.T) {
	const recipeText = `schema_version: 1
workload: tokenspeed_serve
trials: 1
steps: 3
cells:
  - {name: a, mitigations: [none]}
workload_config:
  %s
`
	tests := []struct{ line, want string }{ // want: "COLUMN: FIELD: MESSAGE [RULE]", on line 8
		{"num_prompt: 32", "3: num_prompt: unknown key [unknown-key]"},
		{"steps: 3", "10: steps: steps is not a key of workload_config [reserved]"},
		{"_aorta_x: 3", "3: _aorta_x: unknown key [unknown-key]"},
		{"model: ~", "10: model: must have a value, not null [type]"},
		{"model:", "9: model: must have a value, not null [type]"},
		{"driver: podman", `11: driver: "podman" is not known [unknown-name]`},
		{"command: [engine-sim]", "12: command: command is for driver process; this cell's is docker [conflict]"},
		{"{driver: process, command: []}", "30: command: must not be empty [range]"},
		{"base_url: http://127.0.0.1:8000", "13: base_url: base_url is for driver attach; this cell's is docker [conflict]"},
		{"control_url: http://127.0.0.1:8001", "16: control_url: control_url is for driver attach; this cell's is docker [conflict]"},
		{"driver: attach", "3: base_url: driver attach needs base_url [missing-key]"},
		{"{driver: attach, base_url: localhost:8000}", `30: base_url: "localhost:8000" is not the address of an engine [range]`},
		{"{driver: attach, base_url: 'http://me:secret@h:1'}", `30: base_url: "http://me:secret@h:1" is not the address of an engine [range]`},
		{"{driver: attach, base_url: 'http://h:1', serve_args: [--x]}", "56: serve_args: driver attach starts no engine that could be given arguments [conflict]"},
		{"{driver: process, docker_args: [--init]}", "34: docker_args: docker_args is for driver docker; this cell's is process [conflict]"},
		{"client: wrk", `11: client: "wrk" is not known [unknown-name]`},
		{"prompt: words", `11: prompt: "words" is not known [unknown-name]`},
		{"vocab_size: 1", "15: vocab_size: must be 2 to 2147483647, not 1 [range]"},
		{"image: lightseekorg/tokenspeed-amd:nightly-20260714", `10: image: image "lightseekorg/tokenspeed-amd:nightly-20260714" is not given by digest: a tag can name another engine tomorrow [digest]`},
		{"image: x@sha256:12", `10: image: image "x@sha256:12" is not given by digest: a tag can name another engine tomorrow [digest]`},
		{"model: 12", "10: model: must be text, not 12 [type]"},
		{`model: ""`, "10: model: must not be empty [range]"},
		{`model: "a\0b"`, "10: model: holds a control character [range]"},
		{"served_model_name: [a]", "22: served_model_name: must be text, not a list [type]"},
		{"tokenizer: true", "14: tokenizer: must be text, not true [type]"},
		{"dataset: shakespeare", `12: dataset: "shakespeare" is not known [unknown-name]`},
		{"dataset: sharegpt", "3: dataset_path: dataset sharegpt needs dataset_path [missing-key]"},
		{"dataset_path: d.json", "17: dataset_path: dataset random reads no file [conflict]"},
		{"num_prompts: 0", "16: num_prompts: must be 1 to 100000000, not 0 [range]"},
		{"num_prompts: true", "16: num_prompts: must be an integer, not true [type]"},
		{"num_prompts: 32.0", "16: num_prompts: must be an integer, not 32.0 [number]"},
		{`num_prompts: "032"`, `16: num_prompts: must be an integer, not text "032" [number]`},
		{"num_prompts: 1_000", "16: num_prompts: must be an integer, not 1_000 [number]"},
		{"input_len: -1", "14: input_len: must be 1 to 100000000, not -1 [range]"},
		{"output_len: 0", "15: output_len: must be 1 to 100000000, not 0 [range]"},
		{"max_concurrency: 0", "20: max_concurrency: must be 1 to 1000000, not 0 [range]"},
		{"request_rate: 0", "17: request_rate: must be above 0, not 0 [range]"},
		{"request_rate: .inf", `17: request_rate: must be a number or "inf", not .inf [number]`},
		{"request_rate: NaN", `17: request_rate: must be a number or "inf", not text "NaN" [number]`},
		{"request_rate: true", `17: request_rate: must be a number or "inf", not true [number]`},
		{"request_rate: 1e999", "17: request_rate: 1e999 is out of range [number]"},
		{"request_rate: '10'", `17: request_rate: must be a number or "inf", not text "10" [number]`},
		{"num_warmups: -1", "16: num_warmups: must be 0 to 1000000, not -1 [range]"},
		{"warmup_steps: -1", "17: warmup_steps: must be 0 to 1000000, not -1 [range]"},
		{"ignore_eos: yes", "15: ignore_eos: must be true or false, not yes [type]"},
		{"ignore_eos: false", "15: ignore_eos: dataset random always ignores the end of sequence, so that every answer has output_len tokens [conflict]"},
		{"seed: -1", "9: seed: must be 0 to 9223372036854775807, not -1 [range]"},
		{"seed: 9223372036854775808", "9: seed: 9223372036854775808 does not fit in 64 bits [number]"},
		{"percentile_metrics: ttft,tbt", `23: percentile_metrics: metric "tbt" is not known [unknown-name]`},
		{"percentile_metrics: ttft,", `23: percentile_metrics: metric "" is not known [unknown-name]`},
		{"percentile_metrics: ttft,ttft", `23: percentile_metrics: metric "ttft" is listed twice [duplicate-name]`},
		{"metric_percentiles: 50,100", `23: metric_percentiles: "100" is not a percentile [range]`},
		{"metric_percentiles: 0", `23: metric_percentiles: "0" is not a percentile [range]`},
		{"metric_percentiles: 50,,99", `23: metric_percentiles: "" is not a percentile [range]`},
		{"metric_percentiles: 5e1", `23: metric_percentiles: "5e1" is not a percentile [range]`},
		{"metric_percentiles: [50]", "23: metric_percentiles: must be a list of percentiles, not a list [type]"},
		{"save_detailed: 1", "18: save_detailed: must be true or false, not 1 [type]"},
		{"rollout: on", "12: rollout: must be true or false, not on [type]"},
		{"rollout_samples: 4", "20: rollout_samples: rollout_samples is for rollout only [conflict]"},
		{"temperature: 1", "16: temperature: temperature is for rollout only [conflict]"},
		{"top_p: 1", "10: top_p: top_p is for rollout only [conflict]"},
		{"min_mean_output_tokens: 8", "27: min_mean_output_tokens: min_mean_output_tokens is for rollout only [conflict]"},
		{"{rollout: true, rollout_samples: 1025}", "36: rollout_samples: must be 1 to 1024, not 1025 [range]"},
		{"{rollout: true, temperature: 0}", "32: temperature: must be above 0 and at most 2, not 0 [range]"},
		{"{rollout: true, top_p: 1.5}", "26: top_p: must be above 0 and at most 1, not 1.5 [range]"},
		{"{rollout: true, ignore_eos: true}", "31: ignore_eos: rollout generates to the end of sequence [conflict]"},
		{"{rollout: true, client: engine, bench_args: [--extra-body, x]}", "48: bench_args[0]: --extra-body is set from the recipe's own keys [reserved]"},
		{"ready_timeout_sec: 86401", "22: ready_timeout_sec: must be 1 to 86400, not 86401 [range]"},
		{"bench_timeout_sec: 0", "22: bench_timeout_sec: must be 1 to 31622400, not 0 [range]"},
		{"teardown_grace_sec: 4", "23: teardown_grace_sec: must be 5 to 3600, not 4 [range]"},
		{"gateway_startup_timeout_sec: 0", "32: gateway_startup_timeout_sec: must be 1 to 31622400, not 0 [range]"},
		{"timeout_sec: 900", "16: timeout_sec: must be more than ready_timeout_sec (900), not 900 [conflict]"},
		{"serve_args: {a: 1}", "15: serve_args: must be a list of arguments, not a mapping [type]"},
		{"serve_args: [1]", "16: serve_args[0]: must be text, not 1 [type]"},
		{`serve_args: ["a\0b"]`, "15: serve_args: holds a NUL character, which no program can be given [range]"},
		{`serve_args: "--x 'a"`, "15: serve_args: cannot be split into words: 1:5: reached EOF without closing quote `'` [range]"},
		{"serve_args: --x $HOME", "15: serve_args: $, ` and other expansions are not done here [range]"},
		{"serve_args: '--x a # b'", "15: serve_args: # starts a comment here [range]"},
		{"serve_args: [--x, --port, '1']", "21: serve_args[1]: --port is set from the recipe's own keys [reserved]"},
		{"serve_args: --port=1", "15: serve_args: --port is set from the recipe's own keys [reserved]"},
		{"serve_args: [--hos, x]", "16: serve_args[0]: --hos may stand for --host, which is set from the recipe's own keys [reserved]"},
		{"serve_args: [--drain, '1']", "16: serve_args[0]: --drain may stand for --drain-timeout, which is set from the recipe's own keys [reserved]"},
		{"serve_args: [--drain-timeout, '45']", `16: serve_args[0]: --drain-timeout must be 1 to 44 seconds, less than teardown_grace_sec, not "45" [reserved]`},
		{"serve_args: [--drain-timeout=x]", `16: serve_args[0]: --drain-timeout must be 1 to 44 seconds, less than teardown_grace_sec, not "x" [reserved]`},
		{"serve_args: [--drain-timeout]", `16: serve_args[0]: --drain-timeout must be 1 to 44 seconds, less than teardown_grace_sec, not "" [reserved]`},
		{"serve_args: --drain-timeout 3 --drain-timeout 4", "15: serve_args: --drain-timeout is given twice [reserved]"},
		{"bench_args: [--burstiness, '2']", "15: bench_args: bench_args are for the engine's own bench command, which client native does not run [conflict]"},
		{"{client: engine, bench_args: [--see, '2']}", "33: bench_args[0]: --see may stand for --seed, which is set from the recipe's own keys [reserved]"},
		{"docker_args: [-dit]", "17: docker_args[0]: -d is set by the docker driver [reserved]"},
		{"docker_args: -e HF_TOKEN", "16: docker_args: variable HF_TOKEN is protected: it is a secret; hf_token_env names it, and its value comes from the host [reserved]"},
		{"work_dir: 1", "13: work_dir: must be text, not 1 [type]"},
		{"hf_home: ''", "12: hf_home: must not be empty [range]"},
		{"hf_token_env: hf_abc-123", "17: hf_token_env: is not the name of a variable [range]"},
		{"hf_token_env: hf_AbCdEfGhIjKlMnOpQrStUvWxYz", "17: hf_token_env: is not the name of a variable [range]"},
		{"hf_offline: 'true'", `15: hf_offline: must be true or false, not text "true" [type]`},
		{"network: false", "12: network: must be text, not false [type]"},
		{"port: 80", "9: port: must be 1024 to 65535, not 80 [range]"},
		{"port: 0", "9: port: must be 1024 to 65535, not 0 [range]"},
		{"port: 8000.0", "9: port: must be an integer, not 8000.0 [number]"},
		{"port: any", `9: port: must be an integer, not text "any" [number]`},
		{"{port: 8000, control_port: 8000}", "30: control_port: must differ from port, which is 8000 too [conflict]"},
		{"shm_size: 16 gigabytes", `13: shm_size: "16 gigabytes" is not a size [range]`},
		{"hip_visible_devices: 0", "24: hip_visible_devices: must be text, not 0 [type]"},
		{"exclusive_gpus: no", "19: exclusive_gpus: must be true or false, not no [type]"},
		{"run_as_current_user: 0", "24: run_as_current_user: must be true or false, not 0 [type]"},
		{"keep_work_dir: null", "18: keep_work_dir: must have a value, not null [type]"},
		{"gates: {max_p99_ttft: 1}", "11: gates.max_p99_ttft: unknown key [unknown-key]"},
		{"gates: {max_p99_ttft_ms: 0}", "28: gates.max_p99_ttft_ms: must be above 0, not 0 [range]"},
		{"gates: {max_p99_ttft_ms: true}", "28: gates.max_p99_ttft_ms: must be a number, not true [type]"},
		{"gates: {max_p99_ttft_ms: .inf}", "28: gates.max_p99_ttft_ms: must be a number, not .inf [number]"},
		{"gates: [max_p99_ttft_ms]", "10: gates: must be a mapping, not a list [type]"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			_, err := recipe.Parse("f", fmt.Appendf(nil, recipeText, tt.line))
			column, rest, _ := strings.Cut(tt.want, ": ")
			scope := "workload_config."
			got := lines(t, err)
			want := []string{fmt.Sprintf("f:8:%s: %s%s", column, scope, rest)}
			for i := range got { // what is absent everywhere is asked for in the cell
				got[i] = strings.Replace(got[i], "f:6:5: cells[0].workload_config.", "f:8:3: workload_config.", 1)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// One bad value of the rest.
func TestRecipeRefuses(t *testing.T) {
	const good = `schema_version: 1
ticket: T-1
workload: tokenspeed_serve
trials: 1
steps: 3
confound: {threshold: 1.2, baseline_cell: a}
workload_config: {model: m}
cells:
  - name: a
    mitigations: [none]
    environment: local
    extra_env: {A: "1"}
  - name: b
    mitigations: [hsa_no_scratch_reclaim]
    trials: 2
    steps: 5
    workload_config: {seed: 7}
`
	if _, err := recipe.Parse("f", []byte(good)); err != nil {
		t.Fatalf("the recipe that is mutated: %v", err)
	}
	tests := []struct {
		name, old, new string
		want           []string
	}{
		{"schema version", "schema_version: 1", "schema_version: 2", []string{"f:1:17: schema_version: must be 1, not 2 [range]"}},
		{"schema version true", "schema_version: 1", "schema_version: true", []string{"f:1:17: schema_version: must be an integer, not true [type]"}},
		{"no schema version", "schema_version: 1\n", "", []string{"f:1:1: key schema_version is missing [missing-key]"}},
		{"unknown key", "trials: 1", "trails: 1", []string{"f:1:1: key trials is missing [missing-key]", "f:4:1: trails: unknown key [unknown-key]"}},
		{"probe", "trials: 1", "mode: probe\nmitigation_axis: [x]", []string{"f:4:7: mode: probe recipes are refused: their cells carry a verdict of their own and no metrics to gate [refused]"}},
		{"other mode", "trials: 1", "mode: fast\ntrials: 1", []string{`f:4:7: mode: mode "fast" is refused: only triage recipes are run [refused]`}},
		{"stop_after", "trials: 1", "stop_after: {events: 1}\ntrials: 1", []string{"f:4:13: stop_after: stop_after is refused: every cell runs all of its trials, so that nights compare [refused]"}},
		{"save_logs", "trials: 1", "save_logs: true\ntrials: 1", []string{"f:4:12: save_logs: save_logs is refused: engine logs are always kept beside the results [refused]"}},
		{"ticket leaves its folder", "T-1", "../x", []string{`f:2:9: ticket: "../x" cannot be the name of a folder [range]`}},
		{"ticket is a number", "T-1", "17", []string{"f:2:9: ticket: must be text, not 17 [type]"}},
		{"workload leaves its folder", "tokenspeed_serve", "a/b", []string{`f:3:11: workload: "a/b" cannot be the name of a folder [range]`}},
		{"trials", "trials: 1\n", "trials: 0\n", []string{"f:4:9: trials: must be 1 to 1000000, not 0 [range]"}},
		{"steps", "steps: 3\n", "steps: 1.5\n", []string{"f:5:8: steps: must be an integer, not 1.5 [number]"}},
		{"threshold", "1.2", "-1", []string{"f:6:23: confound.threshold: must be above 0, not -1 [range]"}},
		{"threshold NaN", "1.2", ".nan", []string{"f:6:23: confound.threshold: must be a number, not .nan [number]"}},
		{"baseline cell", "baseline_cell: a", "baseline_cell: c", []string{`f:6:43: confound.baseline_cell: there is no cell "c" [unknown-name]`}},
		{"confound key", "threshold: 1.2", "treshold: 1.2", []string{"f:6:12: confound.treshold: unknown key [unknown-key]"}},
		{"workload_config is a list", "{model: m}", "[model]", []string{"f:7:18: workload_config: must be a mapping, not a list [type]"}},
		{"cell name", "name: b", "name: -b", []string{`f:13:11: cells[1].name: "-b" cannot be the name of a cell [range]`}},
		{"cell name is a path", "name: b", "name: ../b", []string{`f:13:11: cells[1].name: "../b" cannot be the name of a cell [range]`}},
		{"cell name is a file", "name: b", "name: matrix.json", []string{`f:13:11: cells[1].name: "matrix.json" cannot be the name of a cell [range]`}},
		{"cell name is dots", "name: b", "name: ..", []string{`f:13:11: cells[1].name: ".." cannot be the name of a cell [range]`}},
		{"cell name twice", "name: b", "name: a", []string{"f:13:11: cells[1].name: cells[0] is named a too [duplicate-name]"}},
		{"no mitigations", "    mitigations: [none]\n", "", []string{"f:9:5: cells[0]: key mitigations is missing [missing-key]"}},
		{"empty mitigations", "[none]", "[]", []string{"f:10:18: cells[0].mitigations: must not be empty [range]"}},
		{"mitigations as text", "[none]", "none", []string{`f:10:18: cells[0].mitigations: must be a list, not text "none" [type]`}},
		{"unknown mitigation", "[none]", "[nope]", []string{`f:10:19: cells[0].mitigations[0]: mitigation "nope" is not known [unknown-name]`}},
		{"mitigation twice", "[hsa_no_scratch_reclaim]", "[hsa_no_scratch_reclaim, hsa_no_scratch_reclaim]", []string{"f:14:43: cells[1].mitigations[1]: hsa_no_scratch_reclaim is listed twice [duplicate-name]"}},
		{"none and more", "[hsa_no_scratch_reclaim]", "[none, hsa_no_scratch_reclaim]", []string{"f:14:19: cells[1].mitigations[0]: none stands beside other mitigations [conflict]"}},
		{"unknown environment", "environment: local", "environment: rocm", []string{`f:11:18: cells[0].environment: environment "rocm" is not known [unknown-name]`}},
		{"environment by tag", "environment: local", "environment: {docker: 'a:b'}", []string{`f:11:27: cells[0].environment.docker: image "a:b" is not given by digest: a tag can name another engine tomorrow [digest]`}},
		{"environment key", "environment: local", "environment: {dokcer: a}", []string{"f:11:18: cells[0].environment: key docker is missing [missing-key]", "f:11:19: cells[0].environment.dokcer: unknown key [unknown-key]"}},
		{"environment number", "environment: local", "environment: 3", []string{"f:11:18: cells[0].environment: must be a name or a mapping, not 3 [type]"}},
		{"environment null", "environment: local", "environment: {docker: ~}", []string{"f:11:27: cells[0].environment.docker: must have a value, not null [missing-key]"}},
		{"extra_env value", `A: "1"`, "A: 1", []string{"f:12:20: cells[0].extra_env.A: must be text, not 1 [type]"}},
		{"extra_env name", `A: "1"`, `A-B: "1"`, []string{`f:12:22: cells[0].extra_env.A-B: "A-B" is no name for a variable [range]`}},
		{"extra_env NUL", `A: "1"`, `A: "\0"`, []string{"f:12:20: cells[0].extra_env.A: holds a NUL character [range]"}},
		{"extra_env protocol", `A: "1"`, `TS_MODEL: "1"`, []string{"f:12:27: cells[0].extra_env.TS_MODEL: variable TS_MODEL is protected: variables TS_… belong to the protocol between runner and engine [reserved]"}},
		{"extra_env secret", `A: "1"`, `HF_TOKEN: "1"`, []string{"f:12:27: cells[0].extra_env.HF_TOKEN: variable HF_TOKEN is protected: it is a secret; hf_token_env names it, and its value comes from the host [reserved]"}},
		{"extra_env owned", `A: "1"`, `HOME: "1"`, []string{"f:12:23: cells[0].extra_env.HOME: variable HOME is protected: it is set for every engine [reserved]"}},
		{"cell trials", "trials: 2", "trials: 0", []string{"f:15:13: cells[1].trials: must be 1 to 1000000, not 0 [range]"}},
		{"cell steps", "steps: 5", "steps: '0'", []string{"f:16:12: cells[1].steps: must be 1 to 1000000, not 0 [range]"}},
		{"cell key", "trials: 2", "trial: 2", []string{"f:15:5: cells[1].trial: unknown key [unknown-key]"}},
		{"cell scope value", "seed: 7", "seed: -7", []string{"f:17:29: cells[1].workload_config.seed: must be 0 to 9223372036854775807, not -7 [range]"}},
		{"cell scope null", "seed: 7", "seed: ~", []string{"f:17:29: cells[1].workload_config.seed: must have a value, not null [type]"}},
		{"cell scope breaks recipe scope", "seed: 7", "timeout_sec: 10", []string{"f:17:36: cells[1].workload_config.timeout_sec: must be more than ready_timeout_sec (900), not 10 [conflict]"}},
		{"attach with variables", "seed: 7", "driver: attach, base_url: 'http://h:1'", []string{"f:13:5: cells[1]: driver attach cannot set variables (HSA_NO_SCRATCH_RECLAIM) for an engine that runs already [conflict]"}},
		{"image with process", "environment: local", "workload_config: {driver: process}\n    environment: {docker: 'a:b'}", []string{"f:12:18: cells[0].environment: an image is for driver docker; this cell's is process [conflict]"}},
		{"second document", "schema_version: 1", "---\nschema_version: 1\n---\na: 1\n", []string{"f:3:1: a second document starts here [trailing-data]"}},
		{"several at once", "trials: 1\nsteps: 3\n", "trials: x\nsteps: 0\nmore: 1\n", []string{
			`f:4:9: trials: must be an integer, not text "x" [number]`,
			"f:5:8: steps: must be 1 to 1000000, not 0 [range]",
			"f:6:1: more: unknown key [unknown-key]",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(good, tt.old, tt.new, 1)
			if text == good {
				t.Fatalf("%q is not in the recipe", tt.old)
			}
			_, err := recipe.Parse("f", []byte(text))
			if diff := cmp.Diff(tt.want, lines(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
