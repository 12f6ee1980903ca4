package recipe

import (
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// Defaults of the reference.
const (
	defaultImage = "lightseekorg/tokenspeed-amd@sha256:60c12e37c01496891053b9c30c4204e5d1cf9b4b641859d3aadcbd95bccc7c78"
	defaultModel = "Qwen/Qwen3-0.6B"
)

var byDigest = regexp.MustCompile(`^[^@\s]+@sha256:[0-9a-f]{64}$`)

// engine reads which engine runs and how it is had.
func (s *scope) engine() {
	o := s.out
	o.Driver = s.choice("driver", s.Driver, DriverDocker, DriverDocker, DriverProcess, DriverAttach)
	o.Command = or(s.Command, arguments{"tokenspeed"})
	if len(o.Command) == 0 || o.Command[0] == "" {
		s.refuse("command", ruleRange, `write the program, such as ["engine-sim"]`, "must not be empty")
	}
	o.BaseURL = s.url("base_url", s.BaseURL)
	o.ControlURL = s.url("control_url", s.ControlURL)
	o.Image = string(or(s.Image, defaultImage))
	imageField := s.field("image")
	if s.cell.Environment.Docker != "" {
		o.Image, imageField = s.cell.Environment.Docker, s.at+".environment.docker"
	} else if s.cell.Environment.Name != local {
		s.checker.refuse(s.at+".environment", ruleUnknown, "write local, or {docker: IMAGE@sha256:…}", "environment %q is not known", s.cell.Environment.Name)
	}
	if o.Driver == DriverDocker && !byDigest.MatchString(o.Image) {
		s.checker.refuse(imageField, ruleDigest, "write NAME@sha256:…; `docker inspect` shows it under RepoDigests",
			"image %q is not given by digest: a tag can name another engine tomorrow", o.Image)
	}
	o.Model = string(or(s.Model, defaultModel))
	o.ServedModelName = string(or(s.ServedModelName, text(o.Model)))
	o.Tokenizer = string(or(s.Tokenizer, text(o.Model)))
}

func (s *scope) url(key string, given *text) string {
	if given == nil {
		return ""
	}
	u, err := url.Parse(string(*given))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		s.refuse(key, ruleRange, "write it as http://HOST:PORT", "%q is not the address of an engine", *given)
	}
	return strings.TrimRight(string(*given), "/")
}

// load reads what is sent.
func (s *scope) load() {
	o := s.out
	o.Client = s.choice("client", s.Client, ClientNative, ClientNative, ClientEngine)
	o.Prompt = s.choice("prompt", s.config.Prompt, PromptTokenIDs, PromptTokenIDs, PromptText)
	o.PromptGiven = s.config.Prompt != nil
	o.VocabSize = int(s.whole("vocab_size", s.VocabSize, 0, 2, math.MaxInt32))
	o.Dataset = s.choice("dataset", s.Dataset, DatasetRandom, DatasetRandom, DatasetShareGPT)
	o.DatasetPath = string(or(s.DatasetPath, ""))
	o.NumPrompts = int(s.whole("num_prompts", s.NumPrompts, 64, 1, 100*maxCount))
	o.InputLen = int(s.whole("input_len", s.InputLen, 1024, 1, 100*maxCount))
	o.OutputLen = int(s.whole("output_len", s.OutputLen, 128, 1, 100*maxCount))
	o.MaxConcurrency = int(s.whole("max_concurrency", s.MaxConcurrency, 0, 1, maxCount))
	o.RequestRate = float64(or(s.RequestRate, 0))
	o.NumWarmups = int(s.whole("num_warmups", s.NumWarmups, 1, 0, maxCount))
	o.WarmupSteps = int(s.whole("warmup_steps", s.WarmupSteps, 1, 0, maxCount))
	o.Seed = s.whole("seed", s.Seed, 0, 0, math.MaxInt64)
	o.PercentileMetrics = or(s.PercentileMetrics, allMetrics)
	o.MetricPercentiles = or(s.MetricPercentiles, percentiles{50, 90, 99})
	if o.MaxConcurrency > o.NumPrompts {
		s.warn(s.field("max_concurrency"), "is more than num_prompts (%d), so it is never reached", o.NumPrompts)
	}
	o.IgnoreEOS = or(s.IgnoreEOS, true)
	switch {
	case o.Dataset == DatasetShareGPT:
		if o.DatasetPath == "" {
			s.refuse("dataset_path", "missing-key", "name the file", "dataset sharegpt needs dataset_path")
		}
		for _, key := range []string{"input_len", "output_len"} {
			if s.given(key) {
				s.warn(s.field(key), "has no effect: the lengths of dataset sharegpt are its own")
			}
		}
		o.InputLen, o.OutputLen = 0, 0
	case s.DatasetPath != nil:
		s.refuse("dataset_path", ruleConflict, "remove it, or write dataset: sharegpt", "dataset random reads no file")
	}
	if o.Dataset == DatasetRandom && !o.IgnoreEOS && !or(s.Rollout, false) {
		s.refuse("ignore_eos", ruleConflict, "remove it, or use dataset: sharegpt", "dataset random always ignores the end of sequence, so that every answer has output_len tokens")
	}
}

