package history

import (
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/gate/night"
)

// Attempt is one attempt of one run: the results of its night.
type Attempt struct {
	night.Results

	// Sources are the results files it was made of.
	Sources []Source `json:"sources"`

	// Path is the run file's name in the history, SHA256 the lower-case hex digest of its bytes: the
	// evidence that a bound names. Start is StartedAt.
	Path   string    `json:"-"`
	SHA256 string    `json:"-"`
	Start  time.Time `json:"-"`
}

// Source is a results file that was published.
type Source struct {
	// Name is the file's name, SHA256 the lower-case hex digest of its bytes.
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// Imported marks a results file of the reference, whose event the operator stated.
	Imported bool `json:"imported,omitempty"`
}
