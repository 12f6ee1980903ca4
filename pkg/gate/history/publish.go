package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/matrix"
	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Document is a results file as it was found.
type Document struct {
	Path string
	Data []byte
}

// FromResults makes one run of the results files of one night: one file, or one from each machine that
// shared it. event is what started the run, for files that do not say; "" where they all must. A run
// outside a job is numbered by its start, in Unix seconds.
func FromResults(event string, docs ...Document) (*Attempt, error) {
	var whole *Attempt
	for _, d := range docs {
		part, err := d.run(event, false)
		if err != nil {
			return nil, err
		}
		if whole == nil {
			whole = part
			continue
		}
		if err := whole.join(d, part); err != nil {
			return nil, err
		}
	}
	if whole == nil {
		return nil, fmt.Errorf("no results file to publish")
	}
	whole.finish()
	return whole, whole.check()
}

// Import makes a run of a results file of the reference. It knows neither its event, which the operator
// states, nor its run, and its build block is all that tells the stack.
func Import(event string, d Document) (*Attempt, error) {
	r, err := d.run(event, true)
	if err != nil {
		return nil, err
	}
	r.finish()
	return r, r.check()
}

// run reads a results file and fills what it leaves open.
func (d Document) run(event string, imported bool) (*Attempt, error) {
	r := &Attempt{}
	refuse := func(hint, format string, args ...any) error {
		return strict.Problem{Path: d.Path, Message: fmt.Sprintf(format, args...), Hint: hint, Rule: ruleHistory}
	}
	if err := decode(d.Data, &r.Results); err != nil {
		return nil, refuse("publish the file that the night wrote", "%v", err)
	}
	if imported {
		r.Event, r.UpstreamEvent, r.Complete = event, "", true
		r.StartedAt = cmp.Or(r.StartedAt, r.GeneratedAt)
	}
	r.Event = cmp.Or(r.Event, event)
	if r.Event == "" {
		return nil, refuse("say it with --event: schedule, workflow_dispatch, or a word of your own for a run by hand", "does not say what started the run")
	}
	start, err := time.Parse(time.RFC3339Nano, r.StartedAt)
	if err != nil {
		return nil, refuse("results files of the reference are imported with --import", "started_at %q is no time with a zone", r.StartedAt)
	}
	r.RunID, r.RunAttempt = cmp.Or(r.RunID, start.Unix()), cmp.Or(r.RunAttempt, 1)
	r.Build.Lane = cmp.Or(r.Build.Lane, "gate")
	sum := sha256.Sum256(d.Data)
	r.Sources = []Source{{Name: filepath.Base(d.Path), SHA256: hex.EncodeToString(sum[:]), Imported: imported}}
	for i := range r.Entries {
		if row := &r.Entries[i]; len(row.Fingerprint) == 0 && row.Cell != nil {
			row.Fingerprint = stack(r.Build)
		}
	}
	return r, nil
}

// stack is what a build block tells of the stack. What the night is there to test (the wheel, the
// commit) is no part of it, or no two nights would share one.
func stack(b night.Build) report.Fingerprint {
	f := report.Fingerprint{}
	for field, value := range map[string]*string{
		report.BaseImageDigest: b.BaseImage, report.ROCm: b.ROCm, report.Torch: b.Torch, "hip": b.HIP,
	} {
		if value != nil && *value != "" {
			f[field] = *value
		}
	}
	return f
}

// join adds the part of another machine.
func (r *Attempt) join(d Document, part *Attempt) error {
	for _, f := range []struct {
		name    string
		is, was any
	}{
		{"run_id", part.RunID, r.RunID}, {"run_attempt", part.RunAttempt, r.RunAttempt}, {"build.lane", part.Build.Lane, r.Build.Lane},
		{"event", part.Event, r.Event}, {"upstream_event", part.UpstreamEvent, r.UpstreamEvent},
	} {
		if f.is != f.was {
			return strict.Problem{Path: d.Path, Field: f.name, Rule: ruleHistory, Hint: "publish the results of one run attempt at a time",
				Message: fmt.Sprintf("%v here and %v in %s: these are not the results of one night", f.is, f.was, r.Sources[0].Name)}
		}
	}
	for _, each := range []*Attempt{r, part} {
		for i := range each.Entries {
			each.Entries[i].Runner = cmp.Or(each.Entries[i].Runner, each.Runner)
		}
	}
	r.Runner = "" // each row has its own from here on
	r.StartedAt, r.GeneratedAt = earlier(r.StartedAt, part.StartedAt), later(r.GeneratedAt, part.GeneratedAt)
	r.Complete = r.Complete && part.Complete
	r.Entries = append(r.Entries, part.Entries...)
	r.Sources = append(r.Sources, part.Sources...)
	return nil
}

// finish sorts out the rows about a machine's whole share: that one of them had nothing to run is no
// finding where another had.
func (r *Attempt) finish() {
	self := func(row night.Row) bool { return row.Entry == matrix.Self }
	if slices.ContainsFunc(r.Entries, func(row night.Row) bool { return !self(row) && row.Cell != nil }) && len(r.Sources) > 1 {
		r.Entries = slices.DeleteFunc(r.Entries, func(row night.Row) bool { return self(row) && row.Error != nil && *row.Error == night.ZeroWork })
	}
	r.Summary = night.Count(r.Entries)
}

func earlier(a, b string) string { return pick(a, b, -1) }
func later(a, b string) string   { return pick(a, b, 1) }

// pick returns the time that compares to the other as sign says; a text that is no time loses.
func pick(a, b string, sign int) string {
	ta, errA := time.Parse(time.RFC3339Nano, a)
	tb, errB := time.Parse(time.RFC3339Nano, b)
	if errB != nil || errA == nil && ta.Compare(tb)*sign >= 0 {
		return a
	}
	return b
}
