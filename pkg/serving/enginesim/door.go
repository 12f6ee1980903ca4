package enginesim

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// door declares engine-sim. Its inputs are the engine's own serve flags, the
// simulator's, and every setting of a profile.
var door = func() *step.Door {
	p := DefaultProfile()
	d := &step.Door{
		Name:     "engine-sim",
		Summary:  "a simulated inference engine with known truth, for tests, demos and pull-request checks",
		Manual:   manual(),
		SelfTest: selfTest,
		Inputs: []step.Input{
			{Name: "command", Kind: step.Choice, Choices: []string{"serve"}, Required: true, Positional: true, Arg: "serve", Help: "The only command."},
			{Name: "model", Kind: step.String, Required: true, Positional: true, Arg: "MODEL", Help: "The model to pretend to be."},
			{Name: "served-model-name", Kind: step.String, Arg: "NAME", Help: "The name that requests must ask for; by default the model's."},
			{Name: "host", Kind: step.String, Default: "127.0.0.1", Arg: "ADDRESS", Help: "Address of both ports."},
			{Name: "port", Kind: step.Int, Default: "8000", Arg: "PORT", Help: "Gateway port; 0 takes a free one."},
			{Name: "control-port", Kind: step.Int, Default: "8001", Arg: "PORT", Help: "Control port; 0 takes a free one. When it cannot be bound the engine warns and goes on, as the real one does."},
			{Name: "gateway-startup-timeout", Kind: step.Duration, Default: "60s", Arg: "SECONDS", Help: "The gateway gives up when the engine takes longer to start than that."},
			{Name: "drain-timeout", Kind: step.Duration, Default: "30s", Arg: "SECONDS", Help: "How long requests in flight may take to end after SIGTERM."},
			{Name: "enable-cache-report", Kind: step.Bool, Help: "Put the cached prompt tokens into usage."},
			{Name: "profile", Kind: step.String, Default: "default", Arg: "NAME|FILE", Help: "What the engine does and when: a built-in profile (default, smoke) or a YAML file of the settings below. Flags go over it."},
			{Name: "send-log", Kind: step.Path, Arg: "FILE", Help: "Where to write what was really sent, as JSON lines."},
		},
	}
	for _, s := range p.settings() {
		d.Inputs = append(d.Inputs, s.input())
	}
	return d
}()

// Run is the binary engine-sim: it serves until SIGTERM, then drains.
func Run(ctx context.Context, p step.Proc) int {
	p.Args = secondsWithUnit(p.Args)
	return door.Run(ctx, p, serve)
}

// secondsWithUnit lets the two time limits of the engine's own command line
// stand as the engine has them, in seconds without a unit.
func secondsWithUnit(args []string) []string {
	out := append([]string(nil), args...)
	for i := range out {
		name, value, joined := strings.Cut(out[i], "=")
		if name != "--gateway-startup-timeout" && name != "--drain-timeout" {
			continue
		}
		switch {
		case joined && isDigits(value):
			out[i] += "s"
		case !joined && i+1 < len(out) && isDigits(out[i+1]):
			out[i+1] += "s"
		}
	}
	return out
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// serve is the door's work.
func serve(ctx context.Context, s *step.Step) int {
	c, problems := configOf(s)
	if len(problems) > 0 {
		return s.Finish(step.Usage, nil, problems...)
	}
	if path := s.In.String("send-log"); path != "" {
		f, err := os.Create(s.DirPath(path))
		if err != nil {
			return s.Finish(step.CouldNotRun, nil, strict.Problem{Field: "--send-log", Message: err.Error()})
		}
		defer f.Close()
		c.SendLog = f
	}
	sim, err := Start(c)
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error(), Hint: "choose another --port, or 0 for a free one"})
	}
	defer sim.Close()
	if f := sim.faults.process("orphan"); f != nil {
		if err := startOrphan(s, f.duration); err != nil {
			return s.Finish(step.CouldNotRun, nil, strict.Problem{Message: err.Error()})
		}
	}
	return await(ctx, s, sim)
}

