// Package matrix is the nightly matrix file: which recipes the night runs, and what each needs.
//
// The file is the reference's, version 1:
//
//	version: 1
//	entries:
//	  - name: serve_smoke          # letters, digits, _ . -; the key prefix of its baselines
//	    recipe: recipes/smoke.yaml # below the repository's root
//	    nproc: 2                   # optional: run under torchrun with so many processes
//	    min_gpus: 2                # optional: fewer GPUs skip the entry; absent it is nproc, else 1
//	    timeout_sec: 3600          # optional: wall clock of the whole entry, default 1800
//	    needs_docker_daemon: true  # optional: without a daemon the entry is skipped
//	pending_entries:               # never run; held to the same rules, and each says what it waits for
//	  - {name: serve_load, recipe: recipes/load.yaml, blocked_on: "the conc-64 stall"}
//
// There is no field for "record only": a cell is recorded as long as the baselines file has no key
// for it. Everything the reference ignores in silence is refused with its place: an unknown key, a
// name that is there twice, a name that would leave the work directory, a recipe that is not there.
package matrix

import (
	"time"
)

// Version is the only version of the file.
const Version = 1

// DefaultTimeout bounds an entry that does not state its own limit.
const DefaultTimeout = 1800 * time.Second

// Self is the entry name that results use for the night as a whole; no entry may have it.
const Self = "_nightly_eval"

// File is a matrix file.
type File struct {
	// Path is where it was read from.
	Path string
	// Entries are run, in the order of the file.
	Entries []Entry
	// Pending are waiting for something and are not run.
	Pending []Entry
}

// Entry is one recipe of the night.
type Entry struct {
	// Name is unique in the file, entries and pending ones together, and safe as a folder's name.
	Name string
	// Recipe is the recipe's path below the root, as written.
	Recipe string
	// Nproc is the number of processes under torchrun; 0 runs without it.
	Nproc int
	// MinGPUs is the number of GPUs without which the entry is skipped. 0 needs none.
	MinGPUs int
	// Timeout bounds the entry's wall clock.
	Timeout time.Duration
	// NeedsDocker says that the entry is skipped where no Docker daemon answers.
	NeedsDocker bool
	// BlockedOn says what a pending entry waits for; "" for one that runs.
	BlockedOn string
}

// Entry returns the entry of that name that runs, nil where there is none.
func (f *File) Entry(name string) *Entry {
	for i := range f.Entries {
		if f.Entries[i].Name == name {
			return &f.Entries[i]
		}
	}
	return nil
}

// Names returns the names of the entries that run, in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.Entries))
	for i, e := range f.Entries {
		names[i] = e.Name
	}
	return names
}
