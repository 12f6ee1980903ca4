package loadgen

import "bytes"

// maxEvent bounds one event (and one line), so that an engine gone wild cannot eat the memory.
const maxEvent = 8 << 20

// maxEvents bounds the events of one request for the same reason: an engine that never stops would add 50 MB a second
// until the step's time is over.
const maxEvents = 1 << 20

var errTooManyEvents = &protocolError{"a stream of more than 1048576 events"}

var errEventTooLarge = &protocolError{"an event of more than 8 MiB"}

// framer cuts body bytes into server-sent events, wherever reads happen to split them. Lines end in LF, CR or CRLF.
// An event that lies within one slice is handed on in place, without a copy.
type framer struct {
	// emit gets the data of each event; errorEvent tells that its event field was "error". The bytes are only valid
	// during the call.
	emit func(data []byte, errorEvent bool)

	line   []byte // the start of a line whose end has not come yet
	data   []byte // own copy of the data collected for the event, when kept
	view   []byte // its data in place, in the slice being fed
	has    bool   // a data field was seen
	inView bool   // the data is view, not data
	isErr  bool   // event: error
	skipLF bool   // the last line ended in CR at the very end of a slice
}

// reset forgets everything but the buffers.
func (f *framer) reset() {
	*f = framer{emit: f.emit, line: f.line[:0], data: f.data[:0]}
}

// feed takes the next slice of the body.
func (f *framer) feed(b []byte) error {
	for len(b) > 0 {
		if f.skipLF {
			f.skipLF = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		i := lineEnd(b)
		if i < 0 {
			f.line = append(f.line, b...)
			break
		}
		line, inPlace := b[:i], true
		if len(f.line) > 0 {
			f.line = append(f.line, line...)
			line, inPlace = f.line, false
		}
		if b[i] == '\r' {
			if i+1 == len(b) {
				f.skipLF = true
			} else if b[i+1] == '\n' {
				i++
			}
		}
		b = b[i+1:]
		f.take(line, inPlace)
		f.line = f.line[:0]
	}
	f.keep()
	if len(f.line)+len(f.data) > maxEvent {
		return errEventTooLarge
	}
	return nil
}

// end closes a body that ended cleanly: a last event without its blank line counts, as browsers' rules would not have
// it but every client in the field does.
func (f *framer) end() {
	if len(f.line) > 0 {
		f.take(f.line, false)
		f.line = f.line[:0]
	}
	f.dispatch()
}

// lineEnd is the index of the first LF or CR, -1 when there is none.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

// take handles one line without its end.
func (f *framer) take(line []byte, inPlace bool) {
	if len(line) == 0 {
		f.dispatch()
		return
	}
	name, value, _ := bytes.Cut(line, colon)
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		f.collect(value, inPlace)
	case "event":
		f.isErr = string(value) == "error"
	}
}

var colon = []byte(":")

// collect adds a data field; several are joined by LF.
func (f *framer) collect(value []byte, inPlace bool) {
	if !f.has {
		f.has = true
		if inPlace {
			f.view, f.inView = value, true
			return
		}
		f.data = append(f.data[:0], value...)
		return
	}
	f.keep()
	f.data = append(append(f.data, '\n'), value...)
}

// keep copies data that lies in the slice being fed.
func (f *framer) keep() {
	if f.inView {
		f.data = append(f.data[:0], f.view...)
		f.view, f.inView = nil, false
	}
}

// dispatch ends an event.
func (f *framer) dispatch() {
	if f.has {
		data := f.data
		if f.inView {
			data = f.view
		}
		f.emit(data, f.isErr)
	}
	f.data = f.data[:0]
	f.view, f.has, f.inView, f.isErr = nil, false, false, false
}
