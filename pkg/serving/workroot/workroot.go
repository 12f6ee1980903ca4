// Package workroot keeps the directory that serving runs share on one host: who may own it, the private scratch of each
// user below it, the lock that keeps one run at a time on the accelerators, and the run records that let the next start
// end what a killed run left behind.
//
// Layout:
//
//	ROOT/            owned by root or by us; sticky when others may write to it (mode 1777)
//	ROOT/lock        flock: one run at a time, whoever runs it
//	ROOT/u<uid>/     ours alone, 0700
//	  out/           logs of engines, exports, compile caches
//	  hf/            the model cache
//	  runs/          one record for each engine that may be alive
package workroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Root is a work root that passed the trust checks.
type Root struct {
	// Path is the shared directory, absolute.
	Path string

	// Scratch is Path/u<uid>: ours alone.
	Scratch string
}

// Caches are the folders an engine's caches are sent to; all lie below the scratch.
type Caches struct{ HF, Triton, Inductor, XDG string }

// Refused says why a directory is not used as a work root, and what to do about it.
type Refused struct {
	// Path is the offending file or folder.
	Path string

	// Reason says what is wrong with it.
	Reason string

	// Hint says what to do next.
	Hint string
}

// Error gives path and reason; the hint is printed apart.
func (r *Refused) Error() string { return r.Path + ": " + r.Reason }

// Open checks the work root at path, makes it when it is missing, and makes the scratch of this user below it.
// A root that exists is never widened. Errors are *Refused when the root cannot be trusted.
func Open(path string) (*Root, error) {
	root, err := locate(path)
	if err != nil {
		return nil, err
	}
	if err := makeRoot(root.Path); err != nil {
		return nil, err
	}
	if err := checkRoot(root.Path); err != nil {
		return nil, err
	}
	if err := os.Mkdir(root.Scratch, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the scratch of this user: %w", err)
	}
	if err := checkScratch(root.Scratch); err != nil {
		return nil, err
	}
	for _, dir := range []string{root.Out(), root.runs(), root.Caches().HF, root.Caches().Triton, root.Caches().Inductor, root.Caches().XDG} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the scratch of this user: %w", err)
		}
	}
	return root, nil
}

// Check tells whether Open would accept the work root at path, and changes nothing. A missing root is accepted when the
// nearest folder above it that exists can be written to.
func Check(path string) error {
	root, err := locate(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(root.Path); errors.Is(err, fs.ErrNotExist) {
		return checkParent(root.Path)
	}
	if err := checkRoot(root.Path); err != nil {
		return err
	}
	if _, err := os.Lstat(root.Scratch); errors.Is(err, fs.ErrNotExist) {
		return Writable(root.Path)
	}
	return checkScratch(root.Scratch)
}

// Out is the folder of logs and exports.
func (r *Root) Out() string { return filepath.Join(r.Scratch, "out") }

// Caches gives the folders an engine's caches are sent to.
func (r *Root) Caches() Caches {
	return Caches{
		HF:       filepath.Join(r.Scratch, "hf"),
		Triton:   filepath.Join(r.Out(), "triton-cache"),
		Inductor: filepath.Join(r.Out(), "torchinductor"),
		XDG:      filepath.Join(r.Out(), "home", ".cache"),
	}
}

func (r *Root) runs() string { return filepath.Join(r.Scratch, "runs") }

func locate(path string) (*Root, error) {
	if !filepath.IsAbs(path) {
		return nil, &Refused{path, "the work root must be an absolute path", "give the full path: it is shared by every run on this host"}
	}
	path = filepath.Clean(path)
	if path == "/" {
		return nil, &Refused{path, "the file system's root cannot be the work root", "name a folder of its own, such as /tmp/ts-work-serve"}
	}
	return &Root{Path: path, Scratch: filepath.Join(path, "u"+strconv.Itoa(os.Getuid()))}, nil
}

// makeRoot makes a missing root with mode 1777; the mode is set after mkdir because the umask cuts it.
func makeRoot(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the work root: %w", err)
	}
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making the work root: %w", err)
	}
	if err := os.Chmod(path, os.ModeSticky|0o777); err != nil {
		return fmt.Errorf("making the work root: %w", err)
	}
	return nil
}

// checkRoot refuses a root whose owner could swap our scratch for something else: the owner of a sticky folder may
// rename whatever lies in it.
func checkRoot(path string) error {
	info, owner, err := realDir(path, "the work root")
	if err != nil {
		return err
	}
	if owner != 0 && owner != os.Getuid() {
		return &Refused{path, fmt.Sprintf("the work root belongs to uid %d, neither to root nor to us (uid %d)", owner, os.Getuid()),
			"name another work root, or let its owner hand it over: chown 0:0 " + path + " && chmod 1777 " + path}
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
		return &Refused{path, fmt.Sprintf("others may write to the work root and it is not sticky (mode %04o)", info.Mode().Perm()),
			"chmod 1777 " + path}
	}
	return nil
}

func checkScratch(path string) error {
	info, owner, err := realDir(path, "the scratch folder")
	if err != nil {
		return err
	}
	if owner != os.Getuid() {
		return &Refused{path, fmt.Sprintf("the scratch folder belongs to uid %d, not to us (uid %d)", owner, os.Getuid()),
			"remove it, or chown it to this user"}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &Refused{path, fmt.Sprintf("others may write to the scratch folder (mode %04o)", info.Mode().Perm()),
			"chmod 700 " + path + " (a folder made under the default umask is too wide)"}
	}
	return Writable(path)
}

// realDir stats path without following a link and gives its owner's uid.
func realDir(path, what string) (fs.FileInfo, int, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("checking %s: %w", what, err)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return nil, 0, &Refused{path, what + " is a symbolic link", "name the real folder: whoever owns a link decides where it leads"}
	}
	if !info.IsDir() {
		return nil, 0, &Refused{path, what + " is not a folder", "remove the file, or name another work root"}
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, 0, &Refused{path, "its owner cannot be read", "use a local file system"}
	}
	return info, int(stat.Uid), nil
}

// checkParent looks for the nearest folder above path that exists.
func checkParent(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			return Writable(dir)
		}
		if dir == filepath.Dir(dir) {
			return fmt.Errorf("checking the work root: no folder above %s exists", path)
		}
	}
}

// Writable tells whether we may make files in dir. It asks the kernel (W_OK|X_OK), which knows read-only mounts and access lists too.
func Writable(dir string) error {
	const writeAndEnter = 0x2 | 0x1
	if err := syscall.Access(dir, writeAndEnter); err != nil {
		return &Refused{dir, "we may not write here: " + err.Error(), "name another work root with --work-dir"}
	}
	return nil
}
