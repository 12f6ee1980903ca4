package cell

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/engine"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
)

// trialFile is a trial's JSON file. The first block of result is the reference's; what follows are extra keys.
type trialFile struct {
	Cell         string      `json:"cell"`
	Trial        int         `json:"trial"`
	ExitStatus   Status      `json:"exit_status"`
	Outcome      string      `json:"outcome"`
	WallClockSec float64     `json:"wall_clock_sec"`
	Result       trialResult `json:"result"`
}

type trialResult struct {
	Passed                bool           `json:"passed"`
	FailureCount          int            `json:"failure_count"`
	FirstFailureIteration *int           `json:"first_failure_iteration"`
	FailureDetails        []*Failure     `json:"failure_details"`
	TotalIterations       int            `json:"total_iterations"`
	StepTimesMS           []float64      `json:"step_times_ms"`
	ElapsedSec            float64        `json:"elapsed_sec"`
	MainWorkStarted       bool           `json:"main_work_started"`
	ExecutedIterations    int            `json:"executed_iterations"`
	ConfiguredIterations  int            `json:"configured_iterations"`
	Metrics               map[string]any `json:"metrics"`

	RunToken  string            `json:"run_token"`
	Engine    engine.Facts      `json:"engine"`
	Audits    []loadgen.Audit   `json:"audits"`
	Tags      []report.Tag      `json:"excursion_tags"`
	NoVerdict []string          `json:"no_verdict"`
	Warnings  []string          `json:"warnings"`
	Canary    *canaryFile       `json:"canary,omitempty"`
	Client    map[string]any    `json:"client"`
	Clean     map[string]any    `json:"clean_metrics,omitempty"`
	Digests   map[string]string `json:"digests"`
}

// canaryFile is what the canary found out about the engine.
type canaryFile struct {
	Prompt         string   `json:"prompt"`
	Usage          bool     `json:"usage"`
	FinishReason   bool     `json:"finish_reason"`
	Done           bool     `json:"done"`
	UsageEachEvent bool     `json:"usage_each_event"`
	TokensPerEvent float64  `json:"tokens_per_event"`
	Missing        []string `json:"missing"`
}

// path is the trial's file, below the run's folder.
func (t *trial) path() string {
	return path.Join("cells", t.cell.Name, t.run.Recipe.Workload, fmt.Sprintf("trial_%d.json", t.index))
}

// sidecar is a file of evidence beside the trial's own.
func (t *trial) sidecar(name string) string {
	return path.Join("cells", t.cell.Name, t.run.Recipe.Workload, "sidecars", fmt.Sprintf("trial_%d", t.index), name)
}

// metrics are the trial's, by the reference's names.
func (t *trial) metrics() map[string]any {
	m := trialMetrics(t.serve, t.cell.Steps, t.scalars())
	m["gateway_port"], m["control_port"], m["server_log"] = t.facts.Port, t.facts.ControlPort, t.facts.Log
	m["server_startup_sec"], m["container_elapsed_sec"] = t.startupSec, t.engineSec
	return m
}

// cleanMetrics are the same without the tagged steps; nil when no step is left.
func (t *trial) cleanMetrics() map[string]any {
	var clean []map[string]float64
	for k, s := range t.steps {
		if !t.tagged(k) {
			clean = append(clean, s.scalars)
		}
	}
	if len(clean) == 0 {
		return nil
	}
	m := map[string]any{}
	mean, _ := means(clean)
	for key, v := range mean {
		m[key] = v
	}
	return m
}

func (s *benchStep) durationMS() float64 { return float64(s.result.End-s.result.Start) / 1e6 }

// reportStep is step k in matrix.json.
func (t *trial) reportStep(k int, s *benchStep) report.Step {
	out := report.Step{
		Trial: t.index, Index: k, DurationMS: s.durationMS(), Planned: t.serve.NumPrompts,
		Completed: int(s.scalars["completed"]), Failed: int(s.scalars["failed"]), Metrics: s.scalars,
	}
	for _, tag := range t.tags {
		if tag.Step == k {
			out.Tags = append(out.Tags, tag.Name)
		}
	}
	return out
}

// save writes the trial's exports and then its own file, each whole or not at all, below dir.
func (t *trial) save(dir string) error {
	t.digests = map[string]string{}
	for _, s := range t.steps {
		name := t.sidecar(fmt.Sprintf("bench.%s.step%d.json", t.token, s.index))
		digest, err := writeJSON(filepath.Join(dir, filepath.FromSlash(name)), s.export)
		if err != nil {
			return err
		}
		t.digests[name] = digest
		t.files = append(t.files, name)
	}
	digest, err := writeJSON(filepath.Join(dir, filepath.FromSlash(t.path())), t.file())
	if err != nil {
		return err
	}
	t.digests[t.path()] = digest
	return nil
}

func (t *trial) file() trialFile {
	metrics := t.metrics()
	var perStep []map[string]float64
	r := trialResult{
		Passed: t.status() == OK, FailureCount: len(t.failures), FirstFailureIteration: t.firstFailure(), FailureDetails: t.failures,
		TotalIterations: max(len(t.steps), t.stepsStarted), ElapsedSec: t.elapsedSec, MainWorkStarted: t.mainWorkStarted,
		ExecutedIterations: len(t.steps), ConfiguredIterations: t.cell.Steps, Metrics: metrics,
		RunToken: t.token, Engine: t.facts, NoVerdict: t.noVerdict(), Warnings: t.warnings, Digests: maps.Clone(t.digests),
		Client: map[string]any{"kind": t.serve.Client}, StepTimesMS: []float64{},
	}
	for _, s := range t.steps {
		r.StepTimesMS = append(r.StepTimesMS, s.durationMS())
		r.Audits = append(r.Audits, s.result.Audit)
		perStep = append(perStep, s.scalars)
		r.Client["clock"] = s.result.Clock
	}
	for _, tag := range t.tags {
		step := tag.Step
		r.Tags = append(r.Tags, report.Tag{Name: tag.Name, Step: &step, Why: tag.Why})
	}
	metrics["steps"], metrics["result_files"] = perStep, t.files
	if len(t.tags) > 0 {
		r.Clean = t.cleanMetrics()
	}
	if t.canary != nil {
		r.Canary = newCanaryFile(t.canary)
	}
	return trialFile{Cell: t.cell.Name, Trial: t.index, ExitStatus: t.status(), Outcome: t.outcome(), WallClockSec: t.elapsedSec, Result: r}
}

func newCanaryFile(f *loadgen.Findings) *canaryFile {
	out := &canaryFile{Prompt: string(f.Prompt), Usage: f.Usage, FinishReason: f.FinishReason, Done: f.Done,
		UsageEachEvent: f.UsageEachEvent, TokensPerEvent: f.TokensPerEvent, Missing: []string{}}
	for _, class := range f.Missing {
		out.Missing = append(out.Missing, string(class))
	}
	return out
}

// digests collects the evidence files of all trials.
func digests(trials []*trial) map[string]string {
	out := map[string]string{}
	for _, t := range trials {
		maps.Copy(out, t.digests)
	}
	return out
}

// writeJSON writes v to path, whole or not at all, and gives the digest of the bytes.
func writeJSON(path string, v any) (string, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", path, err)
	}
	raw = append(raw, '\n')
	if err := writeFile(path, raw); err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func writeFile(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, raw, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
