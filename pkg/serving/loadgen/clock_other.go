//go:build !linux

package loadgen

// systemMonotonic has no portable source; stamps then count from the start of the process.
func systemMonotonic() int64 { return 1 }
