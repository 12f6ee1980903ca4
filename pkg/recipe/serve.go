package recipe

import "time"

// How the engine of a cell is had.
const (
	DriverDocker  = "docker"  // a container of an image given by digest
	DriverProcess = "process" // a command of this host
	DriverAttach  = "attach"  // a URL where one runs already
)

// Which client drives the load.
const (
	ClientNative = "native" // our own load generator
	ClientEngine = "engine" // the engine's bench command
)

// How prompts travel.
const (
	PromptTokenIDs = "token_ids"
	PromptText     = "text"
)

// Where prompts come from.
const (
	DatasetRandom   = "random"
	DatasetShareGPT = "sharegpt"
)

// Serve is one cell's serving configuration: every key of workload_config, merged, checked, and with
// its default filled in. Comments give the key where it differs from the field's name.
type Serve struct {
	// Driver is one of the Driver constants; default docker.
	Driver string
	// Command is the argument vector before `serve MODEL …` (driver process); default ["tokenspeed"].
	Command []string
	// BaseURL and ControlURL name a running engine (driver attach); ControlURL may be "".
	BaseURL, ControlURL string
	// Image is the image reference, with digest for driver docker; the cell's environment wins over it.
	Image string

	// Model is the model; ServedModelName and Tokenizer are the same unless given.
	Model, ServedModelName, Tokenizer string

	// Client is native or engine; default native.
	Client string
	// Prompt is token_ids or text; default token_ids. PromptGiven tells that the recipe says so, and
	// nothing is to be found out.
	Prompt      string
	PromptGiven bool
	// VocabSize bounds generated token ids; 0 when the recipe does not say.
	VocabSize int

	// Dataset is random or sharegpt; DatasetPath is the file of the latter, as written.
	Dataset, DatasetPath string
	// NumPrompts is the number of requests a step.
	NumPrompts int
	// InputLen and OutputLen are tokens a request; both 0 for sharegpt.
	InputLen, OutputLen int
	// MaxConcurrency caps the requests in flight; 0 is unbounded.
	MaxConcurrency int
	// RequestRate is arrivals a second; 0 stands for "inf", all at once.
	RequestRate float64
	// NumWarmups are untimed requests inside each step; WarmupSteps whole steps that are discarded.
	NumWarmups, WarmupSteps int
	// IgnoreEOS asks for exactly OutputLen tokens.
	IgnoreEOS bool
	// Seed chooses the prompts.
	Seed int64
	// PercentileMetrics are of ttft, tpot, itl, e2el; default all. MetricPercentiles lie in (0,100).
	PercentileMetrics []string
	MetricPercentiles []float64
	// SaveDetailed keeps the arrays of every request in the export.
	SaveDetailed bool
	// Rollout is nil unless the recipe sets rollout.
	Rollout *Rollout

	// ReadyTimeout bounds the start, BenchTimeout a step, Timeout the whole trial (…_timeout_sec,
	// timeout_sec). TeardownGrace is the time between asking an engine to end and ending it.
	ReadyTimeout, BenchTimeout, Timeout, TeardownGrace time.Duration
	// GatewayStartupTimeout and DrainTimeout are passed to the engine. The latter may be given by
	// --drain-timeout in serve_args, from where it is taken out.
	GatewayStartupTimeout, DrainTimeout time.Duration

	// ServeArgs, BenchArgs and DockerArgs hold no flag that is ours to set.
	ServeArgs, BenchArgs, DockerArgs []string

	// WorkDir is the shared work root. HFHome is "" for <work_dir>/u<uid>/hf.
	WorkDir, HFHome string
	// HFTokenEnv names a host variable; its value is in no recipe.
	HFTokenEnv string
	// HFOffline forbids downloads.
	HFOffline bool

	// Network and ShmSize are the container's.
	Network, ShmSize string
	// Port and ControlPort are 0 for "auto".
	Port, ControlPort int
	// HIPVisibleDevices is "" when the recipe does not filter devices.
	HIPVisibleDevices string
	// ExclusiveGPUs makes memory that is not given back a failure.
	ExclusiveGPUs bool
	// RunAsCurrentUser runs the container as the caller's uid and gid; KeepWorkDir keeps its exports.
	RunAsCurrentUser, KeepWorkDir bool

	// Gates are absolute bounds on the cell's means over its steps, in the order of the reference's list.
	Gates []Gate
}

// Rollout is the mode in which several samples a prompt are generated to the end.
type Rollout struct {
	// Samples is the number of choices a request (rollout_samples), 1 to 1024.
	Samples int
	// Temperature lies in (0, 2]; TopP in (0, 1], 0 when unset.
	Temperature, TopP float64
	// MinMeanOutputTokens is the floor under tokens a request.
	MinMeanOutputTokens int
}

// A Gate is an absolute bound of a recipe, such as max_p99_itl_ms: 50.
type Gate struct {
	// Name is the key, Metric the metric it bounds (p99_itl_ms).
	Name, Metric string
	// Max tells a ceiling (observed > Bound fails) from a floor (observed < Bound fails).
	Max bool
	// Bound is finite and above 0, in the metric's unit.
	Bound float64
}

// Breached reports whether an observed value breaks the gate. NaN does.
func (g Gate) Breached(observed float64) bool {
	if g.Max {
		return !(observed <= g.Bound)
	}
	return !(observed >= g.Bound)
}
