package night

import (
	"io"
	"os"
)

// How much of what an entry prints is kept: in the job's log, which people scroll through, and in a file
// of its own, which must not fill the disk that the results are written to.
const (
	maxShown = 8 << 20
	maxLog   = 32 << 20 // in either of the two files
)

// quota passes on the first left bytes and drops the rest, so that a command that never stops printing
// is still read and not held up.
type quota struct {
	w    io.WriteCloser
	left int
	over func() // called once, when something is dropped
	told bool
}

func (q *quota) Write(b []byte) (int, error) {
	shown := b[:min(len(b), q.left)]
	q.left -= len(shown)
	if len(shown) > 0 {
		q.w.Write(shown)
	}
	if len(shown) < len(b) && !q.told {
		q.told = true
		q.over()
	}
	return len(b), nil
}

func (q *quota) Close() error { return q.w.Close() }

// ring is a log of bounded size. A full file becomes PATH.1, over an earlier one, and a new one is begun:
// how a command ended is in its last lines. What cannot be written is lost, and the command's output is
// not cut off for it.
type ring struct {
	path string
	f    *os.File
	size int64
	max  int64
}

func newRing(path string) (*ring, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &ring{path: path, f: f, max: maxLog}, nil
}

func (r *ring) Write(b []byte) (int, error) {
	if r.size > 0 && r.size+int64(len(b)) > r.max {
		r.turn()
	}
	n, _ := r.f.Write(b)
	r.size += int64(n)
	return len(b), nil
}

// turn begins a new file, or the old one again where there can be no other.
func (r *ring) turn() {
	r.size = 0
	if err := os.Rename(r.path, r.path+".1"); err == nil {
		if f, err := os.Create(r.path); err == nil {
			r.f.Close()
			r.f = f
			return
		}
	}
	r.f.Truncate(0)
	r.f.Seek(0, io.SeekStart)
}

func (r *ring) Close() error { return r.f.Close() }
