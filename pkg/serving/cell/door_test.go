package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// The manual's recipe is one.
func TestManualRecipe(t *testing.T) {
	_, rest, ok := strings.Cut(manual, "A small recipe:\n\n")
	if !ok {
		t.Fatal("the manual has no recipe")
	}
	var text strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "    "))
	}
	path := filepath.Join(t.TempDir(), "recipe.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recipe.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Steps != 3 || len(r.Cells) != 1 || len(r.Cells[0].Serve.Gates) != 1 || len(r.Warnings) != 0 {
		t.Errorf("got %+v", r)
	}
}
