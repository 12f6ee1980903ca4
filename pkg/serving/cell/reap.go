package cell

import (
	"context"
	"fmt"
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// reap ends what killed runs left behind.
func reap(ctx context.Context, s *step.Step) int {
	dirs, problems := reapDirs(s)
	if problems != nil {
		return s.Finish(step.Usage, nil, problems...)
	}
	type line struct {
		Token string `json:"token"`
		Cell  string `json:"cell"`
		Ended int    `json:"ended"`
		Kept  string `json:"kept,omitempty"`
	}
	doc := struct {
		Runs []line `json:"runs"`
	}{[]line{}}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); os.IsNotExist(err) {
			continue // nothing was ever run there
		}
		root, err := workroot.Open(dir)
		if err != nil {
			problems = append(problems, rootProblem(err))
			continue
		}
		swept, err := engine.Sweep(ctx, root, s.Now(), engine.CancelGrace)
		for _, w := range swept {
			doc.Runs = append(doc.Runs, line{w.Record.Token, w.Record.Cell, w.Ended, w.Kept})
			s.Say("run %s of cell %s: %s", w.Record.Token, w.Record.Cell, reaped(w))
		}
		if err != nil {
			problems = append(problems, strict.Problem{Path: dir, Message: err.Error(), Hint: "see what the processes wait for; then reap again"})
		}
	}
	if problems != nil {
		return s.Finish(step.CouldNotRun, doc, problems...)
	}
	s.Say("%d runs looked at", len(doc.Runs))
	return s.Done(doc)
}

func reaped(w engine.Swept) string {
	switch {
	case w.Kept != "":
		return "left alone: " + w.Kept
	case w.Ended == 0:
		return "nothing was left of it"
	}
	return fmt.Sprintf("ended %d processes", w.Ended)
}

// reapDirs lists the work roots to look at: the one that is named, or those of the recipe's cells.
func reapDirs(s *step.Step) ([]string, strict.Problems) {
	if dir := workDir(s); dir != "" {
		return []string{dir}, nil
	}
	if !s.In.Given("recipe") {
		return nil, strict.Problems{{Field: "--work-dir", Message: "reap needs the work root", Hint: "give --work-dir, TS_SERVE_WORK_DIR or --recipe"}}
	}
	r, err := recipe.Load(s.Path(s.In.String("recipe")))
	if err != nil {
		return nil, step.Problems(err)
	}
	var dirs []string
	seen := map[string]bool{}
	for _, c := range r.Cells {
		if c.Serve != nil && !seen[c.Serve.WorkDir] {
			seen[c.Serve.WorkDir] = true
			dirs = append(dirs, c.Serve.WorkDir)
		}
	}
	return dirs, nil
}
