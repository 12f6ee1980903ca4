// Package report is matrix.json: what one run of a recipe measured, cell by cell. A serving run
// writes it and the gate reads it; neither imports the other.
//
// The layout is that of the reference tool, at
//
//	<output dir>/<ticket or _no_ticket_>/<workload>/<timestamp>/matrix.json
//
// What Gatehouse adds are further keys that other readers step over; no key of the reference
// changes its meaning. The file is written by machines, also by other tools, so reading is strict
// about types, duplicate keys, duplicate cell names, NaN and infinities, and open to keys it does
// not know.
package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// SchemaVersion is the only version of the layout.
const SchemaVersion = 1

// Matrix is one matrix.json.
type Matrix struct {
	SchemaVersion int `json:"schema_version"`
	// Workload is the recipe's workload, such as "tokenspeed_serve".
	Workload string `json:"workload"`
	// Ticket groups runs in the output folder; nil where the recipe names none.
	Ticket *string `json:"ticket"`
	// TrialsPerCell and StepsPerTrial are the recipe's defaults, before a cell's own.
	TrialsPerCell int `json:"trials_per_cell"`
	StepsPerTrial int `json:"steps_per_trial"`
	// RunTimestamp is the start of the run in UTC, as in the folder's name.
	RunTimestamp string `json:"run_timestamp"`
	// BaselineCell is the cell that the others are held against; nil where the recipe has none.
	BaselineCell *string      `json:"baseline_cell"`
	Confound     Confound     `json:"confound"`
	StopAfter    any          `json:"stop_after"`
	Warnings     []string     `json:"warnings"`
	RecipeSource RecipeSource `json:"recipe_source"`
	// Cells holds one entry per cell that was run, in the recipe's order.
	Cells []Cell `json:"cells,omitempty"`

	// Tool names the writer and its version ("serve-cell v0.1.0"). Extra key.
	Tool string `json:"tool,omitempty"`
	// Fingerprint is the stack that every cell of this file ran on. Extra key.
	Fingerprint Fingerprint `json:"fingerprint,omitempty"`
	// Extra takes the keys of another writer; it is not written.
	Extra strict.Extra `json:"-" strict:"extra"`
}

// Confound is the recipe's confound block as the run understood it.
type Confound struct {
	Threshold              float64      `json:"threshold"`
	BaselineCellConfigured *string      `json:"baseline_cell_configured"`
	Extra                  strict.Extra `json:"-" strict:"extra"`
}

// RecipeSource says which bytes were run.
type RecipeSource struct {
	Path   string       `json:"path"`
	SHA256 string       `json:"sha256"`
	Extra  strict.Extra `json:"-" strict:"extra"`
}

// Where the step times of a cell come from. The worst source of its trials wins.
const (
	SourcePerStep        = "per_step"
	SourceElapsedPerIter = "elapsed_per_iter"
	SourceWallClock      = "wall_clock_total"
	SourceMissing        = "missing" // nothing was measured; the step times are null or 0.0
)

// Fingerprint is the stack a measurement was taken on, field by field. Two measurements compare
// only where their fingerprints are equal; the order of fields carries no meaning.
type Fingerprint map[string]string

// The fields of a fingerprint. A field that could not be found out is absent.
const (
	EngineDigest    = "engine_digest"
	BaseImageDigest = "base_image_digest"
	Driver          = "driver"
	ROCm            = "rocm"
	CUDA            = "cuda"
	Torch           = "torch"
	GPUModel        = "gpu_model"
	GPUCount        = "gpu_count"
	GPUPowerCap     = "gpu_power_cap"
	RecipeDigest    = "recipe_digest" // the measurement-relevant fields of the recipe
	Client          = "client"        // "native" or "engine"
)

// Moved names the first field, in alphabetical order, in which tonight's stack differs from f, with
// both values; "" where they agree in every field that f has. A field that tonight does not know
// differs.
func (f Fingerprint) Moved(tonight Fingerprint) string {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		if now := tonight[field]; now != f[field] {
			if now == "" {
				now = "unknown"
			}
			return fmt.Sprintf("%s was %s, is %s", field, f[field], now)
		}
	}
	return ""
}