// await keeps sim running until it is told to stop or a fault ends it.
func await(ctx context.Context, s *step.Step, sim *Server) int {
	stop := ctx.Done()
	if sim.faults.process("ignore-term") != nil {
		stop = nil
	}
	budget := time.NewTimer(s.In.Duration("gateway-startup-timeout"))
	defer budget.Stop()
	ready := sim.Ready()
	for {
		select {
		case <-ready:
			ready = nil
			budget.Stop()
		case <-budget.C:
			if sim.faults.process("never-ready") == nil {
				s.Say("error: gateway startup timed out: gRPC not reachable (tried for %s)", s.In.Duration("gateway-startup-timeout"))
				return s.Finish(step.Negative, nil, strict.Problem{Message: "the gateway gave up before the engine was up",
					Hint: "raise --gateway-startup-timeout, or lower --startup"})
			}
		case status := <-sim.Died():
			return s.Finish(status, nil, strict.Problem{Message: "the engine died: simulated fault"})
		case <-stop:
			return drain(s, sim)
		}
	}
}

// drain ends sim in good order.
func drain(s *step.Step, sim *Server) int {
	limit, cancel := context.WithTimeout(context.Background(), s.In.Duration("drain-timeout"))
	defer cancel()
	s.Say("draining, up to %s", s.In.Duration("drain-timeout"))
	if err := sim.Drain(limit); err != nil {
		s.Say("%v", err)
	}
	if err := sim.Close(); err != nil {
		return s.Finish(step.CouldNotRun, nil, strict.Problem{Field: "--send-log", Message: err.Error()})
	}
	s.Say("stopped")
	return s.Done(sim.Summary())
}

// configOf makes the configuration from the inputs.
func configOf(s *step.Step) (Config, strict.Problems) {
	var problems strict.Problems
	port := func(name string) int {
		n := s.In.Int(name)
		if n < 0 || n > 65535 {
			problems = append(problems, strict.Problem{Field: "--" + name, Message: fmt.Sprintf("%d is no port", n), Hint: "use 1 to 65535, or 0 for a free one"})
		}
		return n
	}
	c := Config{Model: s.In.String("model"), ServedName: s.In.String("served-model-name"), Host: s.In.String("host"),
		Port: port("port"), ControlPort: port("control-port"), CacheReport: s.In.Bool("enable-cache-report"), Say: s.Say}
	if c.Port != 0 && c.Port == c.ControlPort {
		problems = append(problems, strict.Problem{Field: "--control-port", Message: "it is the gateway's port", Hint: "give the control port a number of its own"})
	}
	var err error
	if c.Profile, err = loadProfile(s, s.In.String("profile")); err != nil {
		return c, append(problems, step.Problems(err)...)
	}
	return c, append(problems, overrideSettings(s, &c.Profile)...)
}

func loadProfile(s *step.Step, name string) (Profile, error) {
	if strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		text, err := os.ReadFile(s.DirPath(name))
		if err != nil {
			return Profile{}, strict.Problem{Field: "--profile", Message: err.Error()}
		}
		return ParseProfile(name, text)
	}
	p, err := BuiltinProfile(name)
	if err != nil {
		return p, strict.Problem{Field: "--profile", Message: err.Error()}
	}
	return p, nil
}

// overrideSettings puts the settings that were given as inputs over p's.
func overrideSettings(s *step.Step, p *Profile) strict.Problems {
	var problems strict.Problems
	for _, one := range p.settings() {
		if !s.In.Given(one.name) {
			continue
		}
		texts := []string{s.In.String(one.name)}
		if _, many := one.value.(faultsValue); many {
			texts = s.In.List(one.name)
		}
		for _, text := range texts {
			if err := one.value.Set(text); err != nil {
				problems = append(problems, strict.Problem{Field: "--" + one.name, Message: err.Error()})
			}
		}
	}
	return problems
}
