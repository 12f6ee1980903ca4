package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write stores the matrix at path, whole or not at all: a reader never sees half a file. Missing
// folders are made. It fails where a number is NaN or infinite, for such a file is not JSON.
func (m *Matrix) Write(path string) error {
	data, err := m.encode()
	if err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func (m *Matrix) encode() ([]byte, error) {
	full := *m
	full.SchemaVersion = SchemaVersion
	full.Warnings = list(m.Warnings)
	full.Cells = make([]Cell, len(m.Cells))
	for i, c := range m.Cells {
		full.Cells[i] = filled(c)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&full); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// filled gives every collection of the reference's layout a value, so that it is written as {} or
// [] and not as null.
func filled(c Cell) Cell {
	c.Mitigations = list(c.Mitigations)
	c.StepTimesMS = list(c.StepTimesMS)
	c.TrialPaths = list(c.TrialPaths)
	c.ExtraEnv = mapping(c.ExtraEnv)
	c.ResolvedEnvVars = mapping(c.ResolvedEnvVars)
	c.ExitStatusCounts = mapping(c.ExitStatusCounts)
	c.OutcomeCounts = mapping(c.OutcomeCounts)
	c.WorkloadConfig = mapping(c.WorkloadConfig)
	return c
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func mapping[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
