package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// Swept is what a sweep did about one record.
type Swept struct {
	// Record is the run.
	Record workroot.Record

	// Ended is how many processes were found and ended.
	Ended int

	// Kept tells why the run was left alone; empty when it was dealt with.
	Kept string
}

// Sweep ends what killed or overdue runs left behind in the work root: only runs with a record of ours, and of those
// only the ones whose owner is dead or late. The error names what could not be ended or read.
func Sweep(ctx context.Context, root *workroot.Root, now time.Time, grace time.Duration) ([]Swept, error) {
	records, err := root.Records()
	var out []Swept
	for _, rec := range records {
		swept, failed := sweep(ctx, root, rec, now, grace)
		out = append(out, swept)
		err = errors.Join(err, failed)
	}
	return out, err
}

func sweep(ctx context.Context, root *workroot.Root, rec workroot.Record, now time.Time, grace time.Duration) (Swept, error) {
	done := Swept{Record: rec}
	switch rec.Fate(now) {
	case workroot.Keep:
		done.Kept = fmt.Sprintf("its owner, process %d, runs until %s", rec.Owner.PID, rec.Deadline.Format(time.RFC3339))
		if rec.Namespace != workroot.Namespace() {
			done.Kept = "it was started in another PID namespace"
		}
		return done, nil
	case workroot.End:
		if rec.Engine.PID != 0 && rec.Engine.Start == 0 { // its number may be another's by now
			done.Kept = fmt.Sprintf("this system does not tell its processes from later ones: see whether process %d is an engine", rec.Engine.PID)
			break
		}
		t := tree{token: rec.Token, leader: rec.Engine}
		done.Ended = len(t.members())
		if err := t.end(ctx, grace); err != nil {
			return done, fmt.Errorf("ending run %s: %w", rec.Token, err)
		}
	}
	return done, root.Forget(rec.Token)
}
