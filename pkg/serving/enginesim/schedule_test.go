package enginesim

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPacerOrder holds that jobs fire in the order they are due, never early,
// and that a hurried one comes first.
func TestPacerOrder(t *testing.T) {
	p, err := newPacer()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	base := monotonic() + int64(20*time.Millisecond)
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	jobs := make([]*job, 8)
	for i := range jobs {
		due := base + int64(i%4)*int64(5*time.Millisecond) + int64(i)
		wg.Add(1)
		jobs[i] = newJob(func() int64 {
			if now := monotonic(); now < due && i != 7 {
				t.Errorf("job %d fired %d ns early", i, due-now)
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			wg.Done()
			return never
		})
		p.add(jobs[i], due)
	}
	p.hurry(jobs[7])
	wg.Wait()
	want := []int{7, 0, 4, 1, 5, 2, 6, 3}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("got order %v, want %v", order, want)
		}
	}
}

// TestHurryWhileFiring holds that a job hurried in the middle of firing fires
// once more.
func TestHurryWhileFiring(t *testing.T) {
	p, err := newPacer()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	fired := make(chan int, 4)
	n := 0
	var j *job
	j = newJob(func() int64 {
		n++
		if n == 1 {
			p.hurry(j)
		}
		fired <- n
		return never
	})
	p.add(j, 0)
	if a, b := <-fired, <-fired; a != 1 || b != 2 {
		t.Errorf("got %d, %d, want 1, 2", a, b)
	}
}

// TestScheduleIsAbsolute holds that due times come from the read time alone
// and that no write goes out before it is due.
func TestScheduleIsAbsolute(t *testing.T) {
	p := quick()
	p.TTFT, p.ITL = 10*time.Millisecond, 3*time.Millisecond
	s := launch(t, p)
	for range 3 {
		s.ask(completionsPath, streamBody)
	}
	for _, r := range s.log().Records {
		for k, w := range r.Writes[1:] {
			if want := r.Read + int64(p.TTFT) + int64(k)*int64(p.ITL); w.Due != want {
				t.Errorf("request %d, write %d: due %d after the read, want %d", r.N, k, w.Due-r.Read, want-r.Read)
			}
			if w.At < w.Due {
				t.Errorf("request %d, write %d: sent %d ns early", r.N, k, w.Due-w.At)
			}
		}
	}
}

// TestInFlightIsExact holds that a closed loop of 16 never counts as more: the
// server counts a request out before its client can know.
func TestInFlightIsExact(t *testing.T) {
	p := quick()
	p.ITL = 0
	s := launch(t, p)
	var wg sync.WaitGroup
	for range 16 {
		c := s.dial()
		wg.Go(func() {
			buf := make([]byte, 1<<16)
			for range 20 {
				if _, err := io.WriteString(c, post(completionsPath, streamBody)); err != nil {
					t.Error(err)
					return
				}
				var all []byte
				for !strings.HasSuffix(string(all), "\r\n"+lastChunk) {
					n, err := c.Read(buf)
					if err != nil {
						t.Error(err)
						return
					}
					all = append(all, buf[:n]...)
				}
			}
		})
	}
	wg.Wait()
	log := s.log()
	if log.Summary.Requests != 320 || log.Summary.PeakInFlight > 16 || log.Summary.PeakInFlight < 2 {
		t.Errorf("got summary %+v, want 320 requests and a peak of at most 16", log.Summary)
	}
	if got, want := log.PeakInFlight(), log.Summary.PeakInFlight; got != want {
		t.Errorf("got a peak of %d by the records, %d by the summary", got, want)
	}
	sum := 0
	for _, n := range log.Summary.Arrivals {
		sum += n
	}
	if sum != 320 || log.Summary.Connections != 16 {
		t.Errorf("got %d arrivals on %d connections, want 320 on 16", sum, log.Summary.Connections)
	}
}

