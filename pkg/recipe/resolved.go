package recipe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// resolved is a recipe in which every default is written out.
type resolved struct {
	SchemaVersion int            `yaml:"schema_version"`
	Ticket        *string        `yaml:"ticket"`
	Workload      string         `yaml:"workload"`
	Trials        int            `yaml:"trials"`
	Steps         int            `yaml:"steps"`
	Confound      map[string]any `yaml:"confound"`
	Cells         []resolvedCell `yaml:"cells"`
}

type resolvedCell struct {
	Name           string            `yaml:"name"`
	Mitigations    []string          `yaml:"mitigations"`
	Environment    any               `yaml:"environment"`
	ExtraEnv       map[string]string `yaml:"extra_env"`
	Trials         int               `yaml:"trials"`
	Steps          int               `yaml:"steps"`
	WorkloadConfig map[string]any    `yaml:"workload_config"`
}

// Resolved returns the recipe as YAML with every default written out, for recipe.resolved.yaml: it
// loads to the same cells. A recipe of another workload than [Serving] is returned as it is; its
// defaults are not ours.
func (r *Recipe) Resolved() ([]byte, error) {
	if r.Workload != Serving {
		return slices.Clone(r.doc.Bytes()), nil
	}
	out := resolved{
		SchemaVersion: 1, Workload: r.Workload, Trials: r.Trials, Steps: r.Steps,
		Confound: map[string]any{"threshold": r.Confound.Threshold},
	}
	if r.Ticket != "" {
		out.Ticket = &r.Ticket
	}
	if r.Confound.BaselineCell != "" {
		out.Confound["baseline_cell"] = r.Confound.BaselineCell
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		cell := resolvedCell{
			Name: c.Name, Mitigations: c.Mitigations, Environment: c.Environment.Name, ExtraEnv: c.ExtraEnv,
			Trials: c.Trials, Steps: c.Steps, WorkloadConfig: c.Serve.Config(),
		}
		if c.Environment.Docker != "" {
			cell.Environment = map[string]string{"docker": c.Environment.Docker}
		}
		out.Cells = append(out.Cells, cell)
	}
	data, err := yaml.Dump(out)
	if err != nil {
		return nil, fmt.Errorf("writing the resolved recipe: %w", err)
	}
	return data, nil
}

// serveArgs gives the drain timeout back its place among the arguments.
func (s *Serve) serveArgs() []string {
	return slices.Concat(s.ServeArgs, []string{drainFlag, strconv.FormatInt(wholeSeconds(s.DrainTimeout), 10)})
}

func (s *Serve) gateKeys() map[string]float64 {
	keys := map[string]float64{}
	for _, g := range s.Gates {
		keys[g.Name] = g.Bound
	}
	return keys
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }

func portOrAuto(port int) any {
	if port == 0 {
		return "auto"
	}
	return port
}

func joinNumbers(numbers []float64) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strings.Join(parts, ",")
}
