package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// betterHarvest lists the recorded cases whose behaviour this reader does not repeat, and why.
var betterHarvest = map[string]string{
	"h09": "NaN and Infinity are not JSON; the file is refused with the place of each",
}

func TestRecordedHarvest(t *testing.T) {
	for _, c := range harvestCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			m, err := report.Parse("matrix.json", []byte(c.Input.MatrixText))
			_, better := betterHarvest[c.ID]
			if c.Quirk != "" != better {
				t.Errorf("quirk %q: the table of better behaviour says %v", c.Quirk, better)
			}
			if c.Expect.Raises != "" || better {
				if err == nil {
					t.Fatalf("got %+v, want a refusal", m)
				}
				if !strings.HasPrefix(err.Error(), "matrix.json:1:") {
					t.Errorf("got %q, want the place in the file", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(m.Cells), len(c.Expect.Cells); got != want {
				t.Fatalf("got %d cells, want %d", got, want)
			}
			for i, want := range c.Expect.Cells {
				cell := m.Cells[i]
				got := harvested{cell.Name, cell.Passed(), cell.Error, cell.Trials, cell.PassedCount, cell.FailedCount}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("cell %d (-want +got):\n%s", i, d)
				}
			}
		})
	}
}

type harvested struct {
	Cell        string  `json:"cell"`
	Passed      bool    `json:"passed"`
	Error       *string `json:"error"`
	Trials      *int    `json:"trials"`
	PassedCount *int    `json:"passed_count"`
	FailedCount *int    `json:"failed_count"`
}

type harvestCase struct {
	ID    string
	Quirk string
	Input struct {
		MatrixText string `json:"matrix_text"`
	}
	Expect struct {
		Raises string
		Cells  []harvested
	}
}

