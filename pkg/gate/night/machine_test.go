package night

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

func TestDockerDaemon(t *testing.T) {
	for name, c := range map[string]struct{ docker, want string }{
		"no client": {"", "skip: needs a docker daemon: no docker client on PATH"},
		"no daemon": {"#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\necho more >&2\nexit 1\n", "skip: needs a docker daemon: docker info failed: Cannot connect to the Docker daemon"},
		"no answer": {"#!/bin/sh\nexit 0\n", "skip: needs a docker daemon: docker info failed"},
		"a daemon":  {"#!/bin/sh\necho 29.1.3\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			hideDocker(t, r)
			r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml, needs_docker_daemon: true}, {name: beta, recipe: b.yaml}]\n")
			r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
			r.recipe("a.yaml", "c")
			r.recipe("b.yaml", "c")
			r.leaves("a.yaml", 0, cell("c", nil))
			r.leaves("b.yaml", 0, cell("c", nil))
			if c.docker != "" {
				r.write(".bin/docker", c.docker)
				os.Chmod(filepath.Join(r.root, ".bin", "docker"), 0o755)
			}
			want := map[string]string{"alpha": c.want, "beta::c": "record"}
			if c.want == "" {
				want = map[string]string{"alpha::c": "record", "beta::c": "record"}
			}
			r.run("--gpus", "1", "--docker-socket").want(t, 0, want)
		})
	}
}

func TestNoGrantNoSocket(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"by hand, without the flag": {nil, nil, "no grant: docker-socket is not true"},
		"in a pull request's job": {
			map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": "EVENT", "GITHUB_REPOSITORY": "o/r", "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/night.yml@refs/pull/1/merge"},
			[]string{"--docker-socket", "--lane", "night.yml#eval"}, "no grant: the event pull_request leads to no grant",
		},
		"in a job without a payload": {
			map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule"},
			[]string{"--docker-socket", "--lane", "night.yml#eval"}, "no grant: the event's payload is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			hideDocker(t, r)
			r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml, needs_docker_daemon: true}, {name: beta, recipe: a.yaml}]\n")
			r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
			r.recipe("a.yaml", "c")
			r.leaves("a.yaml", 0, cell("c", nil))
			r.write("event.json", `{"repository": {"default_branch": "main"}}`)
			r.write(".bin/docker", "#!/bin/sh\ntouch asked\necho 29.1.3\n")
			os.Chmod(filepath.Join(r.root, ".bin", "docker"), 0o755)
			for k, v := range c.env {
				r.env[k] = strings.ReplaceAll(v, "EVENT", filepath.Join(r.root, "event.json"))
			}
			r.run(append(c.args, "--gpus", "1")...).want(t, 0, map[string]string{"alpha": "skip: needs a docker daemon: " + c.want, "beta::c": "record"})
			if _, err := os.Stat(filepath.Join(r.root, "asked")); err == nil {
				t.Error("the daemon was asked, want the socket untouched")
			}
		})
	}
}

func TestServeCellHasNoDockerDriverYet(t *testing.T) {
	r := one(t, ", needs_docker_daemon: true", "")
	hideDocker(t, r)
	r.write("a.yaml", strings.Replace(servingRecipe, "driver: process, command: [engine-sim], ", "", 1))
	r.write(".bin/docker", "#!/bin/sh\necho 29.1.3\n")
	os.Chmod(filepath.Join(r.root, ".bin", "docker"), 0o755)
	o := r.run("--gpus", "1", "--docker-socket")
	if got := o.rows()["alpha"]; got != "skip: needs a docker daemon: serve-cell has no docker driver yet" {
		t.Errorf("got %q", got)
	}
}

func TestZeroWorkSaysWhatWasMissing(t *testing.T) {
	r := newRig(t)
	hideDocker(t, r)
	r.write("config/ci/nightly_eval_matrix.yaml", "entries: [{name: alpha, recipe: a.yaml, min_gpus: 4}, {name: beta, recipe: a.yaml, needs_docker_daemon: true}]\n")
	r.write("config/ci/regression_baselines.yaml", "baselines: {}\n")
	r.recipe("a.yaml", "c")
	r.run("--gpus", "2", "--docker-socket").want(t, 4, map[string]string{
		"alpha": "skip", "beta": "skip",
		"_nightly_eval": "fail: no entry ran, all were skipped: alpha needs 4 GPU(s), have 2; beta needs a docker daemon: no docker client on PATH",
	})
}

