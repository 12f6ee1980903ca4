// Package main measures how fixture-run and artifact-import take in a log of 2 GiB, as the real binaries in a real
// repository, all on a memory file system:
//
//	make bench-intake
//
// A run hashes, copies and parses what its command prints; beside it, in turn, tee and sha256sum do the same without
// looking. The import takes the log out of a zip archive. Peak memory is the larger of the binary's and of the git
// commands it starts. The program exits with 1 when the run takes over 1.5 times as long, in the median, or a binary
// over 64 MiB.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/stats"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// The limits.
const (
	maxRatio   = 1.5
	maxPeakMiB = 64.0
)

var door = &step.Door{
	Name:    "bench-intake",
	Summary: "measures time and memory of fixture-run and artifact-import on a large log",
	Manual:  "Prints a table and exits with 1 when a limit is missed.",
	Inputs: []step.Input{
		{Name: "bin", Kind: step.Path, Default: "out/bin", Arg: "DIR", Help: "The folder of the binaries, from the top of the repository."},
		{Name: "mib", Kind: step.Int, Default: "2048", Arg: "N", Help: "The size of the log."},
		{Name: "runs", Kind: step.Int, Default: "5", Arg: "N", Help: "Runs behind each median."},
	},
}

func main() {
	os.Exit(step.Main(func(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }))
}

// A result is what was measured.
type result struct {
	MiB       int       `json:"log_mib"`
	Runs      []float64 `json:"fixture_run_s"`
	Peers     []float64 `json:"tee_sha256sum_s"`
	Ratio     float64   `json:"ratio_of_medians"`
	RunPeak   float64   `json:"fixture_run_peak_mib"`
	Import    float64   `json:"artifact_import_s"`
	ImportMiB float64   `json:"artifact_import_peak_mib"`
	// ZipMiB is the size of the archive.
	ZipMiB float64 `json:"zip_mib"`
}

func run(ctx context.Context, s *step.Step) int {
	parent := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "bench-intake-")
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error()})
	}
	defer os.RemoveAll(dir)
	r, err := (&intake{Step: s, bin: s.Path(s.In.String("bin")), dir: dir}).measure(ctx)
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error(), Hint: "run make build first; the log is needed three times over in memory"})
	}
	s.Say("fixture-run: %.2f s in the median of %d, %.2f times tee | sha256sum (%.2f s), peak %.1f MiB", stats.Median(r.Runs), len(r.Runs), r.Ratio, stats.Median(r.Peers), r.RunPeak)
	s.Say("artifact-import: %.2f s from a zip of %.0f MiB, peak %.1f MiB", r.Import, r.ZipMiB, r.ImportMiB)
	var missed strict.Problems
	miss := func(what string, got, limit float64) {
		if !(got <= limit) {
			missed = append(missed, strict.Problem{Field: what, Message: fmt.Sprintf("is %.2f, the limit is %g", got, limit)})
		}
	}
	miss("ratio_of_medians", r.Ratio, maxRatio)
	miss("fixture_run_peak_mib", r.RunPeak, maxPeakMiB)
	miss("artifact_import_peak_mib", r.ImportMiB, maxPeakMiB)
	if len(missed) > 0 {
		return s.Finish(step.Negative, r, missed...)
	}
	return s.Done(r)
}

// An intake is one measurement in a folder of its own.
type intake struct {
	*step.Step
	bin, dir string
}

func (in *intake) path(name string) string { return filepath.Join(in.dir, name) }

func (in *intake) measure(ctx context.Context) (*result, error) {
	r := &result{MiB: in.In.Int("mib")}
	if err := writeLog(in.path("big.log"), int64(r.MiB)<<20); err != nil {
		return nil, err
	}
	if err := in.repository(ctx); err != nil {
		return nil, err
	}
	for range max(in.In.Int("runs"), 1) {
		// Each in turn, so that whatever else the machine does meets both.
		took, _, err := in.command(ctx, "/bin/sh", "-c", "tee ../copy < ../big.log | sha256sum")
		if err != nil {
			return nil, err
		}
		r.Peers = append(r.Peers, took)
		for _, left := range []string{in.path("copy"), in.path("repo/bench-results")} {
			if err := os.RemoveAll(left); err != nil {
				return nil, err
			}
		}
		took, peak, err := in.command(ctx, filepath.Join(in.bin, "fixture-run"), "big", "--quiet")
		if err != nil {
			return nil, err
		}
		r.Runs, r.RunPeak = append(r.Runs, took), max(r.RunPeak, peak)
		in.Say("fixture-run %.2f s, tee | sha256sum %.2f s", took, r.Peers[len(r.Peers)-1])
	}
	r.Ratio = stats.Median(r.Runs) / stats.Median(r.Peers)
	return r, in.importZip(ctx, r)
}

// importZip packs what the last run left and imports it.
func (in *intake) importZip(ctx context.Context, r *result) error {
	results, archive := in.path("repo/bench-results"), in.path("big.zip")
	if err := errors.Join(os.Remove(in.path("big.log")), pack(archive, filepath.Join(results, "backend-latency"))); err != nil {
		return err
	}
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	r.ZipMiB = float64(info.Size()) / (1 << 20)
	if err := os.RemoveAll(results); err != nil {
		return err
	}
	r.Import, r.ImportMiB, err = in.command(ctx, filepath.Join(in.bin, "artifact-import"), archive)
	return err
}

// command runs a program in the repository: its seconds, and the peak of its memory in MiB.
func (in *intake) command(ctx context.Context, name string, args ...string) (seconds, peak float64, err error) {
	echo := in.Child(filepath.Base(name))
	defer echo.Close()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = in.path("repo"), echo
	start := time.Now()
	out, err := cmd.Output()
	seconds = time.Since(start).Seconds()
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", name, err, out[:min(len(out), 2000)])
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return seconds, float64(usage.Maxrss) / maxrssUnit(), nil
}

// repository makes the repository of one fixture.
func (in *intake) repository(ctx context.Context) error {
	if err := os.Mkdir(in.path("repo"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{".gitignore": "*.log\n", "docs/backend-latency-fixtures.json": manifestText} {
		file := in.path("repo/" + name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	who := []string{"-c", "user.name=gatehouse", "-c", "user.email=gatehouse@localhost", "-c", "commit.gpgsign=false"}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		if _, _, err := in.command(ctx, "git", slices.Concat(who, args)...); err != nil {
			return err
		}
	}
	return nil
}
