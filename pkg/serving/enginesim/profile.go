package enginesim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Profile is the truth of a server: what it does with a request and when. The
// zero Profile is not one; start from DefaultProfile or BuiltinProfile.
type Profile struct {
	// TTFT is the time from a request read to its first tokens, cold or warm,
	// before the prefill cost.
	TTFT time.Duration
	// ITL is the time a token takes: a write of n tokens goes out n times ITL
	// after the one before.
	ITL time.Duration
	// TokensPerEvent is how many tokens one event carries.
	TokensPerEvent int
	// EventsPerWrite is how many events go out in one write.
	EventsPerWrite int
	// FirstTokens is how many tokens the first write carries; 0 means as many
	// as the others.
	FirstTokens int
	// Tail puts usage and [DONE] in a write of their own, that long after the
	// last token; 0 sends them in the last token's write.
	Tail time.Duration
	// EarlyHeaders sends the response head as soon as the request is read,
	// not with the first tokens.
	EarlyHeaders bool

	// JitterKind is how writes stray from the schedule: none, uniform (within
	// ±Jitter), normal (standard deviation Jitter, cut at three) or late
	// (exponential, mean Jitter). No jitter shifts a later write.
	JitterKind string
	Jitter     time.Duration
	// Seed fixes jitter and the choice of requests by probability.
	Seed int

	// PrefillPerToken is added to TTFT for each prompt token not cached.
	PrefillPerToken time.Duration
	// PrefixCache turns the prefix cache on.
	PrefixCache bool
	// BlockSize is the prefix cache's block, in tokens.
	BlockSize int
	// CacheBlocks is how many blocks the prefix cache holds.
	CacheBlocks int

	// MaxRunning is how many requests run at once; more wait their turn. 0 is
	// no limit.
	MaxRunning int
	// Startup is the time from start to ready.
	Startup time.Duration
	// Slow makes every token slower by that many percent: ITL grows, TTFT
	// does not.
	Slow float64
	// BurstGap is how long the server must have been idle for the next
	// request to begin a new burst.
	BurstGap time.Duration

	// MaxModelLen is the most tokens of prompt and output together.
	MaxModelLen int
	// VocabSize bounds the token ids of a prompt.
	VocabSize int
	// MaxBody is the largest request body, in bytes.
	MaxBody int

	// Faults are what goes wrong.
	Faults []Fault
}

// DefaultProfile is a plain engine: one token an event and a write, on time.
func DefaultProfile() Profile {
	return Profile{
		TTFT: 50 * time.Millisecond, ITL: 2 * time.Millisecond,
		TokensPerEvent: 1, EventsPerWrite: 1, EarlyHeaders: true,
		JitterKind: "none", PrefixCache: true, BlockSize: 16, CacheBlocks: 1 << 16,
		BurstGap: 5 * time.Millisecond, MaxModelLen: 40960, VocabSize: 151936, MaxBody: 8 << 20,
	}
}

// builtinProfiles are the profiles that need no file.
var builtinProfiles = map[string]func() Profile{
	"default": DefaultProfile,
	"smoke":   smokeProfile,
}

// smokeProfile reproduces the reference smoke cell (ISL 512, OSL 128,
// concurrency 8, 32 prompts): median TTFT 45 ms, TPOT 1.9 ms, median ITL near
// zero, p99 ITL 34 to 36 ms, step time 1.11 to 1.18 s.
//
// 128 tokens come as 16 events of 8 tokens, two events a write. Of the 15
// gaps between events, 8 lie inside a write and are zero (so is the median)
// and 7 lie between writes. TPOT 1.9 ms over the 127 tokens after the first
// means 241.3 ms for those 7 gaps: 34.47 ms each, which is the p99, and 16
// tokens a gap make 2.1545 ms a token. Four waves of 45 + 241.3 ms make a
// step of 1.145 s.
func smokeProfile() Profile {
	p := DefaultProfile()
	p.TTFT = 40 * time.Millisecond
	p.PrefillPerToken = 9766 * time.Nanosecond // 512 cold tokens: 5 ms
	p.ITL = 2154500 * time.Nanosecond
	p.TokensPerEvent = 8
	p.EventsPerWrite = 2
	p.JitterKind = "uniform"
	p.Jitter = 300 * time.Microsecond
	return p
}

// BuiltinProfile gives the built-in profile of that name.
func BuiltinProfile(name string) (Profile, error) {
	if f, ok := builtinProfiles[name]; ok {
		return f(), nil
	}
	return Profile{}, fmt.Errorf("there is no built-in profile %q; use %s, or the path of a profile file (with a / or ending in .yaml)",
		name, strings.Join(slices.Sorted(maps.Keys(builtinProfiles)), ", "))
}

// pace is the time a token takes with the slowing applied.
func (p *Profile) pace() time.Duration {
	return time.Duration(math.Round(float64(p.ITL) * (1 + p.Slow/100)))
}
