package enginesim

import (
	"sync"
	"time"
)

// maxArrivalSeconds bounds the arrivals kept by second: a day.
const maxArrivalSeconds = 86400

// census counts requests as they come and go.
type census struct {
	started  int64
	burstGap time.Duration

	mu       sync.Mutex
	requests int
	inFlight int
	peak     int
	burst    int
	place    int   // of the last arrival in its burst, from 1
	idle     int64 // when in-flight last fell to 0
	arrivals []int
}

// ticket is what a request is given on arrival.
type ticket struct{ number, burst, place, inFlight int }

// arrive counts a request that was read at time now.
func (c *census) arrive(now int64) ticket {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.burst == 0 || c.inFlight == 0 && now-c.idle >= int64(c.burstGap) {
		c.burst++
		c.place = 0
	}
	c.place++
	c.requests++
	c.inFlight++
	c.peak = max(c.peak, c.inFlight)
	second := min(int((now-c.started)/int64(time.Second)), maxArrivalSeconds-1)
	for len(c.arrivals) <= second {
		c.arrivals = append(c.arrivals, 0)
	}
	c.arrivals[second]++
	return ticket{c.requests, c.burst, c.place, c.inFlight}
}

// depart counts a request out at time now.
func (c *census) depart(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	if c.inFlight == 0 {
		c.idle = now
	}
}

func (c *census) summary() Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Summary{Requests: c.requests, PeakInFlight: c.peak, Arrivals: append([]int{}, c.arrivals...)}
}