func harvestCases(t testing.TB) []harvestCase {
	t.Helper()
	text, err := os.ReadFile("testdata/harvest.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []harvestCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	return file.Cases
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a list":            {`[]`, "matrix.json:1:1: must be a mapping, not a list"},
		"list for metrics":  {`{"cells": [{"name": "c", "metrics_summary": []}]}`, "cells[0].metrics_summary: must be a mapping"},
		"metric no mapping": {`{"cells": [{"name": "c", "metrics_summary": {"m": 1}}]}`, "cells[0].metrics_summary.m: must be a mapping"},
		"cells a mapping":   {`{"cells": {}}`, "cells: must be a list"},
		"NaN":               {`{"cells": [{"name": "c", "mean_step_time_ms": NaN}]}`, "matrix.json:1:47: cells[0].mean_step_time_ms:"},
		"text for a time":   {`{"cells": [{"name": "c", "mean_step_time_ms": "12"}]}`, "cells[0].mean_step_time_ms: must be a number"},
		"duplicate key":     {`{"cells": [], "cells": []}`, "cells: duplicate key"},
		"same but for case": {`{"cells": [{"name": "c", "metrics_summary": {"M": {"mean": 1}, "m": {"mean": 2}}}]}`, "duplicate key"},
		"duplicate cell":    {`{"cells": [{"name": "c"}, {"name": "c"}]}`, `cells[1].name: cell "c" is there twice, first as cells[0]`},
		"no name":           {`{"cells": [{}]}`, "cells[0]: key name is missing"},
		"empty name":        {`{"cells": [{"name": ""}]}`, "cells[0].name: a cell without a name"},
		"name of two lines": {`{"cells": [{"name": "c\n::error::d"}]}`, "cells[0].name: is no name of a cell"},
		"name of colours":   {`{"cells": [{"name": "\u001b[31mc"}]}`, "cells[0].name: is no name of a cell"},
		"name that turns":   {`{"cells": [{"name": "c\u202e"}]}`, "cells[0].name: is no name of a cell"},
		"endless name":      {`{"cells": [{"name": "` + strings.Repeat("c", 201) + `"}]}`, "cells[0].name: is no name of a cell"},
		"endless cells":     {`{"cells": [` + strings.Repeat(`{"name": "c"},`, 10_000) + `{"name": "d"}]}`, "cells: lists 10001 cells"},
		"negative count":    {`{"cells": [{"name": "c", "passed_count": 1, "failed_count": -1}]}`, "cells[0].failed_count: a count cannot be negative"},
		"boolean count":     {`{"cells": [{"name": "c", "passed_count": true}]}`, "cells[0].passed_count: must be an integer"},
		"later version":     {`{"schema_version": 2}`, "schema_version: version 2 is not known"},
		"two documents":     {`{"cells": []}{}`, "matrix.json:1:14"},
		"cut":               {`{"cells": [{"name": "c", `, "matrix.json:1:"},
		"empty":             {``, "matrix.json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := report.Parse("matrix.json", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTextsAreCut(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	m, err := report.Parse("m", []byte(`{"cells": [{"name": "c", "error": "`+long+`", "no_verdict": ["`+long+`"], "failures": [{"class": "x", "count": 1, "detail": "`+long+`"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := m.Cells[0]
	for _, text := range []string{*c.Error, c.NoVerdict[0], c.Failures[0].Detail} {
		if !utf8.ValidString(text) || len(text) > 17<<10 || !strings.HasSuffix(text, "ü…") {
			t.Errorf("got %d bytes that end in %q, want 16 KiB and a mark", len(text), text[len(text)-8:])
		}
	}
}

func TestUnknownKeysAreStepped(t *testing.T) {
	m, err := report.Parse("m", []byte(`{"later": [1], "cells": [{"name": "c", "later": {"x": null}, "metrics_summary": {"m": {"mean": 1, "later": 2}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Cells[0].MetricsSummary["m"].Mean; got != 1.0 {
		t.Errorf("got mean %v, want 1", got)
	}
}

func TestPassed(t *testing.T) {
	for name, c := range map[string]struct {
		cell report.Cell
		want bool
	}{
		"clean":             {report.Cell{PassedCount: new(1), FailedCount: new(0), ErrorCount: new(0)}, true},
		"counts not said":   {report.Cell{PassedCount: new(1)}, true},
		"nothing passed":    {report.Cell{PassedCount: new(0)}, false},
		"nothing said":      {report.Cell{}, false},
		"one failed":        {report.Cell{PassedCount: new(2), FailedCount: new(1)}, false},
		"one broke":         {report.Cell{PassedCount: new(2), ErrorCount: new(1)}, false},
		"empty error":       {report.Cell{PassedCount: new(1), Error: new("")}, false},
		"error":             {report.Cell{PassedCount: new(1), Error: new("boom")}, false},
		"passed and failed": {report.Cell{PassedCount: new(1), FailedCount: new(1)}, false},
	} {
		if got := c.cell.Passed(); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestStepTime(t *testing.T) {
	for name, c := range map[string]struct {
		cell report.Cell
		want *float64
	}{
		"measured":                   {report.Cell{MeanStepTimeMS: new(1.5), StepTimeSource: new("per_step")}, new(1.5)},
		"null":                       {report.Cell{}, nil},
		"0.0 and missing":            {report.Cell{MeanStepTimeMS: new(0.0), StepTimeSource: new("missing")}, nil},
		"0.0 of a cell that errored": {report.Cell{MeanStepTimeMS: new(0.0), StepTimeSource: new("per_step")}, nil},
		"missing wins":               {report.Cell{MeanStepTimeMS: new(3.0), StepTimeSource: new("missing")}, nil},
	} {
		if d := cmp.Diff(c.want, c.cell.StepTime()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestWriteIsRead(t *testing.T) {
	want := report.Matrix{
		SchemaVersion: 1, Workload: "tokenspeed_serve", Warnings: []string{}, RunTimestamp: "20260908T021700Z",
		Fingerprint: report.Fingerprint{report.Client: "native"},
		Cells: []report.Cell{{
			Name: "baseline", Mitigations: []string{"none"}, PassedCount: new(1), MeanStepTimeMS: new(1136.0), StepTimesMS: []float64{1135.03},
			MetricsSummary: map[string]report.Summary{"p99_itl_ms": {Mean: 34.64, N: new(1)}, "checksum": {Mean: "ab<&>"}},
			Tags:           []report.Tag{{Name: "cold_compile", Step: new(0), Why: "6193 ms against 1141 ms"}},
			Pooled:         map[string]report.Quantile{"p99_itl_ms": {Value: 34.7, N: 384}},
		}},
	}
	path := filepath.Join(t.TempDir(), "new", "matrix.json")
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text, _ := os.ReadFile(path)
	for _, key := range []string{`"extra_env": {}`, `"trial_paths": []`, `"ticket": null`, `"ab<&>"`} {
		if !bytes.Contains(text, []byte(key)) {
			t.Errorf("the file lacks %s:\n%s", key, text)
		}
	}
}

func TestWriteRefusesNaN(t *testing.T) {
	path := filepath.Join(t.TempDir(), "matrix.json")
	m := report.Matrix{Cells: []report.Cell{{Name: "c", MetricsSummary: map[string]report.Summary{"m": {Mean: math.NaN()}}}}}
	if err := m.Write(path); err == nil {
		t.Error("got no error, want one for NaN")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was left behind")
	}
}

func TestMoved(t *testing.T) {
	bound := report.Fingerprint{"driver": "6.10", "engine_digest": "sha256:aa"}
	for name, c := range map[string]struct {
		tonight report.Fingerprint
		want    string
	}{
		"same":        {report.Fingerprint{"engine_digest": "sha256:aa", "driver": "6.10"}, ""},
		"more known":  {report.Fingerprint{"engine_digest": "sha256:aa", "driver": "6.10", "torch": "2.13"}, ""},
		"driver":      {report.Fingerprint{"engine_digest": "sha256:aa", "driver": "6.12"}, "driver was 6.10, is 6.12"},
		"not known":   {report.Fingerprint{"driver": "6.10"}, "engine_digest was sha256:aa, is unknown"},
		"none at all": {nil, "driver was 6.10, is unknown"},
	} {
		if got := bound.Moved(c.tonight); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range harvestCases(f) {
		f.Add([]byte(c.Input.MatrixText))
	}
	f.Add([]byte(`{"cells": [{"name": "c", "metrics_summary": {"m": {"mean": 1e400}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := report.Parse("matrix.json", text)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "m.json")
		if err := m.Write(path); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := report.Read(path); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
