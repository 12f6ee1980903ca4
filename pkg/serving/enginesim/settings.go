package enginesim

import (
	"math"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// setting is one setting of a profile: --some-name as a flag, some_name as a
// key of a profile file.
type setting struct {
	name  string
	value settingValue
	help  string
}

// key is the setting's name in a profile file.
func (s setting) key() string { return strings.ReplaceAll(s.name, "-", "_") }

// input declares the setting as an input; its value there is the default.
func (s setting) input() step.Input {
	in := step.Input{Name: s.name, Default: s.value.String(), Help: s.help}
	s.value.describe(&in)
	return in
}

// settings declares every setting once, bound to p.
func (p *Profile) settings() []setting {
	dur := func(v *time.Duration) settingValue { return durationValue{v} }
	num := func(v *int, lo, hi int) settingValue { return intValue{v, lo, hi} }
	yes := func(v *bool) settingValue { return boolValue{v} }
	return []setting{
		{"ttft", dur(&p.TTFT), "Time from a request read to its first tokens, before the prefill cost."},
		{"itl", dur(&p.ITL), "Time a token takes: a write of n tokens goes out n times that after the one before."},
		{"slow", floatValue{&p.Slow, -99, 10000}, "Make every token slower by that many percent; the ttft stays."},
		{"tokens-per-event", num(&p.TokensPerEvent, 1, 1024), "Tokens in one event."},
		{"events-per-write", num(&p.EventsPerWrite, 1, 1024), "Events in one write."},
		{"first-tokens", num(&p.FirstTokens, 0, 1<<20), "Tokens in the first write; 0 means as many as in the others."},
		{"tail", dur(&p.Tail), "Send usage and [DONE] that long after the last tokens, in a write of their own; 0 sends them together."},
		{"early-headers", yes(&p.EarlyHeaders), "Send the head of the response as soon as the request is read."},
		{"jitter-kind", wordValue{&p.JitterKind, []string{"none", "uniform", "normal", "late"}},
			"How writes stray from the schedule: uniform within the jitter on both sides, normal with it as deviation, late by an exponential with it as mean. It never accumulates."},
		{"jitter", dur(&p.Jitter), "Size of the jitter."},
		{"seed", num(&p.Seed, 0, math.MaxInt32), "Fix the jitter and every choice by probability."},
		{"prefill-per-token", dur(&p.PrefillPerToken), "Added to the ttft for each prompt token that is not cached."},
		{"prefix-cache", yes(&p.PrefixCache), "Cache prompt prefixes, block by block."},
		{"block-size", num(&p.BlockSize, 1, 4096), "Tokens in a block of the prefix cache."},
		{"cache-blocks", num(&p.CacheBlocks, 1, 1<<22), "Blocks the prefix cache holds; the least recently used goes first."},
		{"max-running-requests", num(&p.MaxRunning, 0, 1<<20), "Requests that run at once while others wait in order; 0 is no limit."},
		{"startup", dur(&p.Startup), "Time from start to ready."},
		{"burst-gap", dur(&p.BurstGap), "Idle time after which the next request begins a new burst (see faults)."},
		{"max-model-len", num(&p.MaxModelLen, 1, 1<<20), "Most tokens of prompt and output together."},
		{"vocab-size", num(&p.VocabSize, 1, 1<<30), "Token ids of a prompt must lie below that."},
		{"max-body", num(&p.MaxBody, 1, 1<<30), "Largest request body in bytes."},
		{"fault", faultsValue{&p.Faults}, "Something that goes wrong: NAME[=VALUE][@SELECTOR,...], as in the list of faults."},
	}
}
