package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// TailLimit is how many characters of an engine's log a result keeps.
const TailLimit = 2000

const (
	defaultLogCap = 64 << 20
	logEnd        = 64 << 10 // what Log reads from either end
)

// logFile is an engine's log. The engine writes to the file itself, opened for appending: a pipe could fill up while
// nobody reads and stall the engine in the middle of a measurement. When the file passes its cap, the start is kept in
// PATH.head, and the file begins again; lines written in between are lost.
type logFile struct {
	path string
	cap  int64
	file *os.File
	once sync.Once
	stop chan struct{}
	done chan struct{}
}

func openLog(path string, limit int64) (*logFile, error) {
	if limit <= 0 {
		limit = defaultLogCap
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the engine's log: %w", err)
	}
	l := &logFile{path: path, cap: limit, file: file, stop: make(chan struct{}), done: make(chan struct{})}
	go l.watch()
	return l, nil
}

// watch keeps the file below its cap until close.
func (l *logFile) watch() {
	defer close(l.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.trim()
		}
	}
}

// trim begins the file again when it is over its cap. Since it is open for appending, the engine's next line lands at
// the new end.
func (l *logFile) trim() {
	info, err := l.file.Stat()
	if err != nil || info.Size() <= l.cap {
		return
	}
	head := l.path + ".head"
	if _, err := os.Stat(head); errors.Is(err, os.ErrNotExist) {
		_ = os.WriteFile(head, readPart(l.path, 0, logEnd), 0o600) // the start is a help, not a need
	}
	_ = l.file.Truncate(0)
}

// close ends the watch; the file stays.
func (l *logFile) close() {
	l.once.Do(func() {
		close(l.stop)
		<-l.done
		_ = l.file.Close()
	})
}

// ends gives the start and the end of the log.
func (l *logFile) ends() string {
	head := readPart(l.path+".head", 0, logEnd)
	if head == nil {
		head = readPart(l.path, 0, logEnd)
		if len(head) < logEnd {
			return string(head)
		}
	}
	return string(head) + "\n…\n" + string(readPart(l.path, -logEnd, logEnd))
}

// tail gives the last TailLimit characters.
func (l *logFile) tail() string {
	const utfMax = 4
	return tail(string(readPart(l.path, -utfMax*TailLimit, utfMax*TailLimit)), TailLimit)
}

// readPart reads up to n bytes of the file at path, from offset, or from that far before its end when offset is
// negative. What cannot be read is nil: a log is evidence, and its absence must not fail a trial.
func readPart(path string, offset, n int64) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if offset < 0 {
		info, err := file.Stat()
		if err != nil {
			return nil
		}
		offset = max(0, info.Size()+offset)
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, offset, n))
	if err != nil {
		return nil
	}
	return raw
}
