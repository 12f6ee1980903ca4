package watch

import (
	"fmt"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/robfig/cron/v3"
)

// landing is how long a scheduled night may take to land in the history: GitHub starts late, runners are
// busy, the night itself takes hours.
const landing = 12 * time.Hour

// schedule is when the night is due; no crons mean that it is not known.
type schedule []cron.Schedule

// missed reports whether a night was due after last and should have landed by now.
func (s schedule) missed(last, now time.Time) bool {
	if len(s) == 0 {
		return true
	}
	for _, c := range s {
		if due := c.Next(last.UTC()); !due.IsZero() && !due.After(now.Add(-landing)) {
			return true
		}
	}
	return false
}

// age holds the last measured night of an entry to its limit. A Friday's night is fine on Monday morning
// where the schedule has no weekend.
func age(entry string, last, now time.Time, limit time.Duration, s schedule) *strict.Problem {
	old := now.Sub(last)
	var p strict.Problem
	switch {
	case last.IsZero():
		p = finding(RuleStale, entry, "look at its rows in the last nights: it may be skipped, or fail before it measures", "has never been measured by a scheduled night")
	case old < -skew:
		p = finding(RuleFuture, entry, "set the runner's clock", "was last measured %s in the future", span(-old))
	case old > limit && s.missed(last, now):
		p = finding(RuleStale, entry, "look at the schedule, its runs and the runner; --workflow and --check-runners do", "was last measured %s ago (%s), the limit is %s", span(old), last.UTC().Format(time.DateOnly), span(limit))
	default:
		return nil
	}
	return &p
}

// span is a duration in days and hours.
func span(d time.Duration) string {
	hours := int(d.Round(time.Hour) / time.Hour)
	switch {
	case hours < 1:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	case hours < 48:
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d days", hours/24)
}
