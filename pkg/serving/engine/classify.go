package engine

import "regexp"

// known is one failure that engines' logs tell by their own words. Order counts: the first that matches is the cause,
// so that the more telling ones come first.
var known = []struct {
	cause   string
	pattern *regexp.Regexp
	hint    string
}{
	{
		"port_in_use",
		regexp.MustCompile(`(?i)address already in use|EADDRINUSE|errno 98|os error 98`),
		"another process took the port: leave port and control_port at auto, or choose free ones",
	},
	{
		"gateway_budget_expired",
		regexp.MustCompile(`(?i)gRPC not reachable \(tried|gateway (startup )?timed out|gateway did not become (ready|healthy)`),
		"the gateway gave up before the engine was up: raise gateway_startup_timeout_sec",
	},
	{
		"no_passwd_entry",
		regexp.MustCompile(`KeyError: 'getpwuid\(\): uid not found|getpwuid.*KeyError`),
		"the uid has no passwd entry: set USER, LOGNAME, HOME and TORCHINDUCTOR_CACHE_DIR",
	},
	{
		"triton_cache_unwritable",
		regexp.MustCompile(`Triton is not supported on the current platform|(?i)permission denied.*triton`),
		"the Triton cache cannot be written: check the owner of TRITON_CACHE_DIR",
	},
	{
		"hf_cache_permission",
		regexp.MustCompile(`(?i)PermissionError.*(huggingface|hf-cache|/hub/|hf_home)`),
		"the model cache belongs to another user: chown it, or set hf_home",
	},
	{
		"model_not_in_cache",
		regexp.MustCompile(`LocalEntryNotFoundError|OfflineModeIsEnabled|(?i)couldn't connect to .*huggingface`),
		"the model is not in the cache and cannot be fetched: warm hf_home up, or open egress",
	},
	{
		"tiktoken_fetch_failed",
		regexp.MustCompile(`(?i)o200k_base\.tiktoken`),
		"the tokenizer file must be fetched: warm the cache up, or open egress",
	},
	{
		"pinned_host_memory",
		regexp.MustCompile(`flat_host_mirror|(?i)pinned host memory.*(out of memory|failed)`),
		"pinned host memory ran out (it grows with each rank): bound it with --kvstore-size in serve_args",
	},
	{
		"needs_enforce_eager",
		regexp.MustCompile(`Cannot copy between CPU and CUDA tensors`),
		"graph capture fails for this model: add --enforce-eager to serve_args",
	},
	{
		"gpu_out_of_memory",
		regexp.MustCompile(`(?i)(CUDA|HIP)( error:)? out of memory|torch\.(cuda\.)?OutOfMemoryError|hipErrorOutOfMemory`),
		"device memory ran out: see whether an earlier engine still holds it",
	},
	{
		"no_space_left",
		regexp.MustCompile(`(?i)no space left on device|ENOSPC`),
		"a disk is full: free space in the work root and the model cache",
	},
	{
		"shared_library_missing",
		regexp.MustCompile(`error while loading shared libraries|cannot open shared object file`),
		"a shared library is missing: run the engine's command by hand on this host",
	},
	{
		"unknown_argument",
		regexp.MustCompile(`(?i)unrecognized arguments?:|unexpected argument|unknown flag|flag provided but not defined`),
		"the engine does not know a flag: check command and serve_args",
	},
}

// Classify finds a known failure in an engine's log: its name and what to do about it, both empty when there is none.
func Classify(log string) (cause, hint string) {
	for _, k := range known {
		if k.pattern.MatchString(log) {
			return k.cause, k.hint
		}
	}
	return "", ""
}
