package step

import (
	"bytes"
	"io"
	"sync"
)

// redactor replaces secrets in everything a step writes.
type redactor struct {
	mu      sync.RWMutex
	secrets [][]byte
}

func (r *redactor) add(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, []byte(secret))
}

func (r *redactor) wrap(w io.Writer) io.Writer { return &redactingWriter{r: r, w: w} }

type redactingWriter struct {
	r *redactor
	w io.Writer
}

// Write replaces secrets within b. Step writes whole lines and whole documents, so
// a secret never falls between two calls.
func (rw *redactingWriter) Write(b []byte) (int, error) {
	rw.r.mu.RLock()
	out := b
	for _, secret := range rw.r.secrets {
		out = bytes.ReplaceAll(out, secret, []byte("***"))
	}
	rw.r.mu.RUnlock()
	if _, err := rw.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
