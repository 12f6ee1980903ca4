package night

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/google/renameio/v2"
)

// Results is the results file, the reference's schema version 1. Keys marked extra are ours; readers
// of the reference step over them.
type Results struct {
	SchemaVersion int `json:"schema_version"`
	// GeneratedAt is when the file was written, StartedAt (extra) when the night began; UTC, ISO 8601.
	GeneratedAt string `json:"generated_at"`
	StartedAt   string `json:"started_at"`
	// Complete is false in a file written before the last entry was done. Extra.
	Complete bool `json:"complete"`
	// Event and UpstreamEvent say what started the run; they decide whether a window admits it. Extra.
	Event         string `json:"event,omitempty"`
	UpstreamEvent string `json:"upstream_event,omitempty"`
	RunID         int64  `json:"run_id,omitempty"`      // extra
	RunAttempt    int    `json:"run_attempt,omitempty"` // extra
	Runner        string `json:"runner,omitempty"`      // extra
	Build         Build  `json:"build"`
	Summary       Counts `json:"summary"`
	Entries       []Row  `json:"entries"`
}

// Counts are the rows by verdict.
type Counts struct {
	Total     int `json:"total"`
	Pass      int `json:"pass"`
	Fail      int `json:"fail"`
	Record    int `json:"record"`
	Skip      int `json:"skip"`
	NoVerdict int `json:"no_verdict"` // extra
	// Excursions counts breaches that did not repeat. Extra.
	Excursions int `json:"excursions"`
}

// Row is the outcome of one cell, or of an entry that came to no cells.
type Row struct {
	Entry   string           `json:"entry"`
	Recipe  *string          `json:"recipe"`
	Cell    *string          `json:"cell"`
	Verdict baseline.Verdict `json:"verdict"`
	Reasons []string         `json:"reasons"`
	// Metrics is what the cell measured; empty where there is no cell.
	Metrics Metrics         `json:"metrics"`
	Deltas  baseline.Deltas `json:"deltas"`

	PassedCount *int `json:"passed_count,omitempty"`
	FailedCount *int `json:"failed_count,omitempty"`
	ErrorCount  *int `json:"error_count,omitempty"`
	Trials      *int `json:"trials,omitempty"`

	// MatrixPath is the matrix.json, relative to the repository where it lies inside.
	MatrixPath *string `json:"matrix_path"`
	// DurationSec is the wall clock of the whole entry, repeated for each of its cells.
	DurationSec float64 `json:"duration_sec"`
	// Error is the cell's own error text, or a word for what became of the entry.
	Error *string `json:"error"`

	// From here on: extra keys.

	// Gated names the bounds that were held. Empty on a pass means that nothing was: the cell is
	// recording, not guarded.
	Gated []string `json:"gated,omitzero"`
	// Breaches are the broken bounds that decided the verdict.
	Breaches []baseline.Breach `json:"breaches,omitempty"`
	// Excursions are bounds that were broken once and held in the confirming run.
	Excursions []baseline.Breach `json:"excursions,omitempty"`
	// Confirmation is the second run of a cell that broke a bound, or that came to nothing.
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	// Disqualified is the first run of a cell that took it back (the client was the limit, the load was not
	// delivered); the row is the second run's.
	Disqualified *Confirmation `json:"disqualified_run,omitempty"`
	// Failures are the cell's failures by class, where it did not pass.
	Failures []report.Failure `json:"failures,omitempty"`
	// StepTimesMS, Pooled and Tags are the cell's, as measured.
	StepTimesMS []float64                  `json:"step_times_ms,omitempty"`
	Pooled      map[string]report.Quantile `json:"pooled,omitempty"`
	Tags        []report.Tag               `json:"excursion_tags,omitempty"`
	// Fingerprint is the stack the cell ran on.
	Fingerprint report.Fingerprint `json:"fingerprint,omitempty"`
	// Evidence holds sha256 hex digests of the matrix.json and of what it rests on, by path.
	Evidence map[string]string `json:"evidence,omitempty"`
	// Runner is the machine, where rows of several machines were merged into one file.
	Runner string `json:"runner,omitempty"`
}

// Metrics is what a cell measured.
type Metrics struct {
	MeanStepTimeMS   *float64       `json:"mean_step_time_ms,omitempty"`
	MeanWallClockSec *float64       `json:"mean_wall_clock_sec,omitempty"`
	StepTimeSource   *string        `json:"step_time_source,omitempty"`
	Summary          map[string]any `json:"summary,omitzero"`
}

// Confirmation is a run of a cell whose values are not the night's: the second one, or a disqualified first.
type Confirmation struct {
	Verdict     baseline.Verdict  `json:"verdict"`
	Reasons     []string          `json:"reasons"`
	Metrics     Metrics           `json:"metrics"`
	Deltas      baseline.Deltas   `json:"deltas"`
	MatrixPath  *string           `json:"matrix_path"`
	DurationSec float64           `json:"duration_sec"`
	Error       *string           `json:"error"`
	Evidence    map[string]string `json:"evidence,omitempty"`
}

// Key is "entry::cell", or the entry alone for a row without a cell.
func (r *Row) Key() string {
	if r.Cell == nil {
		return r.Entry
	}
	return baseline.Key{Entry: r.Entry, Cell: *r.Cell}.String()
}

// Words says why a row has its verdict, for people: a broken bound with its distance, any other reason
// as it is, and what failed in the cell.
func (r *Row) Words() []string {
	words := make([]string, len(r.Reasons))
	for i, reason := range r.Reasons {
		words[i] = reason
		for _, b := range r.Breaches {
			if b.Reason == reason {
				words[i] = b.String()
			}
		}
	}
	for _, f := range r.Failures {
		text := f.Detail
		if !strings.HasPrefix(text, f.Class) {
			text = strings.TrimSuffix(f.Class+": "+text, ": ")
		}
		if f.Count > 1 {
			text = fmt.Sprintf("%s (%d times)", text, f.Count)
		}
		words = append(words, text)
	}
	return words
}

// Count counts rows by verdict.
func Count(rows []Row) Counts {
	c := Counts{Total: len(rows)}
	for i := range rows {
		switch rows[i].Verdict {
		case baseline.Pass:
			c.Pass++
		case baseline.Fail:
			c.Fail++
		case baseline.Record:
			c.Record++
		case baseline.Skip:
			c.Skip++
		case baseline.NoVerdict:
			c.NoVerdict++
		}
		c.Excursions += len(rows[i].Excursions)
	}
	return c
}

// write stores the results at path, whole or not at all.
func (r *Results) write(path string, now time.Time) error {
	r.SchemaVersion = 1
	r.GeneratedAt = stamp(now)
	r.Summary = Count(r.Entries)
	if r.Entries == nil {
		r.Entries = []Row{}
	}
	for i := range r.Entries {
		if r.Entries[i].Reasons == nil {
			r.Entries[i].Reasons = []string{}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	return store(path, b.Bytes())
}

// store replaces a file, or refuses where that would replace something else.
func store(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("writing %s: it is no regular file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }
