package window

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/gatehouse-ci/gatehouse/pkg/metric"
)

// never says why no window can make a bound for a metric, "" where one can.
func never(name string) string {
	policy, known := metric.PolicyOf(name)
	switch {
	case name == metric.StepTime:
		return ""
	case metric.NearZero(name):
		return "it measures about zero here, since several tokens come in one event; a margin over zero is zero"
	case known && policy == metric.Equal:
		return "it is exact: a refresh writes it from the run, and no margin applies"
	case known:
		return ""
	}
	for _, k := range neverKinds {
		if k.names.MatchString(name) {
			return k.reason
		}
	}
	return "it has no policy: nothing says which way is worse"
}

// neverKinds are the metrics without a policy for which there is a reason to leave it so.
var neverKinds = []struct {
	names  *regexp.Regexp
	reason string
}{
	{regexp.MustCompile(`^(server_startup_sec|container_elapsed_sec|mean_wall_clock_sec)$`), "it is dominated by bring-up, which follows the state of the caches and not the engine"},
	{regexp.MustCompile(`^(completed|failed)(_total)?$`), "it is enforced harder where it is measured: a cell with a failed or missing request fails"},
	{regexp.MustCompile(`^(duration|total_.*_tokens|total_input|total_output)$`), "it counts work that the recipe pins, and a bound would restate the recipe"},
	{regexp.MustCompile(`^max_`), "it is the maximum of a single sample, the noisiest summary there is"},
	{regexp.MustCompile(`^(mean|std)_`), "means are the noisiest summary of a distribution; its median or tail is the one to gate"},
	{regexp.MustCompile(`^p(50|90|95)_`), "the median and the p99 tell it better"},
}

var percentile = regexp.MustCompile(`^p(\d{2,})_(.+)_ms$`)

// leastTail is how many samples must lie beyond a percentile for it to be one, and not the maximum of
// its sample.
const leastTail = 5

// tail says that too few samples stand behind a high percentile: that of the metric's name, over what is
// pooled from all measured steps of the cell on its thinnest night.
func (c *Cell) tail(name string) string {
	m := percentile.FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	digits, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return ""
	}
	q := digits / math.Pow10(len(m[1]))
	if q < 0.9 {
		return ""
	}
	n, what := c.samples(name, m[2])
	if n == 0 {
		return "sample: nothing says how many samples are behind it; publish results that say so"
	}
	if beyond := float64(n) * (1 - q); beyond < leastTail {
		return fmt.Sprintf("sample: of %d pooled %s %s lie beyond the p%s, which makes it their maximum rather than a percentile; %.0f are needed",
			n, what, number(math.Round(beyond*100)/100), m[1], math.Ceil(leastTail/(1-q)-1e-9))
	}
	return ""
}

// samples is the size of the pooled sample behind a percentile on the thinnest night of the window, 0
// where it cannot be known. Results that do not give it may still count requests and tokens.
func (c *Cell) samples(name, kind string) (int, string) {
	what := "requests"
	if kind == "itl" {
		what = "gaps between tokens"
	}
	least := 0
	for i := range c.Nights {
		n := c.steps.counts[i][name]
		if n == 0 {
			requests, tokens := c.value("completed_total", i), c.value("total_output_tokens", i)
			n = int(requests)
			if kind == "itl" {
				n = int(tokens - requests)
			}
		}
		if n <= 0 {
			return 0, what
		}
		if least == 0 || n < least {
			least = n
		}
	}
	return least, what
}

// value is a metric on a night, 0 where it was not recorded.
func (c *Cell) value(name string, night int) float64 {
	m := c.Metric(name)
	if m == nil || math.IsNaN(m.Values[night]) {
		return 0
	}
	return m.Values[night]
}
