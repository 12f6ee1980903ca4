package history

import (
	"context"
	"errors"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// store keeps files by path.
type store interface {
	// open fixes what is read: what is added later is not seen.
	open(ctx context.Context) (snapshot, error)
	// add stores files that are not there yet, each whole or not at all, and reports which were there
	// already with the same bytes. It never overwrites.
	add(ctx context.Context, files []file) (there []bool, err error)
	// remove takes files out.
	remove(ctx context.Context, paths []string) error
}

// snapshot is a store at one moment.
type snapshot interface {
	// paths names everything below runs/.
	paths() []string
	read(path string) ([]byte, error)
	close() error
}

// file is a run file that is to be stored.
type file struct {
	path string
	data []byte
}

// maxFile is the size of a run file that is read, in bytes.
const maxFile = strict.MaxJSON

// errOtherBytes is the refusal to overwrite.
var errOtherBytes = errors.New("is in the history already, with other bytes; a published run is never overwritten")

// emptySnapshot is a store that does not exist yet.
type emptySnapshot struct{}

func (emptySnapshot) paths() []string             { return nil }
func (emptySnapshot) read(string) ([]byte, error) { return nil, errors.New("is not there") }
func (emptySnapshot) close() error                { return nil }
