package night

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// newest returns the matrix.json below dir that was written last, "" where there is none. Links are not
// followed: what an entry measured lies in its own folder. Of two written at the same instant the one
// whose path sorts last is taken, for run folders are named by their time.
func newest(dir string) (string, error) {
	var found string
	var when time.Time
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() != "matrix.json" || !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if found == "" || !info.ModTime().Before(when) {
			found, when = path, info.ModTime()
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("looking for matrix.json: %w", err)
	}
	return found, nil
}

// digest is the sha256 of a file in hex.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
