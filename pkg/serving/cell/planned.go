package cell

import (
	"fmt"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// PlannedCell is what a dry run tells of a cell.
type PlannedCell struct {
	Name     string            `json:"name"`
	Driver   string            `json:"driver"`
	Client   string            `json:"client"`
	Engine   string            `json:"engine"` // the command, or the URL of an attached engine
	Model    string            `json:"model"`
	Env      map[string]string `json:"env"`
	Trials   int               `json:"trials"`
	Warmup   int               `json:"warmup_steps"`
	Steps    int               `json:"steps"`
	Prompts  int               `json:"num_prompts"`
	Input    int               `json:"input_len"`
	Output   int               `json:"output_len"`
	Cap      int               `json:"max_concurrency"` // 0 is unbounded
	Rate     float64           `json:"request_rate"`    // 0 is all at once
	Gates    map[string]any    `json:"gates"`
	Timeout  float64           `json:"timeout_sec"`
	WorkRoot string            `json:"work_dir"`
	Digest   string            `json:"recipe_digest"`
}

// Plan tells what a run would do.
func Plan(o Options) []PlannedCell {
	out := []PlannedCell{}
	for _, c := range (&run{Options: o}).selected() {
		s := c.Serve
		p := PlannedCell{
			Name: c.Name, Driver: s.Driver, Client: s.Client, Engine: strings.Join(s.Command, " "), Model: s.Model, Env: c.Env,
			Trials: c.Trials, Warmup: s.WarmupSteps, Steps: c.Steps, Prompts: s.NumPrompts, Input: s.InputLen, Output: s.OutputLen,
			Cap: s.MaxConcurrency, Rate: s.RequestRate, Gates: map[string]any{}, Timeout: s.Timeout.Seconds(), WorkRoot: o.workDir(c), Digest: c.Digest(),
		}
		switch s.Driver {
		case recipe.DriverAttach:
			p.Engine = s.BaseURL
		case recipe.DriverDocker:
			p.Engine = s.Image
		}
		for _, g := range s.Gates {
			p.Gates[g.Name] = g.Bound
		}
		out = append(out, p)
	}
	return out
}

// String is the plan of a cell in a line.
func (p PlannedCell) String() string {
	load := "all at once"
	if p.Cap > 0 {
		load = fmt.Sprintf("at most %d at once", p.Cap)
	}
	if p.Rate > 0 {
		load = fmt.Sprintf("%g a second, %s", p.Rate, load)
	}
	return fmt.Sprintf("cell %s: %s engine %s, model %s: %d trial(s) of %d warm-up and %d measured steps, each %d requests of %d + %d tokens, %s",
		p.Name, p.Driver, p.Engine, p.Model, p.Trials, p.Warmup, p.Steps, p.Prompts, p.Input, p.Output, load)
}
