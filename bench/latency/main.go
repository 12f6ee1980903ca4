// Package main is the benchmark behind the project's own latency fixtures, bench/fixtures.json:
//
//	go run ./bench/latency log-ingest
//	go run ./bench/latency zip-import
//
// It prints one metric line a figure, each the median of --runs runs after one that does not count.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/manifest"
	"github.com/gatehouse-ci/gatehouse/pkg/fixture/rawlog"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var door = &step.Door{
	Name:    "bench-latency",
	Summary: "measures a part of the fixture wing and prints metric lines",
	Manual:  "The lines go to standard error, as fixture-run takes them from either stream.",
	Inputs: []step.Input{
		{Name: "subject", Kind: step.Choice, Arg: "SUBJECT", Positional: true, Required: true, Choices: []string{"log-ingest", "zip-import"}, Help: "What to measure."},
		{Name: "runs", Kind: step.Int, Arg: "N", Default: "7", Help: "Runs behind each figure."},
	},
}

func main() {
	os.Exit(step.Main(func(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }))
}

// A bench is one run of it: the figures in the order of names.
type bench struct {
	names []string
	units []string
	once  func() ([]float64, error)
}

func run(ctx context.Context, s *step.Step) int {
	dir, err := os.MkdirTemp(memoryFileSystem(), "bench-latency-")
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error()})
	}
	defer os.RemoveAll(dir)
	prepare := logIngest
	if s.In.String("subject") == "zip-import" {
		prepare = zipImport
	}
	b, err := prepare(dir)
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: "preparing: " + err.Error()})
	}
	samples := make([][]float64, len(b.names))
	for i := range max(s.In.Int("runs"), 1) + 1 {
		if ctx.Err() != nil {
			return s.Finish(step.NoVerdict, nil, strict.Problem{Message: context.Cause(ctx).Error()})
		}
		figures, err := b.once()
		if err != nil {
			return s.Finish(step.Negative, nil, strict.Problem{Message: err.Error()})
		}
		for k := range figures {
			if i > 0 { // the first run warms the caches up
				samples[k] = append(samples[k], figures[k])
			}
		}
	}
	medians := map[string]float64{}
	for k, name := range b.names {
		medians[name] = stats.Median(samples[k])
		s.Text(fmt.Sprintf("%s: %.4g to %.4g %s in %d runs\n", name, stats.Sorted(samples[k])[0], stats.Sorted(samples[k])[len(samples[k])-1], b.units[k], len(samples[k])))
		s.Text(fmt.Sprintf("%s %s %s %s\n", rawlog.DefaultPrefix, name, manifest.FormatFloat(medians[name]), b.units[k]))
	}
	return s.Done(map[string]any{"medians": medians})
}

// memoryFileSystem keeps the disk out of the figures where it can.
func memoryFileSystem() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func since(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / 1e6 }
