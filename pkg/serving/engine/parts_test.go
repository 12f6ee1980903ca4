package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestServeArgs(t *testing.T) {
	spec := Spec{Model: "org/m", ServedName: "short", Args: []string{"--x", "y"}, GatewayTimeout: 90 * time.Second, Grace: 45 * time.Second}
	got := strings.Join(serveArgs(spec, 8000, 8001), " ")
	want := "serve org/m --host 127.0.0.1 --port 8000 --control-port 8001 --served-model-name short --gateway-startup-timeout 90 --drain-timeout 40 --x y"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	spec = Spec{Model: "m", ServedName: "m", GatewayTimeout: time.Minute, Grace: 5 * time.Second, DrainTimeout: 2 * time.Second}
	got = strings.Join(serveArgs(spec, 1, 2), " ")
	if want := "serve m --host 127.0.0.1 --port 1 --control-port 2 --gateway-startup-timeout 60 --drain-timeout 2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDrainIsShorterThanTheGrace(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{45 * time.Second: 40 * time.Second, 16 * time.Second: 11 * time.Second, 15 * time.Second: 13 * time.Second, 5 * time.Second: 3 * time.Second} {
		if got := (Spec{Grace: grace}).drain(); got != want {
			t.Errorf("grace %s: got %s, want %s", grace, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := environment(Spec{Token: "1-abc",
		Environ: []string{"PATH=/bin", "GITHUB_TOKEN=secret", "GH_TOKEN=secret", "HF_TOKEN=another", "NO_VALUE", "RUNNER_TRACKING_ID=7", Marker + "=other", "A=1"},
		Env:     map[string]string{"A": "2", "HF_TOKEN": "named", Marker: "forged"}})
	want := []string{"A=2", Marker + "=1-abc", "HF_TOKEN=named", "PATH=/bin", "RUNNER_TRACKING_ID=7"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPorts(t *testing.T) {
	p, err := holdPorts(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.gateway == p.control || p.gateway == 0 || p.control == 0 {
		t.Errorf("got ports %d and %d, want two", p.gateway, p.control)
	}
	if _, err := holdPorts(p.gateway, 0); err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("a held port: got %v, want that it is taken", err)
	}
	// The control port is the next one whenever that is free, else any other.
	next, err := holdPorts(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer next.free()
	if next.control != next.gateway+1 && next.control == p.control {
		t.Errorf("got control port %d, which is held", next.control)
	}
	if err := p.free(); err != nil {
		t.Error(err)
	}
}

func TestLogKeepsToItsCap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	write := func(text string) {
		if _, err := log.file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("the start\n" + strings.Repeat("x", 2000))
	log.trim()
	write("the end\n")
	info, err := os.Stat(path)
	if err != nil || info.Size() != int64(len("the end\n")) {
		t.Errorf("got size %v, %v, want the last line alone", info.Size(), err)
	}
	if got := log.ends(); !strings.HasPrefix(got, "the start") || !strings.HasSuffix(got, "the end\n") {
		t.Errorf("got %q, want start and end", got)
	}
	write(strings.Repeat("é", 5000))
	if got := log.tail(); len([]rune(got)) != TailLimit {
		t.Errorf("got a tail of %d characters, want %d", len([]rune(got)), TailLimit)
	}
}

func TestClassify(t *testing.T) {
	tests := []struct{ log, cause string }{
		{"OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use", "port_in_use"},
		{"503 Service Unavailable\ngRPC not reachable (tried 127.0.0.1:50051)", "gateway_budget_expired"},
		{"KeyError: 'getpwuid(): uid not found: 1001'", "no_passwd_entry"},
		{"RuntimeError: Triton is not supported on the current platform", "triton_cache_unwritable"},
		{"PermissionError: [Errno 13] Permission denied: '/hf-cache/hub/models--x'", "hf_cache_permission"},
		{"huggingface_hub.errors.LocalEntryNotFoundError: An error happened", "model_not_in_cache"},
		{"error sending request for url (https://x/encodings/o200k_base.tiktoken): dns error", "tiktoken_fetch_failed"},
		{"  File \"flat_host_mirror.py\"\ntorch.AcceleratorError: CUDA error: out of memory", "pinned_host_memory"},
		{"RuntimeError: Cannot copy between CPU and CUDA tensors during graph capture", "needs_enforce_eager"},
		{"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2 GiB", "gpu_out_of_memory"},
		{"OSError: [Errno 28] No space left on device", "no_space_left"},
		{"error while loading shared libraries: libamdhip64.so.6", "shared_library_missing"},
		{"ts: error: unrecognized arguments: --no-such-flag", "unknown_argument"},
		{"all is well", ""},
	}
	for _, test := range tests {
		cause, hint := Classify(test.log)
		if cause != test.cause || (hint == "") != (cause == "") {
			t.Errorf("%q: got %q with hint %q, want %q", test.log, cause, hint, test.cause)
		}
	}
}