func TestBuildAndRun(t *testing.T) {
	r := one(t, "", gate)
	measured := tpot(1.9, 30)
	measured["digests"] = map[string]string{"cells/c/trial_0.json": "ab"}
	r.leaves("a.yaml", 0, measured)
	event := filepath.Join(r.root, "event.json")
	r.write("event.json", `{"workflow_run": {"event": "schedule"}}`)
	for k, v := range map[string]string{
		"UPSTREAM_RUN_ID": "77", "UPSTREAM_HEAD_SHA": "abc", "WHEEL_FILE": "w.whl", "AORTA_CI_LANE": "canary", "AORTA_CI_BASE_IMAGE": "rocm@sha256:aa",
		"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": event, "GITHUB_RUN_ID": "900", "GITHUB_RUN_ATTEMPT": "2", "RUNNER_NAME": "gpu-1",
	} {
		r.env[k] = v
	}
	o := r.run("--gpus", "8")
	res := o.results
	if res.Event != "workflow_run" || res.UpstreamEvent != "schedule" || res.RunID != 900 || res.RunAttempt != 2 || res.Runner != "gpu-1" || res.StartedAt == "" || !res.Complete {
		t.Errorf("got run %+v", res)
	}
	b := res.Build
	if *b.UpstreamRunID != "77" || *b.HeadSHA != "abc" || *b.WheelFile != "w.whl" || b.Lane != "canary" || *b.BaseImage != "rocm@sha256:aa" || b.Torch != nil {
		t.Errorf("got build %+v", b)
	}
	row := res.Entries[0]
	if row.Fingerprint[report.BaseImageDigest] != "rocm@sha256:aa" || row.Fingerprint[report.RecipeDigest] == "" {
		t.Errorf("got fingerprint %v", row.Fingerprint)
	}
	if trial := filepath.Join(filepath.Dir(*row.MatrixPath), "cells/c/trial_0.json"); row.Evidence[trial] != "ab" {
		t.Errorf("got evidence %v, want the trial's digest beside the matrix.json's", row.Evidence)
	}
	if sum := row.Evidence[*row.MatrixPath]; len(sum) != 64 || filepath.IsAbs(*row.MatrixPath) {
		t.Errorf("got evidence %v of %s", row.Evidence, *row.MatrixPath)
	}
}

func TestBuildDefaults(t *testing.T) {
	dir := t.TempDir()
	blank, dev := filepath.Join(dir, "version"), filepath.Join(dir, "version-dev")
	os.WriteFile(blank, []byte(" \n"), 0o644)
	os.WriteFile(dev, []byte("7.0.2.2\n"), 0o644)
	b := readBuild(func(string) string { return "" }, []string{blank, dev})
	if b.Lane != "gate" || b.ROCm == nil || *b.ROCm != "7.0.2.2" || b.BaseImage != nil || b.HeadSHA != nil {
		t.Errorf("got %+v, want lane gate, ROCm of the second file, the rest null", b)
	}
}

func TestBoundOfAnotherStackIsLoud(t *testing.T) {
	r := one(t, "", `alpha::c: {metrics: {median_tpot_ms: {value: 2.4, provenance: {fingerprint: {base_image_digest: "rocm@sha256:aa"}}}}}`)
	r.leaves("a.yaml", 0, tpot(9.9, 30))
	r.env["AORTA_CI_BASE_IMAGE"] = "rocm@sha256:bb"
	o := r.run("--gpus", "8")
	o.want(t, 0, map[string]string{"alpha::c": "record: the bound on median_tpot_ms was not held: it was derived on another stack (base_image_digest was rocm@sha256:aa, is rocm@sha256:bb)"})
	if !strings.Contains(o.stderr, "warning: alpha::c: the bound on median_tpot_ms was not held") {
		t.Errorf("got no warning in\n%s", o.stderr)
	}
	r.env["AORTA_CI_BASE_IMAGE"] = "rocm@sha256:aa"
	r.run("--gpus", "8").want(t, 1, map[string]string{"alpha::c": "fail"})
}
