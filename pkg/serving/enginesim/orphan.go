package enginesim

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// startOrphan starts a child that ignores SIGTERM and lives for the time
// given, whatever becomes of its parent: another engine-sim, never ready,
// whose start-up ends in death. It stays in the process group and keeps
// stderr open, as an engine's forgotten worker does.
func startOrphan(s *step.Step, life time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the own binary: %w", err)
	}
	child := exec.Command(self, "serve", "orphan", "--port", "0", "--control-port", "0",
		"--startup", (2 * life).String(), "--gateway-startup-timeout", (2 * life).String(),
		"--fault", "die-at-start", "--fault", "ignore-term")
	child.Stderr = s.Stderr
	for _, e := range s.Environ {
		// An INPUT_FAULT would give the child children of its own.
		if !strings.HasPrefix(e, "INPUT_") {
			child.Env = append(child.Env, e)
		}
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting the orphan: %w", err)
	}
	s.Say("started worker %d", child.Process.Pid)
	go child.Wait() // reaped when it ends before the parent
	return nil
}
