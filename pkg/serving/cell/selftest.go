package cell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

const selfTestRecipe = `schema_version: 1
workload: tokenspeed_serve
trials: 1
steps: 2
workload_config:
  driver: attach
  base_url: %s
  control_url: %s
  model: self-test
  num_prompts: 4
  input_len: 16
  output_len: 8
  max_concurrency: 2
  warmup_steps: 1
cells:
  - name: self-test
    mitigations: [none]
    environment: local
`

// selfTest measures one small cell on a simulated engine in this process and reads back what was written. How fast it was
// proves nothing, so a client that was short of CPU is none of its concern.
func selfTest(ctx context.Context, s *step.Step) error {
	dir, err := os.MkdirTemp("", "serve-cell-self-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	profile := enginesim.DefaultProfile()
	profile.TTFT, profile.ITL = 5*time.Millisecond, time.Millisecond
	sim, err := enginesim.Start(enginesim.Config{Model: "self-test", Profile: profile})
	if err != nil {
		return err
	}
	defer sim.Close()
	path := filepath.Join(dir, "recipe.yaml")
	if err := writeFile(path, fmt.Appendf(nil, selfTestRecipe, sim.URL(), sim.ControlURL())); err != nil {
		return err
	}
	r, err := recipe.Load(path)
	if err != nil {
		return err
	}
	done, err := Measure(ctx, Options{
		Recipe: r, OutDir: filepath.Join(dir, "out"), WorkDir: filepath.Join(dir, "work"), Now: time.Now,
		Say: func(string, ...any) {}, Progress: func(string, int64) Progress { return quiet{} },
	})
	if err != nil {
		return err
	}
	c := done.Matrix.Cells[0]
	if !c.Passed() || len(c.Steps) != 2 {
		return fmt.Errorf("the cell did not pass: %+v", c.Failures)
	}
	if got, want := c.Steps[1].Metrics["total_output_tokens"], 4.0*8; got != want {
		return fmt.Errorf("%v output tokens were measured in a step, want %v", got, want)
	}
	return nil
}

// quiet is the progress of a run that nobody watches.
type quiet struct{}

func (quiet) Set(int64)           {}
func (quiet) Note(string, ...any) {}
func (quiet) Done()               {}
