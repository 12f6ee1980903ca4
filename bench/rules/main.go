// Package main simulates the rules by which a bound is derived and held, over thousands of windows of nights whose
// truth is known, and holds the figures to those that were published for them.
//
//	make bench-rules
//
// False alarms are counted in 100 healthy nights; +20 % and +30 % are the chance that a lasting change of that size
// is found within three nights. The program exits with 1 when a figure is off by more than sampling explains.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

var door = &step.Door{
	Name:    "bench-rules",
	Summary: "simulates the rules by which a bound is derived and held",
	Manual:  "Prints a table and exits with 1 when a figure is off by more than sampling explains.",
	Inputs: []step.Input{
		{Name: "windows", Kind: step.Int, Default: "6000", Arg: "N", Help: "Windows behind each row."},
		{Name: "seed", Kind: step.Int, Default: "1", Arg: "N", Help: "The seed of the dice."},
	},
}

func main() {
	os.Exit(step.Main(func(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }))
}

func run(_ context.Context, s *step.Step) int {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "noise\texcursions\tnights\trule\tfalse alarms\t+20 %\t+30 %\tpublished\t")
	var problems strict.Problems
	for _, row := range published {
		got := simulate(row.World, row.Policy, row.Nights, s.In.Int("windows"), uint64(s.In.Int("seed")))
		off := row.off(got, 3)
		for _, text := range off {
			problems = append(problems, strict.Problem{Field: row.String(), Message: text})
		}
		fmt.Fprintf(w, "%.0f %%\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%s\t\n", 100*row.World.CV, row.World.excursions(), row.Nights, row.Policy.Name,
			got.FalseAlarms.Mean, got.Sees20.Mean, got.Sees30.Mean, row.figures())
	}
	w.Flush()
	s.Text(b.String())
	if len(problems) > 0 {
		return s.Finish(step.Negative, nil, problems...)
	}
	return s.Done(nil)
}
