package night

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
)

// daemon remembers for the night whether a Docker daemon answers.
type daemon struct {
	asked  bool
	reason string // why there is none, "" where there is one
}

// noDaemon says why an entry cannot have a Docker daemon, "" where it can.
func (n *night) noDaemon(ctx context.Context, r *recipe.Recipe) string {
	if !n.docker.asked {
		n.docker = daemon{asked: true, reason: n.askDaemon(ctx)}
	}
	if n.docker.reason == "" && servesInDocker(r) {
		return "serve-cell has no docker driver yet"
	}
	return n.docker.reason
}

// askDaemon asks for the grant first: without it the socket is not touched. Then it really talks to the daemon: a client on PATH proves nothing.
func (n *night) askDaemon(ctx context.Context) string {
	if err := grant.Of(n.Step); err != nil {
		n.Say("no docker socket: %v", err)
		var refused *grant.Refused
		if errors.As(err, &refused) && refused.Hint != "" {
			n.Hint("%s", refused.Hint)
		}
		return "no grant: " + err.Error()
	}
	bin, err := n.find("docker", "")
	if err != nil {
		return "no docker client on PATH"
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, "info", "--format", "{{.ServerVersion}}")
	cmd.Env = n.Environ
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	version := strings.TrimSpace(string(out))
	if err == nil && version != "" {
		n.Say("docker daemon %s answers", version)
		return ""
	}
	text, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	if text == "" && err != nil {
		text = err.Error()
	}
	return "docker info failed: " + text
}

func servesInDocker(r *recipe.Recipe) bool {
	for _, c := range r.Cells {
		if c.Serve != nil && c.Serve.Driver == recipe.DriverDocker {
			return true
		}
	}
	return false
}
