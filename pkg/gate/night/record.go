package night

import (
	"context"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Recorder runs entries one by one as a record-only night does, for what is to be blessed.
type Recorder struct{ n *night }

// NewRecorder reads the inputs of this package that run entries, and "work-dir". The problems are
// everything that is wrong with them.
func NewRecorder(s *step.Step) (*Recorder, strict.Problems) {
	n := &night{Step: s}
	problems := n.prepare()
	if n.matrix != nil {
		n.entries = n.matrix.Entries
		problems = append(problems, n.checkWorkDir()...)
	}
	return &Recorder{n}, problems
}

// Matrix is the matrix whose entries can be recorded.
func (r *Recorder) Matrix() *matrix.File { return r.n.matrix }

// Lacks says what this machine lacks for an entry, "" where it can run. A recipe that cannot be read is
// told by running it.
func (r *Recorder) Lacks(ctx context.Context, e *matrix.Entry) string {
	rec, err := recipe.Load(r.n.Path(e.Recipe))
	if err != nil {
		return ""
	}
	return r.n.cannotRun(ctx, e, rec)
}

// Record runs an entry and returns its rows: record for a cell that ran clean, skip for an entry that
// cannot run here, and anything else for what is not whole.
func (r *Recorder) Record(ctx context.Context, e *matrix.Entry) []Row { return r.n.entry(ctx, e) }
