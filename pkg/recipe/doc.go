// Package recipe reads recipes: which cells a workload is measured in, how often, under which
// mitigations, and, for the serving workload, with which engine, load and bounds.
//
// The format is the reference tool's triage recipe, in YAML or JSON. Reading is strict: every key,
// type, range and combination is checked before anything starts, and all problems are reported at
// once, each with path, line, column and field. A recipe of another workload than [Serving] is checked
// in its generic part; its workload_config is left as written.
//
// # Top level
//
//	schema_version   1
//	workload         what the cells run; tokenspeed_serve is the serving workload
//	trials           engines started a cell, 1 or more
//	steps            measured bench runs against each engine, 1 or more
//	cells            at least one: name, mitigations, environment, extra_env; trials, steps and
//	                 workload_config of its own, which win over the recipe's key by key
//	ticket           group of the output folder
//	confound         threshold (1.15) and baseline_cell of the noise check between cells
//	workload_config  see below
//
// Mitigations are none, or hsa_no_scratch_reclaim (HSA_NO_SCRATCH_RECLAIM=1). An environment is local,
// the default, or {docker: IMAGE@sha256:…}. mode, stop_after and save_logs of the reference are refused.
//
// # workload_config of the serving workload
//
//	driver           docker; or process (a command of this host), or attach (a running engine)
//	command          [tokenspeed]; arguments before `serve MODEL …` (process)
//	base_url         address of the engine (attach, required)
//	control_url      address of its control port (attach)
//	client           native; or engine, the engine's own bench command
//	prompt           token_ids or text; when left out, the canary may change token_ids to text
//	vocab_size       bound of generated token ids
//	image            the reference's engine image; by digest for driver docker
//	model            Qwen/Qwen3-0.6B
//	served_model_name, tokenizer
//	                 the model
//	dataset          random; or sharegpt, with dataset_path
//	dataset_path     file of dataset sharegpt
//	num_prompts      64; requests a step
//	input_len        1024; tokens a request (random)
//	output_len       128; tokens an answer (random)
//	max_concurrency  requests in flight; unbounded when left out
//	request_rate     "inf", all at once; or arrivals a second
//	num_warmups      1; untimed requests inside each step
//	warmup_steps     1; whole steps that are discarded
//	ignore_eos       true; false for sharegpt only
//	seed             0
//	percentile_metrics  ttft,tpot,itl,e2el
//	metric_percentiles  50,90,99
//	save_detailed    false (true in rollout); keep every request's arrays
//	rollout          false; several samples a prompt, generated to their end
//	rollout_samples  4; 1 to 1024 (rollout)
//	temperature      1; above 0, at most 2 (rollout)
//	top_p            above 0, at most 1 (rollout)
//	min_mean_output_tokens  8; floor under the tokens a request (rollout)
//	ready_timeout_sec       900; 1 to 86400
//	bench_timeout_sec       1800; a step
//	teardown_grace_sec      45; 5 to 3600
//	gateway_startup_timeout_sec  ready_timeout_sec
//	timeout_sec      a trial; ready + (steps + warmup_steps) * bench + grace + 600
//	serve_args, bench_args, docker_args
//	                 lists, or one text split by the shell's quoting; no flag that a key above sets;
//	                 --drain-timeout in serve_args is 1 to teardown_grace_sec - 1
//	work_dir         /tmp/ts-work-serve
//	hf_home          below the work root
//	hf_token_env     HF_TOKEN; the name of a variable
//	hf_offline       false
//	network          host
//	port, control_port  auto; or 1024 to 65535
//	shm_size         16g
//	hip_visible_devices  devices the engine may see
//	exclusive_gpus   false; memory that is not given back is a failure
//	run_as_current_user  true
//	keep_work_dir    true
//	gates            bounds on the means over the steps: max_{median,p99}_{ttft,tpot,itl,e2el}_ms,
//	                 min_{output,total_token,request}_throughput
package recipe
