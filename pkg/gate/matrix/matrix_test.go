package matrix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/google/go-cmp/cmp"
)

const recipeText = "schema_version: 1\nworkload: gemm\ntrials: 1\nsteps: 1\ncells:\n  - {name: c, mitigations: [none], environment: local}\n"

// repository is a root with the recipes r.yaml and deep/r.yaml, a broken one, a folder, and links.
func repository(t testing.TB) string {
	t.Helper()
	outer := t.TempDir()
	root := filepath.Join(outer, "root")
	for name, text := range map[string]string{"r.yaml": recipeText, "deep/r.yaml": recipeText, "broken.yaml": "cells: []\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outer, "outside.yaml"), []byte(recipeText), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"inside.yaml": "deep/r.yaml", "out.yaml": "../outside.yaml", "outer": ".."} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestParse(t *testing.T) {
	got, err := matrix.Parse(repository(t), "m.yaml", []byte(`
version: 1
entries:
  - {name: plain, recipe: r.yaml}
  - {name: eight, recipe: deep/r.yaml, nproc: 8}
  - {name: none, recipe: inside.yaml, min_gpus: 0, timeout_sec: 60}
  - {name: both, recipe: r.yaml, nproc: 2, min_gpus: 4, needs_docker_daemon: true}
pending_entries:
  - {name: later, recipe: r.yaml, blocked_on: "the conc-64 stall", timeout_sec: 3600}
`))
	if err != nil {
		t.Fatal(err)
	}
	half := 1800 * time.Second
	want := &matrix.File{
		Path: "m.yaml",
		Entries: []matrix.Entry{
			{Name: "plain", Recipe: "r.yaml", MinGPUs: 1, Timeout: half},
			{Name: "eight", Recipe: "deep/r.yaml", Nproc: 8, MinGPUs: 8, Timeout: half},
			{Name: "none", Recipe: "inside.yaml", Timeout: time.Minute},
			{Name: "both", Recipe: "r.yaml", Nproc: 2, MinGPUs: 4, Timeout: half, NeedsDocker: true},
		},
		Pending: []matrix.Entry{{Name: "later", Recipe: "r.yaml", MinGPUs: 1, Timeout: time.Hour, BlockedOn: "the conc-64 stall"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got.Entry("eight") == nil || got.Entry("later") != nil {
		t.Errorf("got %v, %v: entries that run are found by name, pending ones are not", got.Entry("eight"), got.Entry("later"))
	}
}

func TestVersionMayBeAbsent(t *testing.T) {
	if _, err := matrix.Parse(repository(t), "m.yaml", []byte("entries: []\n")); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	root := repository(t)
	for name, c := range map[string]struct{ text, want string }{
		"a list":                  {"- a\n", "m.yaml:1:1: must be a mapping, not a list"},
		"text":                    {"entries\n", "must be a mapping, not text"},
		"no entries":              {"version: 1\n", "key entries is missing"},
		"version 2":               {"version: 2\nentries: []\n", "m.yaml:1:10: version: version 2 is not known"},
		"unknown top key":         {"entrys: []\nentries: []\n", "entrys: unknown key"},
		"entry no mapping":        {"entries: [a]\n", "entries[0]: must be a mapping"},
		"no name":                 {"entries: [{recipe: r.yaml}]\n", "key name is missing"},
		"no recipe":               {"entries:\n  - {name: a}\n", "m.yaml:2:5: entries[0]: key recipe is missing"},
		"unknown key":             {"entries: [{name: a, recipe: r.yaml, timeout: 5}]\n", "entries[0].timeout: unknown key"},
		"leaves the work dir":     {"entries: [{name: ../x, recipe: r.yaml}]\n", `entries[0].name: "../x" is no usable name`},
		"dots":                    {"entries: [{name: .., recipe: r.yaml}]\n", "is no usable name"},
		"half a key":              {"entries: [{name: 'a::b', recipe: r.yaml}]\n", "is no usable name"},
		"slash":                   {"entries: [{name: a/b, recipe: r.yaml}]\n", "is no usable name"},
		"flag":                    {"entries: [{name: -a, recipe: r.yaml}]\n", "is no usable name"},
		"empty name":              {"entries: [{name: '', recipe: r.yaml}]\n", "is no usable name"},
		"own name":                {"entries: [{name: _nightly_eval, recipe: r.yaml}]\n", "stands for the night as a whole"},
		"twice":                   {"entries:\n  - {name: a, recipe: r.yaml}\n  - {name: a, recipe: r.yaml}\n", `m.yaml:3:12: entries[1].name: "a" is taken by entries[0]`},
		"twice but for case":      {"entries: [{name: a, recipe: r.yaml}, {name: A, recipe: r.yaml}]\n", `"A" is taken by entries[0]`},
		"pending is live":         {"entries: [{name: a, recipe: r.yaml}]\npending_entries: [{name: a, recipe: r.yaml, blocked_on: x}]\n", `pending_entries[0].name: "a" is taken by entries[0]`},
		"recipe gone":             {"entries: [{name: a, recipe: gone.yaml}]\n", `entries[0].recipe: recipe "gone.yaml" does not exist`},
		"recipe absolute":         {"entries: [{name: a, recipe: /etc/passwd}]\n", "leads out of the repository"},
		"recipe above":            {"entries: [{name: a, recipe: ../outside.yaml}]\n", "leads out of the repository"},
		"recipe by link":          {"entries: [{name: a, recipe: out.yaml}]\n", `looking for recipe "out.yaml"`},
		"recipe by linked folder": {"entries: [{name: a, recipe: outer/outside.yaml}]\n", `looking for recipe "outer/outside.yaml"`},
		"recipe a folder":         {"entries: [{name: a, recipe: deep}]\n", "is no regular file"},
		"nproc 0":                 {"entries: [{name: a, recipe: r.yaml, nproc: 0}]\n", "nproc: must be at least 1"},
		"nproc text":              {"entries: [{name: a, recipe: r.yaml, nproc: '2'}]\n", "nproc: must be an integer"},
		"negative GPUs":           {"entries: [{name: a, recipe: r.yaml, min_gpus: -1}]\n", "min_gpus: must not be negative"},
		"timeout 0":               {"entries: [{name: a, recipe: r.yaml, timeout_sec: 0}]\n", "timeout_sec: must lie between 1"},
		"timeout a month":         {"entries: [{name: a, recipe: r.yaml, timeout_sec: 2592000}]\n", "timeout_sec: must lie between 1"},
		"docker yes":              {"entries: [{name: a, recipe: r.yaml, needs_docker_daemon: yes}]\n", "needs_docker_daemon: must be true or false"},
		"live but blocked":        {"entries: [{name: a, recipe: r.yaml, blocked_on: x}]\n", "entries[0].blocked_on: an entry that runs is not blocked"},
		"pending, no reason":      {"entries: []\npending_entries: [{name: a, recipe: r.yaml}]\n", "must say what it is blocked on"},
		"pending, blank":          {"entries: []\npending_entries: [{name: a, recipe: r.yaml, blocked_on: ' '}]\n", "must say what it is blocked on"},
		"pending, short":          {"entries: []\npending_entries: [{name: a, recipe: r.yaml, blocked_on: x, timeout_sec: 600}]\n", "timeout_sec: must be at least 1800"},
		"pending, broken":         {"entries: []\npending_entries: [{name: a, recipe: broken.yaml, blocked_on: x}]\n", `pending_entries[0].recipe: recipe "broken.yaml" is malformed`},
		"pending, unknown":        {"entries: []\npending_entries: [{name: a, recipe: r.yaml, blocked_on: x, owner: y}]\n", "owner: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := matrix.Parse(root, "m.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "m.yaml:") {
				t.Errorf("got %v, want %q with its place", err, c.want)
			}
		})
	}
}

func TestGPUs(t *testing.T) {
	machine := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(machine, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("nodes/0/properties", "cpu_cores_count 96\nsimd_count 0\nmem_banks_count 1\n")
	write("nodes/1/properties", "cpu_cores_count 0\nsimd_count 1024\n")
	write("nodes/2/properties", "cpu_cores_count 0\nsimd_count 1024\nsimd_per_cu 4\n")
	write("nodes/3/name", "gfx950\n")
	write("dev/nvidia0", "")
	write("dev/nvidia12", "")
	write("dev/nvidiactl", "")
	write("dev/nvidia-uvm", "")
	for name, c := range map[string]struct {
		kfd, dev string
		env      map[string]string
		want     int
	}{
		"none":           {"absent", "absent", nil, 0},
		"amd":            {"nodes", "absent", nil, 2},
		"nvidia":         {"absent", "dev", nil, 2},
		"one visible":    {"nodes", "absent", map[string]string{"HIP_VISIBLE_DEVICES": "1"}, 1},
		"more than are":  {"nodes", "absent", map[string]string{"HIP_VISIBLE_DEVICES": "0,1,2,3"}, 2},
		"hidden":         {"absent", "dev", map[string]string{"CUDA_VISIBLE_DEVICES": "-1"}, 0},
		"cut at the -1":  {"absent", "dev", map[string]string{"CUDA_VISIBLE_DEVICES": "0,-1,1"}, 1},
		"by the runtime": {"nodes", "absent", map[string]string{"ROCR_VISIBLE_DEVICES": "GPU-deadbeef"}, 1},
	} {
		m := matrix.Machine{KFD: filepath.Join(machine, c.kfd), Dev: filepath.Join(machine, c.dev), Getenv: func(k string) string { return c.env[k] }}
		if got := m.GPUs(); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\nentries:\n  - {name: a, recipe: r.yaml}\n"))
	f.Add([]byte("entries: [{name: ../x, recipe: ../y}]\npending_entries: null\n"))
	root := repository(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := matrix.Parse(root, "m.yaml", text)
		if err != nil {
			return
		}
		for _, e := range append(file.Entries, file.Pending...) {
			if e.Name != filepath.Base(e.Name) || strings.HasPrefix(e.Name, ".") || !filepath.IsLocal(e.Recipe) || e.Timeout <= 0 || e.MinGPUs < 0 {
				t.Errorf("an entry that is not safe was let through: %+v", e)
			}
		}
	})
}
