package enginesim

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// logWriter writes finished records to the send log in a goroutine of its
// own: encoding and file writes stay off the schedule.
type logWriter struct {
	out   io.Writer
	limit int64 // bytes after which records are dropped, not written

	mu      sync.Mutex
	wake    *sync.Cond
	pending []*Record
	closed  bool
	dropped int

	free sync.Pool
	done chan struct{}
	err  error // belongs to the goroutine until done is closed
}

func newLogWriter(out io.Writer, limit int64, h Header) (*logWriter, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encoding the send log's header: %w", err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("writing the send log: %w", err)
	}
	w := &logWriter{out: out, limit: limit - int64(len(line)), done: make(chan struct{})}
	w.wake = sync.NewCond(&w.mu)
	w.free.New = func() any { return &Record{Writes: make([]Write, 0, 160)} }
	go w.run()
	return w, nil
}

// maxPending bounds the records that wait for a disk that is slow; more are
// dropped, and counted.
const maxPending = 1 << 16

// keepWrites is how many writes a script or record may hold room for after
// its request: a few long ones must not hold memory for ever.
const keepWrites = 1 << 14

// record gives an empty record to fill in.
func (w *logWriter) record() *Record {
	r := w.free.Get().(*Record)
	if cap(r.Writes) > keepWrites {
		r.Writes = nil
	}
	*r = Record{Writes: r.Writes[:0], Faults: r.Faults[:0]}
	return r
}

// put hands a finished record over; the caller must not touch it again.
func (w *logWriter) put(r *Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == maxPending {
		w.dropped++
		return
	}
	w.pending = append(w.pending, r)
	w.wake.Signal()
}

// close writes what is pending and then the summary.
func (w *logWriter) close(s Summary) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake.Signal()
	<-w.done
	if w.err != nil {
		return fmt.Errorf("writing the send log: %w", w.err)
	}
	s.Dropped = w.dropped
	line, err := json.Marshal(map[string]Summary{"summary": s})
	if err != nil {
		return fmt.Errorf("encoding the send log's summary: %w", err)
	}
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the send log: %w", err)
	}
	return nil
}

func (w *logWriter) run() {
	defer close(w.done)
	var batch []*Record
	var buf []byte
	for {
		w.mu.Lock()
		for len(w.pending) == 0 && !w.closed {
			w.wake.Wait()
		}
		if len(w.pending) == 0 {
			w.mu.Unlock()
			return
		}
		batch, w.pending = w.pending, batch[:0]
		w.mu.Unlock()
		for i, r := range batch {
			buf = w.write(buf[:0], r)
			if cap(buf) > bodyKeep {
				buf = nil
			}
			w.free.Put(r)
			batch[i] = nil
		}
	}
}

func (w *logWriter) write(buf []byte, r *Record) []byte {
	buf = appendRecord(buf, r)
	if w.err != nil || int64(len(buf)) > w.limit {
		w.limit = 0
		w.mu.Lock()
		w.dropped++
		w.mu.Unlock()
		return buf
	}
	w.limit -= int64(len(buf))
	_, w.err = w.out.Write(buf)
	return buf
}
