//go:build !linux

package enginesim

import "time"

// start anchors the fallback clock: the runtime's monotonic reading, which is
// not comparable with another process's.
var start = time.Now()

func monotonic() int64 { return int64(time.Since(start)) }

func wallOffset() int64 { return time.Now().UnixNano() - monotonic() }
