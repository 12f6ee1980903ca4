package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/baseline"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode reads one JSON value strictly: a key twice, also in another case, invalid UTF-8, NaN, a number
// that no float64 holds and anything after the value are refused. Keys it does not know are passed over,
// for a later version may write more. It is many times quicker than [strict.JSON], which keeps every
// place for an editor that machine-written files do not have. The error tells the offset.
func decode(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("byte 0: the file is empty (%d bytes)", len(data))
	}
	err := jsonv2.Unmarshal(data, into, jsonv2.MatchCaseInsensitiveNames(true))
	if err == nil {
		return nil
	}
	offset := int64(len(data))
	var syntactic *jsontext.SyntacticError
	var semantic *jsonv2.SemanticError
	what := err
	switch {
	case errors.As(err, &syntactic):
		offset, what = syntactic.ByteOffset, syntactic.Err
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
		if semantic.Err != nil {
			what = semantic.Err
		} else {
			what = fmt.Errorf("a JSON %s is no %s", semantic.JSONKind, semantic.GoType)
		}
		if at := string(semantic.JSONPointer); at != "" {
			what = fmt.Errorf("%s: %w", at, what)
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("byte %d: the file is cut short", len(data))
	}
	if marker := conflict(data, offset); marker != "" {
		return fmt.Errorf("byte %d: a merge marker (%s) is in the file", bytes.Index(data, []byte(marker)), marker)
	}
	return fmt.Errorf("byte %d: %w", offset, what)
}

// conflict finds the merge marker at or before which decoding stopped.
func conflict(data []byte, offset int64) string {
	for _, marker := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
		if i := bytes.Index(data, []byte(marker)); i >= 0 && int64(i) <= offset+int64(len(marker)) {
			return marker
		}
	}
	return ""
}

// parse reads the bytes of a run file and holds them to its name.
func parse(history, path string, data []byte) (*Attempt, error) {
	r := &Attempt{Path: path}
	err := decode(data, r)
	if err == nil {
		err = r.check()
	}
	if want := r.id().path(); err == nil && want != path {
		err = fmt.Errorf("lies under another name than it says: want %s", want)
	}
	if err != nil {
		return nil, strict.Problem{Path: join(history, path), Message: err.Error(), Rule: ruleHistory,
			Hint: "restore the file from where it was published, or remove it knowingly; nothing is read over it"}
	}
	sum := sha256.Sum256(data)
	r.SHA256 = hex.EncodeToString(sum[:])
	return r, nil
}

// check refuses what no reader could rely on, and fills Start.
func (r *Attempt) check() error {
	if r.SchemaVersion != 1 {
		return fmt.Errorf("schema_version is %d; this tool reads 1", r.SchemaVersion)
	}
	start, err := time.Parse(time.RFC3339Nano, r.StartedAt)
	if err != nil {
		return fmt.Errorf("started_at %q is no time with a zone, such as 2026-09-08T04:11:12+00:00", r.StartedAt)
	}
	r.Start = start.UTC()
	switch {
	case r.RunID < 1 || r.RunAttempt < 1:
		return fmt.Errorf("run_id %d and run_attempt %d must be 1 or more", r.RunID, r.RunAttempt)
	case !lanes.MatchString(r.Build.Lane):
		return fmt.Errorf("build.lane %q is no name of a lane: write letters, digits, _ . -", r.Build.Lane)
	case r.Event == "":
		return errors.New("event is missing: nothing says what started the run")
	}
	return r.checkRows()
}

func (r *Attempt) checkRows() error {
	seen := make(map[string]bool, len(r.Entries))
	for i := range r.Entries {
		row := &r.Entries[i]
		switch row.Verdict {
		case baseline.Pass, baseline.Fail, baseline.Record, baseline.Skip, baseline.NoVerdict:
		default:
			return fmt.Errorf("entries[%d].verdict %q is none that is known", i, row.Verdict)
		}
		if row.Entry == "" || strings.Contains(row.Entry, "::") || row.Cell != nil && (*row.Cell == "" || strings.Contains(*row.Cell, "::")) {
			return fmt.Errorf("entries[%d] has no usable name of an entry or a cell", i)
		}
		if key := row.Key(); seen[key] {
			return fmt.Errorf("entries[%d]: %s is there twice", i, key)
		} else {
			seen[key] = true
		}
	}
	return nil
}

func (r *Attempt) id() id {
	return id{day: r.Start.Format("2006/01/02"), run: r.RunID, attempt: r.RunAttempt, lane: r.Build.Lane}
}

// encode writes the bytes of a run file. The same run gives the same bytes.
func (r *Attempt) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding run %d: %w", r.RunID, err)
	}
	return b.Bytes(), nil
}
