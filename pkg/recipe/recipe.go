package recipe

import (
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Serving is the workload whose workload_config this package knows.
const Serving = "tokenspeed_serve"

// A Recipe is one recipe, checked and with every default filled in.
type Recipe struct {
	// Path is the file as it was named to [Load]; SHA256 is the hex digest of its bytes.
	Path, SHA256 string
	// Ticket groups runs in the output folder; "" when the recipe names none.
	Ticket string
	// Workload names what the cells run; see [Serving].
	Workload string
	// Trials and Steps are the defaults of the cells, both at least 1. For the serving workload
	// a trial is one engine, and a step one measured bench run against it.
	Trials, Steps int
	// Confound says which cell the others are held against.
	Confound Confound
	// WorkloadConfig is the recipe-scope workload_config as written.
	WorkloadConfig map[string]any
	// Cells are at least one, in the order of the file, with unique names.
	Cells []Cell
	// Warnings tell what is legal and still worth a look; one sentence each.
	Warnings []string

	doc *strict.Document
}

// Confound is the rule of the noise check between cells.
type Confound struct {
	// Threshold is the ratio above which cells count as apart; default 1.15.
	Threshold float64
	// BaselineCell names the cell that is the reference; "" when the recipe names none.
	BaselineCell string
}

// A Cell is one configuration to measure.
type Cell struct {
	// Name is unique in the recipe and safe as a file name.
	Name string
	// Mitigations are names of the registry, in order; ["none"] is the baseline.
	Mitigations []string
	// Environment is where the cell runs.
	Environment Environment
	// ExtraEnv is the cell's extra_env as written.
	ExtraEnv map[string]string
	// Env is what the cell sets for the engine: the mitigations' variables, then ExtraEnv over them.
	Env map[string]string
	// Trials and Steps are the cell's own, or the recipe's.
	Trials, Steps int
	// WorkloadConfig is the cell's workload_config merged over the recipe's, as written.
	WorkloadConfig map[string]any
	// Serve is WorkloadConfig checked and completed; nil for another workload than [Serving].
	Serve *Serve
}

// An Environment is a registered environment or a container image.
type Environment struct {
	// Name is the registered name, or _inline_ and a digest of Docker.
	Name string
	// Docker is the image reference; "" for a registered environment.
	Docker string
}

// Cell returns the cell of that name, nil when there is none.
func (r *Recipe) Cell(name string) *Cell {
	for i := range r.Cells {
		if r.Cells[i].Name == name {
			return &r.Cells[i]
		}
	}
	return nil
}

// Problem returns a problem of a field of the recipe, such as "cells[1].name", at its place in the
// file; see [strict.Document.Problem].
func (r *Recipe) Problem(field, format string, args ...any) strict.Problem {
	return r.doc.Problem(field, format, args...)
}
