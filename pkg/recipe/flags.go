package recipe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A refusal is one argument that a list may not hold.
type refusal struct {
	index         int
	message, hint string
}

// The flags of the engine's command lines that are set from other keys. A later one would win
// silently, and the cell would measure something else than it says.
var (
	ownedServe = []string{"--host", "--port", "--control-port", "--served-model-name", drainFlag}
	ownedBench = []string{
		"--base-url", "--output-file", "--num-prompts", "--label", "--request-id-prefix", "--random-input-len",
		"--random-output-len", "--model", "--tokenizer", "--backend", "--endpoint", "--dataset-name", "--dataset-path",
		"--percentile-metrics", "--metric-percentiles", "--max-concurrency", "--request-rate", "--num-warmups",
		"--ignore-eos", "--seed",
	}
)

const (
	drainFlag     = "--drain-timeout"
	extraBodyFlag = "--extra-body"
)

// ownedFlags finds the arguments that spell an owned flag in full, or in a prefix: argparse, which
// reads them, takes any unambiguous one.
func ownedFlags(args, owned []string) []refusal {
	var found []refusal
	for i, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		if len(flag) < 3 || !strings.HasPrefix(flag, "--") || flag == drainFlag {
			continue // takeDrain reads --drain-timeout; only its prefixes are refused here
		}
		for _, o := range owned {
			if flag == o {
				found = append(found, refusal{i, flag + " is set from the recipe's own keys", "use the key for it, and remove the flag"})
				break
			}
			if strings.HasPrefix(o, flag) && !slices.Contains(owned, flag) {
				found = append(found, refusal{i, flag + " may stand for " + o + ", which is set from the recipe's own keys", "write the flag you mean in full"})
				break
			}
		}
	}
	return found
}

// takeDrain takes --drain-timeout out of serve_args: the seconds, 0 when it is not given.
func takeDrain(args []string, grace int64) (rest []string, seconds int64, refused []refusal) {
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		if flag != drainFlag {
			rest = append(rest, args[i])
			continue
		}
		at := i
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil || strconv.FormatInt(n, 10) != value || n < 1 || n >= grace:
			refused = append(refused, refusal{
				at, fmt.Sprintf("%s must be 1 to %d seconds, less than teardown_grace_sec, not %q", drainFlag, grace-1, value),
				"leave it out for the default, or raise teardown_grace_sec",
			})
		case seconds != 0:
			refused = append(refused, refusal{at, drainFlag + " is given twice", "keep one"})
		default:
			seconds = n
		}
	}
	return rest, seconds, refused
}

// defaultDrain leaves an engine the rest of the grace to end after draining, seconds.
func defaultDrain(grace int64) int64 {
	if grace > 15 {
		return grace - 5
	}
	return grace - 2
}
