package recipe

import "github.com/gatehouse-ci/gatehouse/pkg/strict"

// file is a recipe as it is written; C is what is known of its workload_config.
type file[C any] struct {
	SchemaVersion  int           `json:"schema_version" strict:"required"`
	Mode           *string       `json:"mode"`
	Ticket         *name         `json:"ticket"`
	Workload       name          `json:"workload" strict:"required"`
	Trials         whole         `json:"trials" strict:"required"`
	Steps          whole         `json:"steps" strict:"required"`
	Confound       *fileConfound `json:"confound"`
	WorkloadConfig C             `json:"workload_config,omitempty"`
	SaveLogs       *bool         `json:"save_logs"`
	StopAfter      any           `json:"stop_after"`
	Cells          []fileCell[C] `json:"cells" strict:"required"`
}

type fileConfound struct {
	Threshold    *float64 `json:"threshold"`
	BaselineCell *string  `json:"baseline_cell"`
}

type fileCell[C any] struct {
	Name           string            `json:"name" strict:"required"`
	Mitigations    []string          `json:"mitigations" strict:"required"`
	Environment    *Environment      `json:"environment"`
	ExtraEnv       map[string]string `json:"extra_env,omitempty"`
	Trials         *whole            `json:"trials"`
	Steps          *whole            `json:"steps"`
	WorkloadConfig C                 `json:"workload_config,omitempty"`
}

// config is the workload_config of the serving workload. Every key is optional in both scopes.
type config struct {
	Steps any `json:"steps"` // refused by name: it belongs beside workload_config

	Driver     *text      `json:"driver"`
	Command    *arguments `json:"command"`
	BaseURL    *text      `json:"base_url"`
	ControlURL *text      `json:"control_url"`
	Client     *text      `json:"client"`
	Prompt     *text      `json:"prompt"`
	VocabSize  *whole     `json:"vocab_size"`

	Image           *text `json:"image"`
	Model           *text `json:"model"`
	ServedModelName *text `json:"served_model_name"`
	Tokenizer       *text `json:"tokenizer"`

	Dataset           *text        `json:"dataset"`
	DatasetPath       *text        `json:"dataset_path"`
	NumPrompts        *whole       `json:"num_prompts"`
	InputLen          *whole       `json:"input_len"`
	OutputLen         *whole       `json:"output_len"`
	MaxConcurrency    *whole       `json:"max_concurrency"`
	RequestRate       *rate        `json:"request_rate"`
	NumWarmups        *whole       `json:"num_warmups"`
	WarmupSteps       *whole       `json:"warmup_steps"`
	IgnoreEOS         *bool        `json:"ignore_eos"`
	Seed              *whole       `json:"seed"`
	PercentileMetrics *metricNames `json:"percentile_metrics"`
	MetricPercentiles *percentiles `json:"metric_percentiles"`
	SaveDetailed      *bool        `json:"save_detailed"`

	Rollout             *bool    `json:"rollout"`
	RolloutSamples      *whole   `json:"rollout_samples"`
	Temperature         *float64 `json:"temperature"`
	TopP                *float64 `json:"top_p"`
	MinMeanOutputTokens *whole   `json:"min_mean_output_tokens"`

	ReadyTimeoutSec          *whole `json:"ready_timeout_sec"`
	BenchTimeoutSec          *whole `json:"bench_timeout_sec"`
	TeardownGraceSec         *whole `json:"teardown_grace_sec"`
	GatewayStartupTimeoutSec *whole `json:"gateway_startup_timeout_sec"`
	TimeoutSec               *whole `json:"timeout_sec"`

	ServeArgs  *arguments `json:"serve_args"`
	BenchArgs  *arguments `json:"bench_args"`
	DockerArgs *arguments `json:"docker_args"`

	WorkDir          *text `json:"work_dir"`
	HFHome           *text `json:"hf_home"`
	HFTokenEnv       *text `json:"hf_token_env"`
	HFOffline        *bool `json:"hf_offline"`
	Network          *text `json:"network"`
	Port             *port `json:"port"`
	ControlPort      *port `json:"control_port"`
	ShmSize          *text `json:"shm_size"`
	HIPDevices       *text `json:"hip_visible_devices"`
	ExclusiveGPUs    *bool `json:"exclusive_gpus"`
	RunAsCurrentUser *bool `json:"run_as_current_user"`
	KeepWorkDir      *bool `json:"keep_work_dir"`

	Gates *gates `json:"gates"`
}

// gates is the gates block; the metric of a key is what follows its max_ or min_.
type gates struct {
	MaxMedianTTFT       *float64 `json:"max_median_ttft_ms"`
	MaxP99TTFT          *float64 `json:"max_p99_ttft_ms"`
	MaxMedianTPOT       *float64 `json:"max_median_tpot_ms"`
	MaxP99TPOT          *float64 `json:"max_p99_tpot_ms"`
	MaxMedianITL        *float64 `json:"max_median_itl_ms"`
	MaxP99ITL           *float64 `json:"max_p99_itl_ms"`
	MaxMedianE2EL       *float64 `json:"max_median_e2el_ms"`
	MaxP99E2EL          *float64 `json:"max_p99_e2el_ms"`
	MinOutputThroughput *float64 `json:"min_output_throughput"`
	MinTotalThroughput  *float64 `json:"min_total_token_throughput"`
	MinRequestRate      *float64 `json:"min_request_throughput"`
}

// free is the workload_config of a workload this package does not know.
type free map[string]any

// head is what has to be known of a file before the rest can be read.
type head struct {
	Mode     any          `json:"mode"`
	Workload any          `json:"workload"`
	Rest     strict.Extra `json:"-" strict:"extra"`
}
