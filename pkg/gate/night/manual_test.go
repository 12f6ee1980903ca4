package night

import (
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
)

// The manual's examples are what people copy, so they must be accepted as they stand.
func TestManualExamples(t *testing.T) {
	r := newRig(t)
	var matrices, recipes, baselines, reports int
	for _, block := range examples() {
		switch {
		case strings.Contains(block, `"cells":`):
			reports++
			m, err := report.Parse("matrix.json", []byte(block))
			if err != nil || !m.Cells[0].Passed() || m.Cells[0].MetricsSummary["latency_ms"].Mean != 3.1 {
				t.Errorf("the matrix.json of the manual: got %+v, %v, want a cell that passed", m, err)
			}
		case strings.Contains(block, "workload:"):
			recipes++
			if _, err := recipe.Parse("recipe.yaml", []byte(block)); err != nil {
				t.Errorf("the recipe of the manual: %v", err)
			}
			for _, name := range []string{"serve-smoke", "training-ddp", "serve-load"} {
				r.write("recipes/"+name+".yaml", block)
			}
		case strings.Contains(block, "baselines:"):
			baselines++
			if _, err := baseline.Parse("baselines.yaml", []byte(block)); err != nil {
				t.Errorf("the baselines of the manual: %v", err)
			}
		}
	}
	for _, block := range examples() {
		if strings.Contains(block, "pending_entries:") {
			matrices++
			if _, err := matrix.Parse(r.root, "matrix.yaml", []byte(block)); err != nil {
				t.Errorf("the matrix of the manual: %v", err)
			}
		}
	}
	if matrices != 1 || recipes != 1 || baselines != 1 || reports != 1 {
		t.Errorf("got %d matrices, %d recipes, %d baselines, %d matrix.json in the manual, want one each", matrices, recipes, baselines, reports)
	}
}

// examples are the indented blocks of the manual.
func examples() []string {
	var blocks []string
	var block strings.Builder
	for line := range strings.Lines(manual + "\n") {
		if text, indented := strings.CutPrefix(line, "    "); indented {
			block.WriteString(text)
			continue
		}
		if block.Len() > 0 {
			blocks = append(blocks, block.String())
			block.Reset()
		}
	}
	return blocks
}
