package history

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// runsDir is the folder that holds every run file, and nothing else.
const runsDir = "runs/"

// ruleHistory is the rule of every finding about a history.
const ruleHistory = "history"

// layout is the one spelling of a run file's name.
var layout = regexp.MustCompile(`^runs/(\d{4}/\d\d/\d\d)/([1-9]\d{0,18})-([1-9]\d{0,5})-([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})\.json$`)

// lanes are the names a lane may have: it is part of a file's name.
var lanes = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// id is what a run file is called by.
type id struct {
	day     string // "2026/09/08"
	run     int64
	attempt int
	lane    string
}

func (i id) path() string {
	return fmt.Sprintf("%s%s/%d-%d-%s.json", runsDir, i.day, i.run, i.attempt, i.lane)
}

// parsePath reads a run file's name; false for every other name.
func parsePath(path string) (id, bool) {
	m := layout.FindStringSubmatch(path)
	if m == nil {
		return id{}, false
	}
	if _, err := time.Parse("2006/01/02", m[1]); err != nil {
		return id{}, false
	}
	run, err := strconv.ParseInt(m[2], 10, 64)
	attempt, err2 := strconv.Atoi(m[3])
	return id{m[1], run, attempt, m[4]}, err == nil && err2 == nil
}

// days sorts the names of run files into days, oldest first, and refuses every other name below runs/:
// what lies there uninvited may be a run that lost its name.
func days(history string, paths []string) ([][]string, error) {
	var problems strict.Problems
	byDay := map[string][]string{}
	for _, path := range paths {
		i, ok := parsePath(path)
		if !ok {
			problems = append(problems, strict.Problem{Path: join(history, path), Message: "is no run file: want runs/YYYY/MM/DD/RUN-ATTEMPT-LANE.json", Hint: "move it out of the history, after looking what it is", Rule: ruleHistory})
			continue
		}
		byDay[i.day] = append(byDay[i.day], path)
	}
	if err := problems.Sort().Err(); err != nil {
		return nil, err
	}
	all := make([][]string, 0, len(byDay))
	for _, paths := range byDay {
		slices.Sort(paths)
		all = append(all, paths)
	}
	slices.SortFunc(all, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return all, nil
}

// join names a file of a history for people.
func join(history, path string) string {
	if strings.HasPrefix(history, "branch:") {
		return history + ":" + path
	}
	return history + "/" + path
}
