package loadgen

import "bytes"

// framing says how a response body ends.
type framing uint8

const (
	untilClose framing = iota
	byLength
	chunked
)

// Places inside a chunked body.
const (
	chunkLine = iota
	chunkExtension
	chunkData
	chunkDataEnd
	chunkDataLF
	trailer
	trailerLine
)

var errChunk = &protocolError{"malformed chunked body"}

// body decodes the transfer coding in place: payload bytes are handed on as slices of what was read.
type body struct {
	framing framing
	left    int64 // bytes left of the body (byLength) or of the chunk
	state   uint8
	digits  uint8
	done    bool
	// chunkSize is the size on the wire of the chunk that began last, for the caller to take.
	chunkSize int64
}

func newBody(f framing, length int64) body {
	return body{framing: f, left: length, done: f == byLength && length == 0}
}

// next splits b into the first payload slice (maybe empty) and the rest still to be given to next. It is called
// until the rest is empty or the body is done; bytes left over then belong to no response.
func (d *body) next(b []byte) (payload, rest []byte, err error) {
	switch d.framing {
	case untilClose:
		return b, nil, nil
	case byLength:
		payload, rest = d.cut(b)
		d.done = d.left == 0
		return payload, rest, nil
	}
	for len(b) > 0 && !d.done {
		if d.state == chunkData {
			payload, rest = d.cut(b)
			if d.left == 0 {
				d.state = chunkDataEnd
			}
			return payload, rest, nil
		}
		if err := d.mark(b[0]); err != nil {
			return nil, nil, err
		}
		b = b[1:]
		if d.state == chunkExtension || d.state == trailerLine {
			b = skipLine(b)
		}
	}
	return nil, b, nil
}

// cut takes what belongs to the current run of payload.
func (d *body) cut(b []byte) (payload, rest []byte) {
	n := min(int64(len(b)), d.left)
	d.left -= n
	return b[:n], b[n:]
}

// skipLine drops bytes up to the line's LF, which it leaves.
func skipLine(b []byte) []byte {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil
	}
	return b[i:]
}

// mark takes one byte of the coding itself.
func (d *body) mark(c byte) error {
	switch d.state {
	case chunkLine:
		return d.size(c)
	case chunkExtension:
		if c == '\n' {
			d.chunk()
		}
	case chunkDataEnd, chunkDataLF:
		switch {
		case c == '\n':
			d.state, d.left, d.digits = chunkLine, 0, 0
		case c == '\r' && d.state == chunkDataEnd:
			d.state = chunkDataLF
		default:
			return errChunk
		}
	case trailer:
		switch c {
		case '\r':
		case '\n':
			d.done = true
		default:
			d.state = trailerLine
		}
	case trailerLine:
		if c == '\n' {
			d.state = trailer
		}
	}
	return nil
}

// size takes one byte of a chunk's size line.
func (d *body) size(c byte) error {
	v := hexValue(c)
	switch {
	case v >= 0 && d.digits < 15:
		d.left = d.left<<4 | int64(v)
		d.digits++
	case d.digits == 0 || v >= 0:
		return errChunk
	case c == '\n':
		d.chunk()
	case c == ';' || c == '\r' || c == ' ' || c == '\t':
		d.state = chunkExtension
	default:
		return errChunk
	}
	return nil
}

// chunk begins the data of a chunk, or the trailer after the last.
func (d *body) chunk() {
	d.state = chunkData
	d.chunkSize = int64(d.digits) + 2 + d.left + 2
	if d.left == 0 {
		d.state = trailer
	}
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
