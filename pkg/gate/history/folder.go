package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// folder is a history in a folder. A file comes into it by a link to a finished and synced one, which
// fails where the name is taken: there is no moment at which it is half there, and no way to overwrite.
type folder string

func (f folder) path(path string) string { return filepath.Join(string(f), filepath.FromSlash(path)) }

// state tells a history from a folder that does not exist yet, or is empty, and refuses any other.
func (f folder) state() (isNew bool, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	isNew = true
	for _, e := range entries {
		if e.Name()+"/" == runsDir && e.IsDir() {
			return false, nil
		}
		if !scratch(e.Name()) {
			isNew = false
		}
	}
	if !isNew {
		return false, strict.Problem{Path: string(f), Message: "is no history: it is not empty and has no folder runs/", Rule: ruleHistory,
			Hint: "name the history's folder, or one that does not exist yet; results files of the reference are imported with --import"}
	}
	return true, nil
}

type folderSnapshot struct {
	folder
	names []string
}

func (f folder) open(context.Context) (snapshot, error) {
	isNew, err := f.state()
	if err != nil {
		return nil, err
	}
	if isNew {
		return emptySnapshot{}, nil
	}
	s := &folderSnapshot{folder: f}
	root := f.path(runsDir)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(string(f), path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return strict.Problem{Path: path, Message: "is no regular file", Rule: ruleHistory}
		}
		s.names = append(s.names, filepath.ToSlash(rel))
		return nil
	})
	if err == nil && len(s.names) == 0 {
		err = strict.Problem{Path: root, Message: "holds no run: a history that was begun is never empty", Rule: ruleHistory,
			Hint: "restore the runs, or remove the folder to begin anew"}
	}
	return s, err
}

func (s *folderSnapshot) paths() []string { return s.names }
func (s *folderSnapshot) close() error    { return nil }

func (s *folderSnapshot) read(path string) ([]byte, error) {
	file, err := os.Open(s.path(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("has %d bytes, more than the limit of %d", info.Size(), maxFile)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(file, data)
	return data, err
}

func (f folder) add(_ context.Context, files []file) ([]bool, error) {
	if _, err := f.state(); err != nil {
		return nil, err
	}
	there := make([]bool, len(files))
	for i, file := range files {
		var err error
		if there[i], err = f.addOne(file); err != nil {
			return nil, err
		}
	}
	return there, nil
}

func (f folder) addOne(add file) (there bool, err error) {
	path := f.path(add.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("making the folder of %s: %w", path, err)
	}
	temporary, err := f.writeScratch(add.data)
	if temporary != "" {
		defer os.Remove(temporary)
	}
	if err != nil {
		return false, fmt.Errorf("writing %s: %w", path, err)
	}
	err = os.Link(temporary, path)
	if errors.Is(err, fs.ErrExist) {
		old, err := os.ReadFile(path)
		if err != nil {
			return false, fmt.Errorf("reading %s: %w", path, err)
		}
		if !bytes.Equal(old, add.data) {
			return false, strict.Problem{Path: path, Message: errOtherBytes.Error(), Rule: ruleHistory}
		}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("storing %s: %w", path, err)
	}
	return false, syncDir(filepath.Dir(path))
}

// scratchPrefix marks files that are being written. One that a killed publisher left behind does no harm.
const scratchPrefix = ".publishing-"

func scratch(name string) bool {
	return len(name) > len(scratchPrefix) && name[:len(scratchPrefix)] == scratchPrefix
}

// writeScratch puts the bytes safely on disk under a name that no reader looks at.
func (f folder) writeScratch(data []byte) (string, error) {
	file, err := os.CreateTemp(string(f), scratchPrefix+"*")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	return file.Name(), errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (f folder) remove(_ context.Context, paths []string) error {
	for _, path := range paths {
		if err := os.Remove(f.path(path)); err != nil {
			return err
		}
	}
	return nil
}
