package recipe

import (
	"fmt"
	"maps"
	"slices"
)

// arguments reads the three lists of arguments and refuses the flags in them that are ours.
func (s *scope) arguments() {
	o := s.out
	grace := int64(o.TeardownGrace.Seconds())
	var drain int64
	var refused []refusal
	serve := or(s.ServeArgs, nil)
	o.ServeArgs, drain, refused = takeDrain(serve, grace)
	s.refuseArguments("serve_args", slices.Concat(refused, ownedFlags(serve, ownedServe)))
	if drain == 0 {
		drain = defaultDrain(grace)
	}
	o.DrainTimeout = seconds(drain)

	owned := ownedBench
	if o.Rollout != nil {
		owned = append([]string{extraBodyFlag}, ownedBench...)
	}
	o.BenchArgs = or(s.BenchArgs, nil)
	s.refuseArguments("bench_args", ownedFlags(o.BenchArgs, owned))

	o.DockerArgs = or(s.DockerArgs, nil)
	s.refuseArguments("docker_args", dockerFlags(o.DockerArgs, func(variable string) string {
		return ownedVariable(variable, o.HFTokenEnv)
	}))
}

// refuseArguments reports refusals at the argument, or at the whole text where it is one.
func (s *scope) refuseArguments(key string, refused []refusal) {
	for _, r := range refused {
		field := fmt.Sprintf("%s[%d]", s.field(key), r.index)
		if !s.recipe.doc.Has(field) {
			field = s.field(key)
		}
		s.checker.refuse(field, ruleReserved, r.hint, "%s", r.message)
	}
}

// variables refuses variables that are not the recipe's to set.
func (s *scope) variables() {
	for _, k := range slices.Sorted(maps.Keys(s.cell.Env)) {
		if why := ownedVariable(k, s.out.HFTokenEnv); why != "" {
			s.checker.refuse(sub(s.at+".extra_env", k), ruleReserved, "remove it", "variable %s is protected: %s", k, why)
		}
	}
}

// conflicts refuses keys that the driver or the client would leave out of the measurement, and warns of
// those that only have no effect.
func (s *scope) conflicts() {
	o := s.out
	refuse := func(wrong bool, key, format string, args ...any) {
		if wrong && s.given(key) {
			s.refuse(key, ruleConflict, "remove it", format, args...)
		}
	}
	refuse(o.Driver != DriverProcess, "command", "command is for driver process; this cell's is %s", o.Driver)
	refuse(o.Driver != DriverAttach, "base_url", "base_url is for driver attach; this cell's is %s", o.Driver)
	refuse(o.Driver != DriverAttach, "control_url", "control_url is for driver attach; this cell's is %s", o.Driver)
	refuse(o.Driver != DriverDocker && len(o.DockerArgs) > 0, "docker_args", "docker_args is for driver docker; this cell's is %s", o.Driver)
	refuse(o.Driver == DriverAttach && len(or(s.ServeArgs, nil)) > 0, "serve_args", "driver attach starts no engine that could be given arguments")
	if len(o.BenchArgs) > 0 && o.Client == ClientNative {
		s.refuse("bench_args", ruleConflict, "write client: engine, or remove it", "bench_args are for the engine's own bench command, which client native does not run")
	}
	if o.Driver == DriverAttach && o.BaseURL == "" {
		s.refuse("base_url", "missing-key", "write base_url: http://HOST:PORT", "driver attach needs base_url")
	}
	if o.Driver == DriverAttach && len(s.cell.Env) > 0 {
		s.checker.refuse(s.at, ruleConflict, "write mitigations: [none], without extra_env",
			"driver attach cannot set variables (%s) for an engine that runs already", slices.Sorted(maps.Keys(s.cell.Env))[0])
	}
	if o.Driver != DriverDocker && s.cell.Environment.Docker != "" {
		s.checker.refuse(s.at+".environment", ruleConflict, "write environment: local", "an image is for driver docker; this cell's is %s", o.Driver)
	}
	s.noEffect()
}

// noEffect warns of host keys that a driver does not use.
func (s *scope) noEffect() {
	var idle []string
	switch s.out.Driver {
	case DriverProcess:
		idle = []string{"image", "network", "shm_size", "run_as_current_user"}
	case DriverAttach:
		idle = []string{
			"image", "network", "shm_size", "run_as_current_user", "port", "control_port", "hip_visible_devices",
			"exclusive_gpus", "hf_home", "hf_offline", "gateway_startup_timeout_sec", "teardown_grace_sec",
		}
	}
	for _, key := range idle {
		if s.given(key) {
			s.warn(s.field(key), "has no effect with driver %s", s.out.Driver)
		}
	}
}
