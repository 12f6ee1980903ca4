package report

import "github.com/gatehouse-ci/gatehouse/pkg/strict"

// Cell is one cell of a matrix.json. Counts and step times are pointers because other writers
// leave them out or null: nil is "not said", never zero.
type Cell struct {
	Name            string            `json:"name" strict:"required"`
	Mitigations     []string          `json:"mitigations"`
	Environment     string            `json:"environment"`
	ExtraEnv        map[string]string `json:"extra_env"`
	ResolvedEnvVars map[string]string `json:"resolved_env_vars"`

	// Trials were started; PassedCount passed, FailedCount failed by the workload's own verdict,
	// and ErrorCount broke for a reason that is not the workload's (infrastructure, set-up).
	Trials      *int `json:"trials"`
	PassedCount *int `json:"passed_count"`
	FailedCount *int `json:"failed_count"`
	ErrorCount  *int `json:"error_count"`
	// Error says why the cell did not run to its end; nil where it did. An empty text is an error.
	Error *string `json:"error"`

	// The step times are milliseconds over the measured steps of all trials, failed ones included;
	// nil where nothing was measured. The reference writes 0.0 there, with the source "missing".
	MeanStepTimeMS *float64 `json:"mean_step_time_ms"`
	StdStepTimeMS  *float64 `json:"std_step_time_ms"`
	MinStepTimeMS  *float64 `json:"min_step_time_ms"`
	MaxStepTimeMS  *float64 `json:"max_step_time_ms"`
	P50StepTimeMS  *float64 `json:"p50_step_time_ms"`
	P90StepTimeMS  *float64 `json:"p90_step_time_ms"`
	P99StepTimeMS  *float64 `json:"p99_step_time_ms"`
	// StepTimesMS lists every measured step in order, milliseconds.
	StepTimesMS []float64 `json:"step_times_ms"`
	// StepTimeSource is one of the Source constants.
	StepTimeSource *string `json:"step_time_source"`
	// MeanWallClockSec is the mean duration of a trial, bring-up and tear-down included, seconds.
	MeanWallClockSec *float64 `json:"mean_wall_clock_sec"`

	// ExitStatusCounts counts trials by ok, workload_failed, workload_setup_failed and
	// infrastructure_failed; OutcomeCounts by did_not_run, crashed_after_iterations, completed, unknown.
	ExitStatusCounts map[string]int `json:"exit_status_counts"`
	OutcomeCounts    map[string]int `json:"outcome_counts"`
	FailureHints     any            `json:"failure_hints"`
	TrialPaths       []string       `json:"trial_paths"`
	WorkloadConfig   map[string]any `json:"workload_config"`
	// FailureRate is failed over passed + failed, ErrorRate errors over trials, both 0 to 1.
	FailureRate         *float64 `json:"failure_rate"`
	ErrorRate           *float64 `json:"error_rate"`
	Unreliable          bool     `json:"unreliable"`
	Confound            any      `json:"confound"`
	StepTimeRatio       *float64 `json:"step_time_ratio"`
	ResolvedEnvironment any      `json:"resolved_environment"`
	// MetricsSummary holds each metric over the passing trials.
	MetricsSummary map[string]Summary `json:"metrics_summary,omitempty"`

	// From here on: extra keys.

	// NoVerdict lists why nothing can be concluded from this cell although it ran (the client was
	// the limit, the load was not delivered). A cell with any reason here is never a pass.
	NoVerdict []string `json:"no_verdict,omitempty"`
	// Steps holds what each measured step was planned to do, did and measured.
	Steps []Step `json:"steps,omitempty"`
	// Pooled holds percentiles over the samples of all measured steps together, by metric name.
	Pooled map[string]Quantile `json:"pooled,omitempty"`
	// Tags are the excursions found in the measured steps.
	Tags []Tag `json:"excursion_tags,omitempty"`
	// CleanMeanStepTimeMS and CleanMetricsSummary leave the tagged steps out; absent where no step
	// is tagged.
	CleanMeanStepTimeMS *float64           `json:"clean_mean_step_time_ms,omitempty"`
	CleanMetricsSummary map[string]Summary `json:"clean_metrics_summary,omitempty"`
	// Failures counts failed requests and trials by class.
	Failures []Failure `json:"failures,omitempty"`
	// Client is the load client that measured: "native" or "engine".
	Client string `json:"client,omitempty"`
	// Digests are sha256 hex digests of evidence files by their path below the matrix.json.
	Digests map[string]string `json:"digests,omitempty"`
	// Fingerprint adds to, or overrides, the file's for this cell.
	Fingerprint Fingerprint `json:"fingerprint,omitempty"`
	// Extra takes the keys of another writer; it is not written.
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Summary is one metric of a cell over its passing trials. Mean is a number for what is measured
// and may be a text or a boolean for a checksum; nil counts as absent.
type Summary struct {
	Mean  any          `json:"mean"`
	Min   *float64     `json:"min,omitempty"`
	Max   *float64     `json:"max,omitempty"`
	N     *int         `json:"n,omitempty"`
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Step is one measured step.
type Step struct {
	// Trial and Index count from 0; warm-up steps are not listed.
	Trial int `json:"trial"`
	Index int `json:"index"`
	// DurationMS is the wall time of the step in milliseconds.
	DurationMS float64 `json:"duration_ms"`
	// Planned requests, of which Completed and Failed came to an end.
	Planned   int `json:"planned"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	// Metrics holds the scalars of this step by their export key.
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// Tags names the excursions this step carries.
	Tags  []string     `json:"tags,omitempty"`
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Quantile is a percentile together with the number of samples behind it.
type Quantile struct {
	Value float64      `json:"value"`
	N     int          `json:"n"`
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Tag is one excursion: what it looks like, in which step, and by which figures.
type Tag struct {
	// Name is the tag: cold_compile, admission_stall, connect_stall, client_limited, warm_prefix,
	// short_output, load_not_delivered or noisy_neighbour.
	Name string `json:"name"`
	// Step is the index of the step, nil where the whole cell carries the tag.
	Step *int `json:"step,omitempty"`
	// Why gives the figures in words.
	Why   string       `json:"why"`
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Failure counts one class of failure.
type Failure struct {
	// Class is the failure's short name, such as "truncated_stream" or "readiness_timeout".
	Class string `json:"class"`
	Count int    `json:"count"`
	// Detail is one example in words.
	Detail string       `json:"detail,omitempty"`
	Extra  strict.Extra `json:"-" strict:"extra"`
}

// Passed reports whether the cell ran clean: no error, nothing failed, nothing broke, and at least
// one trial passed. A count that is not said counts as zero.
func (c *Cell) Passed() bool {
	return c.Error == nil && count(c.FailedCount) == 0 && count(c.ErrorCount) == 0 && count(c.PassedCount) > 0
}

// Failed reports whether a trial failed by the workload's own verdict, which is more than that it broke.
func (c *Cell) Failed() bool { return count(c.FailedCount) > 0 }

// StepTime returns mean_step_time_ms, and nil where nothing was measured, however that was spelt.
func (c *Cell) StepTime() *float64 {
	missing := c.StepTimeSource != nil && *c.StepTimeSource == SourceMissing
	if c.MeanStepTimeMS == nil || missing || *c.MeanStepTimeMS == 0 {
		return nil
	}
	return c.MeanStepTimeMS
}

func count(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
