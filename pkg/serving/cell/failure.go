package cell

import (
	"errors"
	"fmt"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// The reasons of failures that this package finds. The reference's names where it has one; those of the engine's life
// cycle are in package engine, those of single requests are the load generator's classes.
const (
	ReasonTimeout         = "container_timeout"        // the whole trial took longer than timeout_sec
	ReasonCanary          = "canary_failed"            // the ports answer, and no token comes
	ReasonBenchStep       = "bench_step_failed"        // a step could not be run to its end
	ReasonShortfall       = "served_request_shortfall" // requests failed or were not completed
	ReasonExport          = "result_json_unusable"     // a required metric is missing, not finite or not above 0
	ReasonIncomplete      = "incomplete_steps"         // fewer steps than configured
	ReasonNoExport        = "no_bench_export"          // no step at all
	ReasonGateMissing     = "gate_metric_missing"      // a gated metric was not measured
	ReasonGateBreached    = "perf_gate_breached"       // a gate of the recipe is breached
	ReasonOutputLength    = "output_length_mismatch"   // the engine made another number of tokens than asked for
	ReasonPromptLength    = "prompt_length_mismatch"   // the engine saw prompts of another length than sent
	ReasonEcho            = "echo_mismatch"            // the load was not the recipe's
	ReasonLoad            = "load_not_delivered"       // the engine did not see the planned load
	ReasonRolloutTooShort = "rollout_output_too_short" // too few tokens a request in rollout mode
	ReasonCanceled        = "canceled"                 // a signal ended the run
	ReasonInternal        = "internal_error"           // a fault of this program
)

// Failure is one reason why a trial did not pass.
type Failure struct {
	// Reason is the class.
	Reason string `json:"reason"`

	// Message says it in words, and Hint what to do; the latter may be empty.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	// Phase is startup, canary, warmup, measured, teardown or gates; Iteration the zero-based step in it, nil outside steps.
	Phase     string `json:"phase,omitempty"`
	Iteration *int   `json:"iteration,omitempty"`

	// Cause is a known failure found in the engine's log, LogTail the log's end.
	Cause   string `json:"cause,omitempty"`
	LogTail string `json:"log_tail,omitempty"`

	// Requests counts the failed requests of the step by class.
	Requests map[loadgen.Class]int `json:"requests,omitempty"`

	// Gate, Metric, Observed and Bound tell a breach; Observed is nil where the metric is missing.
	Gate     string   `json:"gate,omitempty"`
	Metric   string   `json:"metric,omitempty"`
	Observed *float64 `json:"observed,omitempty"`
	Bound    *float64 `json:"bound,omitempty"`
}

// Error gives phase, reason and message.
func (f *Failure) Error() string {
	if f.Iteration != nil {
		return fmt.Sprintf("%s: %s step %d: %s", f.Reason, f.Phase, *f.Iteration, f.Message)
	}
	return f.Reason + ": " + f.Message
}

// asFailure turns an error of the engine's life cycle into a failure of the trial.
func asFailure(phase string, err error) *Failure {
	var f *engine.Failure
	if errors.As(err, &f) {
		return &Failure{Reason: f.Reason, Message: f.Message, Hint: f.Hint, Phase: phase, Cause: f.Cause, LogTail: f.Tail}
	}
	return &Failure{Reason: ReasonInternal, Message: err.Error(), Phase: phase}
}
