package night

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// ours marks a folder that an earlier night made. Only such a folder, or an empty one, is emptied: with
// --work-dir . an entry named like a folder of the repository would otherwise delete it.
const ours = ".gatehouse"

// checkWorkDir finds folders that would have to be deleted and are not ours.
func (n *night) checkWorkDir() strict.Problems {
	var problems strict.Problems
	for _, e := range n.entries {
		if err := mayEmpty(filepath.Join(n.workDir, e.Name)); err != nil {
			problems = append(problems, strict.Problem{
				Path: filepath.Join(n.workDir, e.Name), Field: "--work-dir", Message: err.Error(),
				Hint: "move it away, or choose another --work-dir",
			})
		}
	}
	return problems
}

func mayEmpty(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("an entry's folder would go where something else is")
	}
	if _, err := os.Lstat(filepath.Join(dir, ours)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = errors.New("an entry's folder would be emptied, and it was not made by a night")
	}
	return err
}

// hold keeps another night from the folder of an entry until release is called, or this process ends.
func hold(workDir, entry string) (release func(), err error) {
	if err := os.MkdirAll(workDir, 0o755); err != nil {
		return nil, fmt.Errorf("making the work folder: %w", err)
	}
	// Names do not begin with a dot, so no entry has this one.
	f, err := os.OpenFile(filepath.Join(workDir, "."+entry+".lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the entry's folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errBusy
		}
		return nil, fmt.Errorf("locking the entry's folder: %w", err)
	}
	return func() { f.Close() }, nil
}

var errBusy = errors.New("another night is running this entry in the same work folder: wait for it, or choose another --work-dir")

// freshDir empties the folder of an entry, or makes it.
func freshDir(dir string) error {
	if err := mayEmpty(dir); err != nil {
		return fmt.Errorf("preparing %s: %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("emptying the entry's folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the entry's folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ours), []byte("made by nightly-eval; emptied before its entry runs again\n"), 0o644); err != nil {
		return fmt.Errorf("marking the entry's folder: %w", err)
	}
	return nil
}
