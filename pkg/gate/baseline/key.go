package baseline

import (
	"fmt"
	"regexp"
	"strings"
)

// Key joins a nightly entry and one of its cells. It is written "entry::cell", and since neither
// name can hold a colon there is one way only to read it.
type Key struct {
	Entry string
	Cell  string
}

// String returns "entry::cell".
func (k Key) String() string { return k.Entry + "::" + k.Cell }

var name = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// CheckName says why a text cannot be the name of an entry or a cell, or returns nil. A name is part
// of a key and the name of a folder, so it holds letters, digits, "_", "." and "-" only, and does
// not begin with "." or "-".
func CheckName(text string) error {
	if name.MatchString(text) && len(text) <= maxName {
		return nil
	}
	return fmt.Errorf("%q is no usable name: write letters, digits, _ . - (the first not . or -), at most %d characters", text, maxName)
}

// maxName keeps a name within what file systems take, with room for what is put beside it.
const maxName = 100

// ParseKey reads "entry::cell".
func ParseKey(text string) (Key, error) {
	entry, cell, found := strings.Cut(text, "::")
	if !found {
		return Key{}, fmt.Errorf("%q is no key: write entry::cell", text)
	}
	for _, part := range []string{entry, cell} {
		if err := CheckName(part); err != nil {
			return Key{}, fmt.Errorf("%q is no key: %w", text, err)
		}
	}
	return Key{Entry: entry, Cell: cell}, nil
}
