package cell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// layOut makes the run's folder and writes what is known before anything is measured.
func (r *run) layOut() error {
	base := filepath.Join(r.OutDir, group(r.Recipe.Ticket), r.Recipe.Workload)
	stamp := r.Now().UTC().Format("20060102T150405Z")
	dir, err := freshFolder(base, stamp)
	if err != nil {
		return err
	}
	r.dir, r.host = dir, ReadHost()
	r.matrix = newMatrix(r.Recipe, stamp, r.Tool)
	if r.RecipePath != "" {
		r.matrix.RecipeSource.Path = r.RecipePath
	}
	r.matrix.Fingerprint = r.host.fingerprint()
	resolved, err := r.Recipe.Resolved()
	if err != nil {
		return fmt.Errorf("writing the resolved recipe: %w", err)
	}
	if err := writeFile(filepath.Join(dir, "recipe.resolved.yaml"), resolved); err != nil {
		return err
	}
	if _, err := writeJSON(filepath.Join(dir, "host_env.json"), r.host); err != nil {
		return err
	}
	return r.matrix.Write(filepath.Join(dir, "matrix.json"))
}

// freshFolder makes base/stamp, or base/stamp-2 and so on when another run began in the same second.
func freshFolder(base, stamp string) (string, error) {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("making the output folder: %w", err)
	}
	const most = 1000
	for n := 1; n < most; n++ {
		dir := filepath.Join(base, stamp)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
	return "", fmt.Errorf("making the output folder: %d runs began at %s", most, stamp)
}

func group(ticket string) string {
	if ticket == "" {
		return "_no_ticket_"
	}
	return ticket
}
