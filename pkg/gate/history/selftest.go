package history

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// selfTest publishes a night to a folder, reads it back, and sees a cut file refused.
func selfTest(ctx context.Context, _ *step.Step) error {
	dir, err := os.MkdirTemp("", "history-publish-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	r, err := FromResults("", Document{"self-test", []byte(`{"schema_version": 1, "started_at": "2026-09-08T04:11:12+00:00", "event": "schedule", "run_id": 7, "run_attempt": 1, "entries": []}`)})
	if err != nil {
		return err
	}
	h, err := Open(dir, "history")
	if err != nil {
		return err
	}
	done, err := h.Publish(ctx, r)
	if err != nil {
		return err
	}
	for back, err := range h.Runs(ctx) {
		if err != nil {
			return err
		}
		if back.SHA256 != done[0].SHA256 {
			return fmt.Errorf("%s came back with other bytes", back.Path)
		}
	}
	_, err = parse(h.name, done[0].Path, []byte(`{"schema_version": 1, "star`))
	if err == nil || !strings.Contains(err.Error(), "byte 27: the file is cut short") {
		return fmt.Errorf("a file that is cut short: got %v", err)
	}
	return nil
}