// TestAdmission holds that requests beyond the limit wait in order, and that
// one whose client leaves gives up its place in the queue.
func TestAdmission(t *testing.T) {
	p := quick()
	p.TTFT, p.MaxRunning = 30*time.Millisecond, 1
	s := launch(t, p)
	conns := make([]net.Conn, 4)
	for i := range conns {
		conns[i] = s.dial()
		io.WriteString(conns[i], post(completionsPath, streamBody, "Connection: close"))
		eventually(t, "the request has arrived", func() bool { return s.Summary().Requests == i+1 })
	}
	conns[2].Close()
	for _, i := range []int{0, 1, 3} {
		io.ReadAll(conns[i])
	}
	var ended int64
	log := s.log()
	if len(log.Records) != 4 {
		t.Fatalf("got %d records, want 4", len(log.Records))
	}
	for _, r := range log.Records {
		if r.N == 3 {
			if r.End != EndClient || r.Admitted != 0 {
				t.Errorf("the one that left: got end %s, admitted %d, want %s, 0", r.End, r.Admitted, EndClient)
			}
			continue
		}
		if r.End != EndOK || r.N > 1 && r.Admitted != ended {
			t.Errorf("request %d: got end %s, admitted at %d, want ok, at %d when the one before ended", r.N, r.End, r.Admitted, ended)
		}
		ended = r.Ended
	}
}

func TestBursts(t *testing.T) {
	c := census{burstGap: 10}
	for i, tt := range []struct {
		at           int64
		depart       bool
		burst, place int
	}{
		{5, false, 1, 1}, {6, false, 1, 2}, {7, true, 0, 0}, {100, false, 1, 3}, // never idle
		{101, true, 0, 0}, {102, true, 0, 0}, {111, false, 1, 4}, // idle for 9
		{112, true, 0, 0}, {122, false, 2, 1},
	} {
		if tt.depart {
			c.depart(tt.at)
		} else if got := c.arrive(tt.at); got.burst != tt.burst || got.place != tt.place {
			t.Errorf("step %d: got place %d in burst %d, want %d in %d", i, got.place, got.burst, tt.place, tt.burst)
		}
	}
}

// TestCloseEndsEverything holds that closing a server with a request in flight
// ends it, and says so.
func TestCloseEndsEverything(t *testing.T) {
	p := quick()
	p.TTFT = time.Hour
	s := launch(t, p)
	c := s.dial()
	io.WriteString(c, post(completionsPath, streamBody))
	eventually(t, "the request is in flight", func() bool { return s.active.Load() == 1 })
	if r := s.log().Records; len(r) != 1 || r[0].End != EndShutdown {
		t.Errorf("got records %+v, want one ended by shutdown", r)
	}
}

// TestMemoryIsFlat holds that serving leaves nothing behind: neither ordinary
// requests nor one of a hundred thousand writes.
func TestMemoryIsFlat(t *testing.T) {
	p := quick()
	p.TTFT, p.ITL, p.MaxModelLen = 0, 0, 1<<20
	s := launchConfig(t, Config{Model: "m", Profile: p})
	s.sent.discard = true
	c := s.dial()
	one := func(body string) {
		io.WriteString(c, post(completionsPath, body))
		tail := make([]byte, 0, 1<<16)
		for !strings.HasSuffix(string(tail), "[DONE]\n\n\r\n"+lastChunk) {
			tail = append(tail[:0], tail[max(0, len(tail)-64):]...)
			n, err := c.Read(tail[len(tail):cap(tail)])
			if err != nil {
				t.Fatal(err)
			}
			tail = tail[:len(tail)+n]
		}
	}
	one(streamBody)
	before := liveHeap()
	one(strings.Replace(streamBody, `"max_tokens":8`, `"max_tokens":100000`, 1))
	for range 2000 {
		one(streamBody)
	}
	if grown := liveHeap() - before; grown > 4<<20 {
		t.Errorf("grew by %d bytes", grown)
	}
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // a second one empties the pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
