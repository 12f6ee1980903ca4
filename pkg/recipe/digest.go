package recipe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
)

// notMeasured lists the keys of workload_config that no measurement depends on: where things are kept
// and for how long, who may read them, limits that only tell failure from success, what is exported,
// and how the result is judged. All other keys are part of the digest, with their defaults.
var notMeasured = []string{
	"work_dir", "keep_work_dir", "hf_home", "hf_token_env", "hf_offline",
	"ready_timeout_sec", "bench_timeout_sec", "teardown_grace_sec", "gateway_startup_timeout_sec", "timeout_sec",
	"port", "control_port", "control_url", "exclusive_gpus", "run_as_current_user", "served_model_name",
	"percentile_metrics", "metric_percentiles", "save_detailed", "gates",
}

// Digest returns "sha256:" and the hex digest of what a measurement of the cell depends on: canonical
// JSON of the workload, trials, steps, the variables set, and workload_config with its defaults (an
// image by its digest alone), without the keys of notMeasured, the cell's name and the recipe's
// ticket and confound. Two spellings of one measurement have one digest.
func (c *Cell) Digest() string {
	measured := map[string]any{"trials": c.Trials, "steps": c.Steps, "env": c.Env}
	if c.Serve == nil {
		measured["environment"] = []string{c.Environment.Name, c.Environment.Docker}
		measured["workload_config"] = c.WorkloadConfig
		return digest(measured)
	}
	config := c.Serve.Config()
	for _, key := range notMeasured {
		delete(config, key)
	}
	delete(config, "serve_args") // holds the drain timeout
	if len(c.Serve.ServeArgs) > 0 {
		config["serve_args"] = c.Serve.ServeArgs
	}
	if image, ok := config["image"].(string); ok {
		_, config["image"], _ = strings.Cut(image, "@")
	}
	measured["workload_config"] = config
	return digest(measured)
}

// Digest returns "sha256:" and the hex digest of what the measurements of the recipe depend on: its
// workload and the name and digest of each cell. The order of the cells has no part in it.
func (r *Recipe) Digest() string {
	cells := map[string]string{}
	for i := range r.Cells {
		cells[r.Cells[i].Name] = r.Cells[i].Digest()
	}
	return digest(map[string]any{"workload": r.Workload, "cells": cells})
}

// digest hashes JSON with sorted keys and nothing escaped that need not be.
func digest(v map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts, finite numbers and booleans only
	}
	sum := sha256.Sum256(b.Bytes())
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Config returns the workload_config that says all of s explicitly. Keys that have no effect for its
// driver, client, dataset or mode, and optional ones that are unset, are left out.
func (s *Serve) Config() map[string]any {
	c := map[string]any{
		"driver": s.Driver, "client": s.Client,
		"model": s.Model, "served_model_name": s.ServedModelName, "tokenizer": s.Tokenizer,
		"dataset": s.Dataset, "num_prompts": s.NumPrompts, "request_rate": "inf",
		"num_warmups": s.NumWarmups, "warmup_steps": s.WarmupSteps, "seed": s.Seed,
		"percentile_metrics": strings.Join(s.PercentileMetrics, ","), "metric_percentiles": joinNumbers(s.MetricPercentiles),
		"save_detailed":     s.SaveDetailed,
		"ready_timeout_sec": wholeSeconds(s.ReadyTimeout), "bench_timeout_sec": wholeSeconds(s.BenchTimeout),
		"timeout_sec": wholeSeconds(s.Timeout),
		"work_dir":    s.WorkDir, "hf_token_env": s.HFTokenEnv, "keep_work_dir": s.KeepWorkDir,
	}
	put := func(when bool, key string, value any) {
		if when {
			c[key] = value
		}
	}
	put(s.RequestRate > 0, "request_rate", s.RequestRate)
	put(s.MaxConcurrency > 0, "max_concurrency", s.MaxConcurrency)
	put(s.PromptGiven, "prompt", s.Prompt)
	put(s.VocabSize > 0, "vocab_size", s.VocabSize)
	put(len(s.BenchArgs) > 0, "bench_args", s.BenchArgs)
	put(len(s.Gates) > 0, "gates", s.gateKeys())
	if s.Dataset == DatasetShareGPT {
		c["dataset_path"] = s.DatasetPath
	} else {
		c["input_len"], c["output_len"] = s.InputLen, s.OutputLen
	}
	if s.Rollout == nil {
		c["ignore_eos"] = s.IgnoreEOS
	} else {
		maps.Copy(c, map[string]any{
			"rollout": true, "rollout_samples": s.Rollout.Samples, "temperature": s.Rollout.Temperature,
			"min_mean_output_tokens": s.Rollout.MinMeanOutputTokens,
		})
		put(s.Rollout.TopP > 0, "top_p", s.Rollout.TopP)
	}
	s.hostKeys(c, put)
	return c
}

// hostKeys adds the keys that only some drivers use.
func (s *Serve) hostKeys(c map[string]any, put func(when bool, key string, value any)) {
	switch s.Driver {
	case DriverAttach:
		c["base_url"] = s.BaseURL
		put(s.ControlURL != "", "control_url", s.ControlURL)
		return
	case DriverProcess:
		c["command"] = s.Command
	case DriverDocker:
		c["image"], c["network"], c["shm_size"], c["run_as_current_user"] = s.Image, s.Network, s.ShmSize, s.RunAsCurrentUser
		put(len(s.DockerArgs) > 0, "docker_args", s.DockerArgs)
	}
	c["port"], c["control_port"] = portOrAuto(s.Port), portOrAuto(s.ControlPort)
	c["hf_offline"], c["exclusive_gpus"] = s.HFOffline, s.ExclusiveGPUs
	put(s.HFHome != "", "hf_home", s.HFHome)
	put(s.HIPVisibleDevices != "", "hip_visible_devices", s.HIPVisibleDevices)
	c["teardown_grace_sec"], c["gateway_startup_timeout_sec"] = wholeSeconds(s.TeardownGrace), wholeSeconds(s.GatewayStartupTimeout)
	c["serve_args"] = s.serveArgs()
}
