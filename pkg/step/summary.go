package step

import (
	"fmt"
	"os"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

const (
	// summaryLimit is the size over which GitHub drops a step's summary whole.
	summaryLimit = 1 << 20

	// summaryReserve is left for whoever appends after us.
	summaryReserve = 16 << 10
)

// Summary appends Markdown to the job's summary. What would take the file over
// GitHub's limit is cut at a line, with a count of the table rows left out. Outside
// a job it does nothing.
func (s *Step) Summary(markdown string) {
	file := s.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" {
		return
	}
	room := summaryLimit - summaryReserve
	if info, err := os.Stat(file); err == nil {
		room -= int(info.Size())
	}
	if err := appendFile(file, FitSummary(markdown, room)); err != nil {
		s.Warn(strict.Problem{Message: fmt.Sprintf("writing the job summary: %v", err)})
	}
}

// FitSummary cuts Markdown to at most room bytes at the end of a line and says how
// many table rows were left out. Put what matters first.
func FitSummary(markdown string, room int) string {
	if !strings.HasSuffix(markdown, "\n") {
		markdown += "\n"
	}
	if len(markdown) <= room {
		return markdown
	}
	const noteSize = 80
	keep := max(room-noteSize, 0)
	cut := strings.LastIndexByte(markdown[:keep], '\n') + 1
	rows := 0
	for line := range strings.Lines(markdown[cut:]) {
		if strings.HasPrefix(line, "|") {
			rows++
		}
	}
	note := fmt.Sprintf("\n%d rows omitted, see the results file\n", rows)
	if cut+len(note) > room {
		return ""
	}
	return markdown[:cut] + note
}
