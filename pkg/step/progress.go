package step

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progressEvery is how often a job's log gets a line about long work.
const progressEvery = 10 * time.Second

// Progress tells people how far long work has come: a bar on a terminal, a line
// every ten seconds elsewhere. Its methods may be called from any goroutine.
type Progress struct {
	step  *Step
	label string
	total int64

	mu    sync.Mutex
	done  int64
	note  string
	start time.Time

	bars *mpb.Progress // nil when stderr is no terminal
	bar  *mpb.Bar
	stop chan struct{}
	once sync.Once
}

// Progress begins to report on work of total units (0 when it is not known).
func (s *Step) Progress(label string, total int64) *Progress {
	p := &Progress{step: s, label: label, total: total, start: s.Now(), stop: make(chan struct{})}
	if s.terminal != nil && !s.InJob() {
		p.bars = mpb.New(mpb.WithOutput(s.terminal), mpb.WithWidth(60))
		p.bar = p.bars.AddBar(total,
			mpb.PrependDecorators(decor.Name(s.door.Name+": "+label)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.text() })),
			mpb.BarRemoveOnComplete())
		s.mu.Lock()
		s.bar = p
		s.mu.Unlock()
		return p
	}
	go p.lines()
	return p
}

// terminal returns w where a person looks at it, nil elsewhere.
func terminal(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Set records how many units are done.
func (p *Progress) Set(done int64) {
	p.mu.Lock()
	p.done = done
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(done)
	}
}

// Note records what is going on now, such as "warm-up step 1/2".
func (p *Progress) Note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note = fmt.Sprintf(format, args...)
}

// Done ends the report.
func (p *Progress) Done() {
	p.once.Do(func() {
		close(p.stop)
		if p.bars == nil {
			return
		}
		p.step.mu.Lock()
		p.step.bar = nil
		p.step.mu.Unlock()
		p.bar.Abort(true)
		p.bars.Wait()
	})
}

func (p *Progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.step.Now().Sub(p.start).Round(time.Second).String()
	if p.total > 0 {
		text = fmt.Sprintf("%d/%d, ", p.done, p.total) + text
	}
	if p.note != "" {
		text = p.note + ", " + text
	}
	return text
}

func (p *Progress) lines() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.step.Say("%s: %s", p.label, p.text())
		}
	}
}

// print writes a line above the bar; it reports false where there is none.
func (p *Progress) print(line string) bool {
	if p.bars == nil {
		return false
	}
	_, err := fmt.Fprintln(p.step.redactor.wrap(p.bars), line)
	return err == nil
}
