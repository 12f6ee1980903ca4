package loadgen

// pace bounds reads so that none spans two segments. While a client sleeps, segments queue up, each with its own
// receive stamp; a read that takes two of them in gets the stamp of the last for both. The ends of segments cannot be
// seen, but servers flush chunk by chunk: a read of at most the smallest chunk lies within one segment, and its size
// line tells how much is left. Where several chunks came in one segment (the next read has the same stamp) more are
// read at once, or a server that bundles would cost a system call an event.
type pace struct {
	head  int // length of the last response's head
	least int // wire size of the smallest chunk so far
	burst int // chunks to read at once

	boundary bool  // the read being made began between chunks
	queued   bool  // the last read left something in the queue
	at       int64 // stamp of the last read
}

// leastEvent is below the size of any event that carries output; smaller chunks hold [DONE] or a comment.
const leastEvent = 64

// limit is how much the next read may take.
func (s *stream) limit() int {
	p := &s.pace
	p.boundary = false
	n := readSize
	switch {
	case !s.headed:
		if left := p.head - len(s.head.buf); left > 0 {
			n = left
		}
	case s.body.framing != chunked:
	case s.body.state == chunkData:
		n = int(min(s.body.left+2, readSize))
	case s.body.state == chunkDataEnd:
		n = 2
	case s.body.state == chunkDataLF:
		n = 1
	default:
		p.boundary = true
		n = p.least * p.burst
	}
	return min(n, readSize)
}

// read is told of each read: how much came, its stamp, and whether it left something in the queue.
func (p *pace) read(n int, at int64, queued bool) {
	if p.boundary {
		switch {
		case at == p.at:
			p.burst = min(2*p.burst, readSize/p.least)
		case p.queued:
			p.burst = max(p.burst/2, 1)
		case !queued:
			p.burst = max(min(p.burst, n/p.least), 1)
		}
	}
	p.at, p.queued = at, queued
}

// chunk is told of the wire size of each chunk.
func (p *pace) chunk(size int64) {
	if size >= leastEvent && (size < int64(p.least) || p.least == leastEvent) {
		p.least = int(min(size, readSize))
	}
}
