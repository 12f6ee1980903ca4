package workroot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Busy says that another run holds the work root.
type Busy struct {
	// Root is the work root.
	Root string

	// Holder names the run that holds it, as well as the system tells: pid and command line; empty when it does not.
	Holder string
}

// Error names the holder.
func (b *Busy) Error() string {
	if b.Holder == "" {
		return "another run holds the work root " + b.Root
	}
	return "another run holds the work root " + b.Root + ": " + b.Holder
}

// Lock is the right to be the one run of a work root. The kernel lets go of it when the process ends, however it ends.
type Lock struct{ file *os.File }

// Lock takes the work root for this run and waits for it no longer than wait. The error is *Busy when another run keeps it.
func (r *Root) Lock(ctx context.Context, wait time.Duration) (*Lock, error) {
	file, err := openLock(filepath.Join(r.Path, "lock"))
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the work root: %w", err)
	}
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &Lock{file}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking the work root: %w", err), file.Close())
		}
		select {
		case <-limit.Done():
			busy := &Busy{Root: r.Path, Holder: lockHolder(file)}
			return nil, errors.Join(busy, file.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Release gives the work root to the next run.
func (l *Lock) Release() error { return l.file.Close() }

// openLock opens the lock file, which any user may have made: reading is enough for flock, and the kernel refuses
// O_CREAT on another's file in a sticky folder (fs.protected_regular), so making it is tried only when it is missing.
func openLock(path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NOFOLLOW
	for range 3 {
		file, err := os.OpenFile(path, flags, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		file, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s comes and goes", path)
}
