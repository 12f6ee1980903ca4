// Package main measures the load generator against a server whose truth is known: engine-sim notes the time of every
// write, this program drives it with pkg/serving/loadgen and compares event by event.
//
//	make bench-loadgen
//
// Server and client run in processes of their own, one core each. Every row is the median of --runs runs; the program
// exits with 1 when a row misses a limit. Two rows show the verdicts: a client forced to 100 connections must be told
// load_not_delivered, one whose core is taken client_limited.
package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var door = &step.Door{
	Name:    "bench-loadgen",
	Summary: "measures the load generator against the send log of engine-sim",
	Manual:  "Prints a table and exits with 1 when a limit is missed.",
	Inputs: []step.Input{
		{Name: "engine-sim", Kind: step.Path, Default: "out/bin/engine-sim", Arg: "FILE", Help: "The simulated engine."},
		{Name: "runs", Kind: step.Int, Default: "3", Arg: "N", Help: "Runs behind each row."},
		{Name: "server-core", Kind: step.Int, Default: "0", Arg: "N", Help: "The server's core."},
		{Name: "client-core", Kind: step.Int, Default: "1", Arg: "N", Help: "The client's core."},
		{Name: "metrics", Kind: step.Bool, Help: "Be a latency fixture: run the first load alone and print metric lines; the limits are the fixture's."},
		{Name: "pinned", Kind: step.Bool, Help: "Says that the client is on its core already; the program starts itself again otherwise."},
	},
}

func main() {
	os.Exit(step.Main(func(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }))
}

// load is one row of the table.
type load struct {
	name        string
	concurrency int
	itl         time.Duration
	connLimit   int
	hog         bool   // something else runs on the client's core
	wantTag     string // the verdict that must be there; the row has no limits then
}

var loads = []load{
	{name: "concurrency 8", concurrency: 8, itl: 2 * time.Millisecond},
	{name: "concurrency 64", concurrency: 64, itl: 2 * time.Millisecond},
	{name: "concurrency 256", concurrency: 256, itl: 8 * time.Millisecond},
	{name: "100 connections for 256", concurrency: 256, itl: 8 * time.Millisecond, connLimit: 100, wantTag: loadgen.TagLoadNotDelivered},
	{name: "loaded client core", concurrency: 64, itl: 2 * time.Millisecond, hog: true, wantTag: loadgen.TagClientLimited},
}

// run measures every load.
func run(ctx context.Context, s *step.Step) int {
	if !s.In.Bool("pinned") {
		return again(ctx, s)
	}
	var rows []row
	measured := loads
	if s.In.Bool("metrics") {
		measured = loads[:1]
	}
	for _, l := range measured {
		r, err := measure(ctx, s, l)
		if err != nil {
			return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: l.name + ": " + err.Error(), Hint: "run make build first"})
		}
		rows = append(rows, r)
		s.Say("%s: done", l.name)
	}
	s.Text(table(rows))
	if s.In.Bool("metrics") {
		s.Text(metricLines(rows[0]))
		return s.Done(map[string]any{"rows": rows})
	}
	var missed []strict.Problem
	for _, r := range rows {
		hint := ""
		if slices.Contains(r.Tags, loadgen.TagClientLimited) {
			hint = "something else used the client's core: run it on a quiet machine"
		}
		for _, m := range r.Missed {
			missed = append(missed, strict.Problem{Field: r.Load, Message: m, Hint: hint})
		}
	}
	if len(missed) > 0 {
		return s.Finish(step.Negative, map[string]any{"rows": rows}, missed...)
	}
	return s.Done(map[string]any{"rows": rows})
}

// again starts this program once more on the client's core, so that the Go runtime counts one core from the start.
func again(ctx context.Context, s *step.Step) int {
	self, err := os.Executable()
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error()})
	}
	sim, err := filepath.Abs(s.DirPath(s.In.String("engine-sim")))
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error()})
	}
	client := s.In.String("client-core")
	if !s.In.Given("client-core") && runtime.NumCPU() == 1 {
		client = "0"
	}
	args := []string{"-c", client, self, "--pinned", "--engine-sim", sim, "--runs", s.In.String("runs"), "--server-core", s.In.String("server-core"), "--client-core", client}
	if s.In.Bool("metrics") {
		args = append(args, "--metrics")
	}
	cmd := exec.CommandContext(ctx, "taskset", args...)
	cmd.Stdout, cmd.Stderr = s.Stdout, s.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error(), Hint: "taskset comes with util-linux"})
	}
	return cmd.ProcessState.ExitCode()
}
