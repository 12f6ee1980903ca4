package strict

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Limits on what is read, in bytes. YAML is written by people; JSON may hold a night's samples. A tree
// takes about 6 times a text of samples. What is made of nothing but brackets would take 40 times its
// size and a list of empty mappings a thousand times, so the values of a JSON text are counted too.
const (
	MaxYAML   = 4 << 20
	MaxJSON   = 128 << 20
	maxValues = 2 << 20
	maxDepth  = 200
)

// Extra takes the unknown keys of a mapping that a machine wrote and a later version may have
// extended. Its field must be tagged `strict:"extra"`.
type Extra map[string]any

// YAML decodes data, exactly one YAML document, into the value that into points to. The error is of
// type [Problems]; path is only named in it. The document is returned even when there are problems,
// unless the text could not be parsed at all.
func YAML(path string, data []byte, into any) (*Document, error) {
	return yamlFormat.decode(path, data, into)
}

// JSON decodes data, exactly one JSON value, as [YAML] does. Object keys that differ only in case are
// refused, because encoding/json takes one for the other; a map[string]string (environment
// variables) and a map of [Unmarshaler] values may hold such keys.
func JSON(path string, data []byte, into any) (*Document, error) {
	return jsonFormat.decode(path, data, into)
}

// ReadYAML reads the file at path and decodes it as [YAML] does.
func ReadYAML(path string, into any) (*Document, error) {
	return yamlFormat.read(path, into)
}

// ReadJSON reads the file at path and decodes it as [JSON] does.
func ReadJSON(path string, into any) (*Document, error) {
	return jsonFormat.read(path, into)
}

// A format is a syntax that both sides of this package agree on: text comes in, a tree comes out.
type format struct {
	limit int
	// parse reports to r what is wrong and returns false when there is no tree at all.
	parse func(r *reporter, data []byte) (node, bool)
	// caseless forbids keys that differ only in case.
	caseless bool
}

var (
	yamlFormat = format{limit: MaxYAML, parse: parseYAML}
	jsonFormat = format{limit: MaxJSON, parse: parseJSON, caseless: true}
)

func (f format) decode(path string, data []byte, into any) (*Document, error) {
	r := &reporter{path: path}
	if len(data) > f.limit {
		r.add(place{}, RuleSize, "split the file", "has more than the limit of %d bytes", f.limit)
		return nil, r.err()
	}
	if !checkEncoding(r, data) {
		return nil, r.err()
	}
	root, ok := f.parse(r, data)
	if !ok {
		return nil, r.err()
	}
	doc := &Document{path: path, data: data, root: root}
	d := decoder{reporter: r, caseless: f.caseless}
	d.target(&doc.root, into)
	return doc, r.err()
}

// Open opens a file for reading without waiting for anyone: a pipe that nobody writes to would hold the
// opening for ever, and a device has no end, so both are refused.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errIrregular
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

var errIrregular = errors.New("is no regular file; save what it gives to a file first")

func (f format) read(path string, into any) (*Document, error) {
	file, err := Open(path)
	if err == errIrregular {
		return nil, Problems{{Path: path, Rule: RuleUnreadable, Message: "is no regular file", Hint: "save what it gives to a file first"}}
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close()
	// One byte over the limit is enough for the size check to see it.
	data, err := io.ReadAll(io.LimitReader(file, int64(f.limit)+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return f.decode(path, data, into)
}

func unreadable(path string, err error) Problems {
	p := Problem{Path: path, Rule: RuleUnreadable}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	p.Message = fmt.Sprintf("cannot be read: %v", err)
	if errors.Is(err, fs.ErrNotExist) {
		p.Hint = "check the path; relative ones start at the repository root"
	}
	return Problems{p}
}
