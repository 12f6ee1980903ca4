package cell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// Every fault that the simulated engine knows is tried end to end.
func TestEveryFaultIsTried(t *testing.T) {
	tried := fmt.Sprint(failing, passing, spoiling)
	for _, name := range enginesim.FaultNames() {
		if !strings.Contains(tried, name) {
			t.Errorf("no end-to-end test tries the fault %s", name)
		}
	}
}

// failing are the faults of the simulated engine that lead to a failed cell, with the failure classes that name them.
var failing = []struct {
	name   string
	config settings
	want   []string
}{
	{"death at start-up", settings{"serve_args": append(sim("die-at-start=7"), "--startup", "100ms")}, []string{"server_exited_during_startup"}},
	{"never ready", settings{"serve_args": sim("never-ready"), "ready_timeout_sec": 1}, []string{"readiness_timeout"}},
	{"start-up longer than the timeout", settings{"serve_args": append(sim(), "--startup", "30s"), "ready_timeout_sec": 1}, []string{"readiness_timeout"}},
	{"control port not bound", settings{"serve_args": sim("no-control")}, []string{"control_port_unbound"}},
	{"no token behind healthy ports", settings{"serve_args": sim("status=500")}, []string{"canary_failed"}},
	{"refused connects", settings{"serve_args": sim("refuse-connect@8..")}, []string{"served_request_shortfall", "connect_refused"}},
	{"hang in mid-stream", settings{"serve_args": sim("hang@id=bench-s1-"), "bench_timeout_sec": 3, "num_prompts": 4}, []string{"idle_timeout"}},
	{"death in mid-run", settings{"serve_args": sim("die-after=12")}, []string{"server_exited_during_run"}},
	{"error event after 200", settings{"serve_args": sim("error-event=2@p=0.5,id=bench-s0-")}, []string{"served_request_shortfall", "error_event"}},
	{"truncated stream", settings{"serve_args": sim("truncate=3@p=0.5,id=bench-s0-")}, []string{"served_request_shortfall", "truncated"}},
	{"missing usage", settings{"serve_args": sim("no-usage@id=bench-s0-")}, []string{"served_request_shortfall", "missing_usage"}},
	{"missing finish_reason", settings{"serve_args": sim("no-finish-reason@id=bench-s0-")}, []string{"served_request_shortfall", "missing_finish_reason"}},
	{"missing [DONE]", settings{"serve_args": sim("no-done@id=bench-s0-")}, []string{"served_request_shortfall", "missing_done"}},
	{"short output", settings{"serve_args": sim("short-output=3@id=bench-s1-")}, []string{"served_request_shortfall", "short_output"}},
	{"long output", settings{"serve_args": sim("long-output@id=bench-s1-")}, []string{"served_request_shortfall", "long_output"}},
	{"prompts counted longer", settings{"serve_args": sim("prompt-inflate@id=bench-s0-")}, []string{"served_request_shortfall", "prompt_length_mismatch"}},
	{"half of the requests failing", settings{"serve_args": sim("status=503@p=0.5,id=bench-"), "num_prompts": 24}, []string{"served_request_shortfall", "http_status"}},
	{"a failing warm-up step", settings{"serve_args": sim("truncate=3@id=warmup-")}, []string{"served_request_shortfall"}},
	{"connections reset", settings{"serve_args": sim("reset-connect@6..")}, []string{"served_request_shortfall"}},
	{"a step over its time", settings{"serve_args": []string{"--ttft", "5ms", "--itl", "20ms"}, "bench_timeout_sec": 1, "output_len": 256, "warmup_steps": 0},
		[]string{"bench_step_failed"}},
	{"a trial over its time", settings{"serve_args": []string{"--ttft", "5ms", "--itl", "20ms"}, "timeout_sec": 3, "ready_timeout_sec": 2, "output_len": 256, "warmup_steps": 0},
		[]string{"container_timeout"}},
	{"an engine that refuses its flags", settings{"serve_args": []string{"--no-such-flag"}}, []string{"server_exited_during_startup"}},
}

func TestFaultsThatFail(t *testing.T) {
	for _, test := range failing {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.config)
			r := b.serve()
			if r.status != 1 {
				t.Errorf("got exit status %d, want 1; stderr:\n%s", r.status, r.stderr)
			}
			c := r.cell(t, "only")
			if c.Passed() || *c.FailedCount != 1 {
				t.Errorf("got passed %v, failed_count %d, want a failed trial", c.Passed(), *c.FailedCount)
			}
			for _, class := range test.want {
				if !hasFailure(c, class) {
					t.Errorf("got failures %+v, want one of class %s", c.Failures, class)
				}
			}
			if !strings.Contains(r.stderr, test.want[0]) {
				t.Errorf("stderr does not name %s:\n%s", test.want[0], r.stderr)
			}
			b.checkNothingLeft()
		})
	}
}

