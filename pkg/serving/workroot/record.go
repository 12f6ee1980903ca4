package workroot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// Record says that an engine may be alive, and how to know it again. It is written before the engine starts and taken
// away after the last of its processes is gone.
type Record struct {
	// Token is the run's marker; every process of the run carries GATEHOUSE_RUN=<token> in its environment.
	Token string `json:"token"`

	// Driver is the engine driver that started it.
	Driver string `json:"driver"`

	// Cell and Trial say what it was started for.
	Cell  string `json:"cell"`
	Trial int    `json:"trial"`

	// Engine is the engine's first process; zero until it has started. It leads a session and a group of its own.
	Engine Process `json:"engine"`

	// Owner is the serve-cell that answers for it.
	Owner Process `json:"owner"`

	// Boot and Namespace say where these process numbers mean something.
	Boot      string `json:"boot_id"`
	Namespace string `json:"pid_namespace"`

	// Deadline is when the run must be over, whatever its owner does.
	Deadline time.Time `json:"deadline"`
}

var tokenPattern = regexp.MustCompile(`^[0-9A-Za-z-]{8,64}$`)

// Put writes the record, over an earlier one of the same token.
func (r *Root) Put(rec Record) error {
	if !tokenPattern.MatchString(rec.Token) {
		return fmt.Errorf("writing a run record: %q is no token", rec.Token)
	}
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return fmt.Errorf("writing a run record: %w", err)
	}
	if err := renameio.WriteFile(r.record(rec.Token), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing a run record: %w", err)
	}
	return nil
}

// Forget takes the record of token away; that there is none is no error.
func (r *Root) Forget(token string) error {
	if err := os.Remove(r.record(token)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a run record: %w", err)
	}
	return nil
}

// Records reads all run records of this user. One that cannot be read is reported in the error; the others are given
// all the same.
func (r *Root) Records() ([]Record, error) {
	paths, err := filepath.Glob(filepath.Join(r.runs(), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing run records: %w", err)
	}
	var records []Record
	var failed error
	for _, path := range paths {
		rec, err := readRecord(path)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading run record %s: %w", path, err))
			continue
		}
		records = append(records, rec)
	}
	return records, failed
}

func (r *Root) record(token string) string { return filepath.Join(r.runs(), token+".json") }

func readRecord(path string) (Record, error) {
	var rec Record
	raw, err := os.ReadFile(path)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(raw, &rec); err != nil {
		return rec, err
	}
	if want := strings.TrimSuffix(filepath.Base(path), ".json"); rec.Token != want || !tokenPattern.MatchString(rec.Token) {
		return rec, fmt.Errorf("it holds the token %q", rec.Token)
	}
	return rec, nil
}

// Fate is what the next start does about a record.
type Fate int

const (
	// Keep: its owner is alive and within its time, or its process numbers mean nothing here.
	Keep Fate = iota

	// Gone: it is from an earlier boot; only the record is left.
	Gone

	// End: its owner is dead or late; whatever is left of the run is to be ended.
	End
)

// Fate decides what to do about the record at the time now.
func (rec Record) Fate(now time.Time) Fate {
	switch {
	case rec.Boot != Boot():
		return Gone
	case rec.Namespace != Namespace():
		return Keep
	case !rec.Owner.Alive() || now.After(rec.Deadline):
		return End
	}
	return Keep
}