// rollout reads the mode in which several samples a prompt are generated to their end.
func (s *scope) rollout() {
	if !or(s.Rollout, false) {
		for _, key := range []string{"rollout_samples", "temperature", "top_p", "min_mean_output_tokens"} {
			if s.given(key) {
				s.refuse(key, ruleConflict, "add rollout: true, or remove it", "%s is for rollout only", key)
			}
		}
		s.out.SaveDetailed = or(s.SaveDetailed, false)
		return
	}
	if s.IgnoreEOS != nil && *s.IgnoreEOS {
		s.refuse("ignore_eos", ruleConflict, "remove it", "rollout generates to the end of sequence")
	}
	s.out.IgnoreEOS = false
	s.out.SaveDetailed = or(s.SaveDetailed, true)
	s.out.Rollout = &Rollout{
		Samples:             int(s.whole("rollout_samples", s.RolloutSamples, 4, 1, 1024)),
		Temperature:         s.number("temperature", s.Temperature, 1, 0, 2),
		TopP:                s.number("top_p", s.TopP, 0, 0, 1),
		MinMeanOutputTokens: int(s.whole("min_mean_output_tokens", s.MinMeanOutputTokens, 8, 0, 100*maxCount)),
	}
}

// times reads the limits of a trial.
func (s *scope) times() {
	ready := s.whole("ready_timeout_sec", s.ReadyTimeoutSec, 900, 1, 86400)
	bench := s.whole("bench_timeout_sec", s.BenchTimeoutSec, 1800, 1, maxSeconds)
	grace := s.whole("teardown_grace_sec", s.TeardownGraceSec, 45, 5, 3600)
	gateway := s.whole("gateway_startup_timeout_sec", s.GatewayStartupTimeoutSec, ready, 1, maxSeconds)
	steps := int64(s.cell.Steps) + int64(s.out.WarmupSteps)
	total := s.whole("timeout_sec", s.TimeoutSec, min(ready+steps*bench+grace+600, maxSeconds), 1, maxSeconds)
	if total <= ready {
		s.refuse("timeout_sec", ruleConflict, "it bounds the whole trial: start, steps and tear-down", "must be more than ready_timeout_sec (%d), not %d", ready, total)
	}
	o := s.out
	o.ReadyTimeout, o.BenchTimeout, o.TeardownGrace = seconds(ready), seconds(bench), seconds(grace)
	o.GatewayStartupTimeout, o.Timeout = seconds(gateway), seconds(total)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// host reads where the engine runs on its host.
func (s *scope) host() {
	o := s.out
	o.WorkDir = string(or(s.WorkDir, "/tmp/ts-work-serve"))
	o.HFHome = string(or(s.HFHome, ""))
	o.HFTokenEnv = string(or(s.HFTokenEnv, "HF_TOKEN"))
	if !variableName.MatchString(o.HFTokenEnv) || token.MatchString(o.HFTokenEnv) { // the value stays unsaid
		s.refuse("hf_token_env", ruleRange, "write the name of the variable; a token that was written into a file must be replaced", "is not the name of a variable")
	}
	o.HFOffline = or(s.HFOffline, false)
	o.Network = string(or(s.Network, "host"))
	o.ShmSize = string(or(s.ShmSize, "16g"))
	if !shmSize.MatchString(o.ShmSize) {
		s.refuse("shm_size", ruleRange, "write it as 16g or 512m", "%q is not a size", o.ShmSize)
	}
	o.Port, o.ControlPort = int(or(s.config.Port, 0)), int(or(s.config.ControlPort, 0))
	if o.Port != 0 && o.Port == o.ControlPort {
		s.refuse("control_port", ruleConflict, "use two ports, or auto", "must differ from port, which is %d too", o.Port)
	}
	o.HIPVisibleDevices = string(or(s.HIPDevices, ""))
	o.ExclusiveGPUs = or(s.ExclusiveGPUs, false)
	o.RunAsCurrentUser = or(s.RunAsCurrentUser, true)
	o.KeepWorkDir = or(s.KeepWorkDir, true)
}

// token is what a Hugging Face token looks like.
var token = regexp.MustCompile(`^hf_[A-Za-z0-9]{20,}$`)

var shmSize = regexp.MustCompile(`^[1-9][0-9]*[bkmgBKMG]?[bB]?$`)

// gates reads the absolute bounds.
func (s *scope) gates() {
	if s.Gates == nil {
		return
	}
	bounds := reflect.ValueOf(*s.Gates)
	for i := range bounds.NumField() {
		bound, _ := bounds.Field(i).Interface().(*float64)
		if bound == nil {
			continue
		}
		key := bounds.Type().Field(i).Tag.Get("json")
		if *bound <= 0 {
			s.refuse("gates."+key, ruleRange, "", "must be above 0, not %v", *bound)
		}
		s.out.Gates = append(s.out.Gates, Gate{Name: key, Metric: key[len("max_"):], Max: strings.HasPrefix(key, "max_"), Bound: *bound})
	}
}
