package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/workroot"
)

// processDriver runs the engine's command on this host.
type processDriver struct{}

func (processDriver) Check(spec Spec) error {
	var errs []error
	if _, err := lookUp(spec.Command); err != nil {
		errs = append(errs, err)
	}
	if held, err := holdPorts(spec.Port, spec.ControlPort); err != nil {
		errs = append(errs, err)
	} else {
		errs = append(errs, held.free())
	}
	return errors.Join(errs...)
}

// Start starts the command with its record written first, so that no moment exists in which a killed owner leaves an
// unknown engine.
func (processDriver) Start(ctx context.Context, spec Spec) (Engine, error) {
	binary, err := lookUp(spec.Command)
	if err != nil {
		return nil, &Failure{Reason: SetupFailed, Message: err.Error(), Hint: "set workload_config command to the engine's command, or put it on PATH"}
	}
	digest, err := fileSHA256(binary)
	if err != nil {
		return nil, &Failure{Reason: SetupFailed, Message: err.Error()}
	}
	held, err := holdPorts(spec.Port, spec.ControlPort)
	if err != nil {
		return nil, &Failure{Reason: SetupFailed, Message: err.Error(), Hint: "leave port and control_port at auto, or choose free ones"}
	}
	p := &process{spec: spec, ports: *held, done: make(chan struct{}), tree: tree{token: spec.Token, adopts: true}}
	p.args = slices.Concat(spec.Command[1:], serveArgs(spec, held.gateway, held.control))
	p.facts = Facts{
		Driver: "process", Binary: binary, SHA256: digest, Args: slices.Concat([]string{binary}, p.args), Log: spec.LogPath,
		Port: strconv.Itoa(held.gateway), ControlPort: strconv.Itoa(held.control),
	}
	if err := p.start(binary, held); err != nil {
		return nil, errors.Join(&Failure{Reason: SetupFailed, Message: err.Error()}, p.Stop(ctx, 0))
	}
	return p, nil
}

// serveArgs is the engine's command line after the command itself; the owned flags come first, the recipe's last.
func serveArgs(spec Spec, gateway, control int) []string {
	args := []string{"serve", spec.Model, "--host", "127.0.0.1", "--port", strconv.Itoa(gateway), "--control-port", strconv.Itoa(control)}
	if spec.ServedName != "" && spec.ServedName != spec.Model {
		args = append(args, "--served-model-name", spec.ServedName)
	}
	args = append(args, "--gateway-startup-timeout", seconds(spec.GatewayTimeout), "--drain-timeout", seconds(spec.drain()))
	return append(args, spec.Args...)
}

// drain is less than the grace, so that the engine's orderly end comes before ours.
func (s Spec) drain() time.Duration {
	switch {
	case s.DrainTimeout > 0:
		return s.DrainTimeout
	case s.Grace > 15*time.Second:
		return s.Grace - 5*time.Second
	}
	return s.Grace - 2*time.Second
}

func seconds(d time.Duration) string { return strconv.Itoa(int(max(time.Second, d) / time.Second)) }

// process is an engine started from a command.
type process struct {
	spec  Spec
	args  []string
	ports ports
	facts Facts
	log   *logFile
	tree  tree

	done  chan struct{}
	state *os.ProcessState // once done is closed
}

func (p *process) start(binary string, held *ports) error {
	log, err := openLog(p.spec.LogPath, p.spec.LogCap)
	if err != nil {
		return errors.Join(err, held.free())
	}
	p.log = log
	if err := p.record(); err != nil {
		return errors.Join(err, held.free())
	}
	cmd := exec.Command(binary, p.args...)
	cmd.Args[0] = p.spec.Command[0]
	cmd.Env = environment(p.spec)
	cmd.Dir = filepath.Dir(p.spec.LogPath)
	cmd.Stdout, cmd.Stderr = log.file, log.file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := held.free(); err != nil {
		return fmt.Errorf("letting go of the ports: %w", err)
	}
	adoptOrphans()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", binary, err)
	}
	p.tree.leader = workroot.Identify(cmd.Process.Pid)
	p.facts.PID = cmd.Process.Pid
	go func() {
		_ = cmd.Wait() // how it ended is in the state
		p.state = cmd.ProcessState
		close(p.done)
	}()
	return p.record()
}

// record writes what the next start needs to end this engine, should we be killed.
func (p *process) record() error {
	return p.spec.Root.Put(workroot.Record{
		Token: p.spec.Token, Driver: "process", Cell: p.spec.Cell, Trial: p.spec.Trial, Engine: p.tree.leader,
		Owner: workroot.Self(), Boot: workroot.Boot(), Namespace: workroot.Namespace(), Deadline: p.spec.Deadline,
	})
}

func (p *process) Endpoint() Endpoint {
	return Endpoint{
		Gateway: "http://127.0.0.1:" + strconv.Itoa(p.ports.gateway),
		Control: "http://127.0.0.1:" + strconv.Itoa(p.ports.control),
	}
}

func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) Tail() string          { return p.log.tail() }
func (p *process) Log() string           { return p.log.ends() }
func (p *process) Facts() Facts          { return p.facts }

func (p *process) Exit() string {
	select {
	case <-p.done:
	default:
		return "it runs"
	}
	if ws, ok := p.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		if ws.Signal() == syscall.SIGKILL {
			return "killed by SIGKILL (by the kernel for lack of memory, or by hand)"
		}
		return "killed by signal " + ws.Signal().String()
	}
	return fmt.Sprintf("exit status %d", p.state.ExitCode())
}

func (p *process) Stop(ctx context.Context, grace time.Duration) error {
	if p.tree.leader.PID != 0 || p.log != nil {
		if err := p.tree.end(ctx, grace); err != nil {
			return &Failure{Reason: TeardownFailed, Message: err.Error(), Hint: "they are waiting for a device: see dmesg; serve-cell --mode reap tries again"}
		}
	}
	if p.tree.leader.PID != 0 {
		<-p.done
	}
	if p.log != nil {
		p.log.close()
	}
	return p.spec.Root.Forget(p.spec.Token)
}

// environment is the engine's: ours without tokens, then the spec's, then the marker. A token of the job around us is none
// of the engine's business, and whoever reaches the engine should not find it; one that it needs is in the spec, by name.
func environment(spec Spec) []string {
	set := map[string]string{}
	for _, entry := range spec.Environ {
		name, value, ok := strings.Cut(entry, "=")
		if ok && !strings.HasSuffix(name, "_TOKEN") {
			set[name] = value
		}
	}
	maps.Copy(set, spec.Env)
	set[Marker] = spec.Token
	out := make([]string, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// lookUp finds the command's executable: a path as it is, a bare name beside the running executable, then on PATH.
func lookUp(command []string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", errors.New("command: empty; it names the program before `serve MODEL`")
	}
	name := command[0]
	if !strings.Contains(name, "/") {
		if self, err := os.Executable(); err == nil {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
				return path, nil
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("command: %s is neither beside this program nor on PATH", name)
	}
	return filepath.Abs(path)
}

func fileSHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the engine's command: %w", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("reading the engine's command: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