// passing are what an engine may do without being wrong: other framings of the same stream, and faults that end it late.
var passing = []struct {
	name   string
	config settings
}{
	{"nothing wrong", settings{"serve_args": sim()}},
	{"CRLF framing", settings{"serve_args": sim("crlf")}},
	{"no blank after data:", settings{"serve_args": sim("no-space")}},
	{"events cut in two", settings{"serve_args": sim("split-event")}},
	{"characters cut in two", settings{"serve_args": sim("split-utf8")}},
	{"comment lines", settings{"serve_args": sim("comments")}},
	{"usage in every event", settings{"serve_args": sim("usage-every")}},
	{"an empty first event", settings{"serve_args": sim("empty-first")}},
	{"memory growth", settings{"serve_args": sim("leak=1")}},
	{"token ids refused", settings{"serve_args": sim("refuse-token-ids")}},
	{"gates that hold", settings{"serve_args": sim(), "gates": map[string]any{"max_median_tpot_ms": 1000, "min_output_throughput": 0.001}}},
	{"TERM ignored", settings{"serve_args": sim("ignore-term")}},
	{"children that outlive the parent", settings{"serve_args": sim("orphan=60s")}},
	{"open loop", settings{"serve_args": sim(), "request_rate": 200, "max_concurrency": nil}},
	{"connections accepted slowly", settings{"serve_args": sim("accept-pause=5ms")}},
	{"what chat alone shows", settings{"serve_args": sim("role-first", "reasoning")}},
}

func TestFaultsThatPass(t *testing.T) {
	for _, test := range passing {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.config)
			r := b.serve()
			r.checkPassed(t)
			b.checkNothingLeft()
		})
	}
}

// An engine that takes no token ids is sent text, and the result says so.
func TestTextPromptsAreSaid(t *testing.T) {
	t.Parallel()
	r := newBench(t, settings{"serve_args": sim("refuse-token-ids")}).serve()
	if len(r.matrix.Warnings) != 1 || !strings.Contains(r.matrix.Warnings[0], "refuses prompts of token ids") {
		t.Errorf("got warnings %q, want the refusal of token ids", r.matrix.Warnings)
	}
}

// spoiling are faults that spoil a step, with the tag that says so.
var spoiling = []struct {
	name, tag string
	step      int
	faults    []string
}{
	{"a compile in the first step", TagColdCompile, 0, []string{"compile=900ms@id=bench-s0-"}},
	{"a stall of some requests", TagAdmissionStall, 1, []string{"stall=900ms@p=0.3,id=bench-s1-"}},
	// The probes, the canary, the warm-up and step 0 take the connections before that.
	{"a full accept queue", loadgen.TagConnectStall, 1, []string{"backlog=1", "accept-pause=150ms@18.."}},
}

// Excursions are tagged and the cell passes: no key of the reference changes, and the clean extras leave the step out.
func TestExcursionsEndToEnd(t *testing.T) {
	for _, test := range spoiling {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// 20 ms between tokens keep a loaded test machine from looking like a slow engine.
			args := []string{"--ttft", "100ms", "--itl", "20ms"}
			for _, f := range test.faults {
				args = append(args, "--fault", f)
			}
			b := newBench(t, settings{"serve_args": args, "steps": 3, "num_prompts": 16, "max_concurrency": 8})
			r, disturbed := b.serveUndisturbed()
			r.checkPassed(t)
			c := r.cell(t, "only")
			if disturbed {
				return
			}
			if !hasTag(c, test.tag, test.step) {
				t.Fatalf("got tags %+v, want %s at step %d", c.Tags, test.tag, test.step)
			}
			if test.tag == loadgen.TagConnectStall {
				return // connections are dialled before a step's time begins
			}
			if c.CleanMeanStepTimeMS == nil || *c.CleanMeanStepTimeMS >= *c.MeanStepTimeMS {
				t.Errorf("got clean mean %v, want one below the mean %v", c.CleanMeanStepTimeMS, *c.MeanStepTimeMS)
			}
			if got := len(c.StepTimesMS); got != 3 {
				t.Errorf("got %d step times, want all 3", got)
			}
		})
	}
}

// A gate that is breached fails the cell; where the client was the limit, the breach says nothing.
func TestGateBreached(t *testing.T) {
	t.Parallel()
	b := newBench(t, settings{"serve_args": sim(), "gates": map[string]any{"max_median_tpot_ms": 0.1}})
	r, disturbed := b.serveUndisturbed()
	if c := r.cell(t, "only"); !hasFailure(c, ReasonGateBreached) || c.Passed() {
		t.Errorf("got failures %+v, want %s", c.Failures, ReasonGateBreached)
	}
	want := map[bool]int{false: 1, true: 4}[disturbed]
	if r.status != want {
		t.Errorf("got exit status %d, want %d; stderr:\n%s", r.status, want, r.stderr)
	}
}

// A second run against the same engine sends prompts that it has seen.
func TestWarmPrefix(t *testing.T) {
	t.Parallel()
	url := startEngine(t, "--enable-cache-report", "--ttft", "5ms", "--itl", "1ms")
	b := newBench(t, settings{"driver": "attach", "command": nil, "base_url": url, "warmup_steps": 0})
	b.serve().checkPassed(t)
	r := b.serve()
	if c := r.cell(t, "only"); !hasTag(c, "warm_prefix", 0) || !hasTag(c, "warm_prefix", 1) {
		t.Errorf("got tags %+v, want warm_prefix at both steps", c.Tags)
	}
	if engineGone(url) {
		t.Error("the attached engine was stopped")
	}
}
