//go:build !linux

package workroot

import "os"

// lockHolder knows nothing here: the system has no list of locks.
func lockHolder(*os.File) string { return "" }
