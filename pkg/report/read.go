package report

import (
	"strings"
	"unicode"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Read reads the matrix.json at path. The error is [strict.Problems].
func Read(path string) (*Matrix, error) {
	m := new(Matrix)
	doc, err := strict.ReadJSON(path, m)
	if err != nil {
		return nil, err
	}
	return m.check(doc)
}

// Parse reads the text of a matrix.json; path is only named in problems.
func Parse(path string, text []byte) (*Matrix, error) {
	m := new(Matrix)
	doc, err := strict.JSON(path, text, m)
	if err != nil {
		return nil, err
	}
	return m.check(doc)
}

// What a harvest may hold at most. Its texts go into results, summaries and logs, where one of the
// file's own size would be there five times over.
const (
	maxCells = 10_000
	maxName  = 200      // bytes
	maxText  = 16 << 10 // bytes
)

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// clip cuts the cell's texts to maxText; the whole is in the file.
func (c *Cell) clip() {
	cut := func(text *string) {
		if text != nil && len(*text) > maxText {
			*text = strings.ToValidUTF8((*text)[:maxText], "") + "…"
		}
	}
	cut(c.Error)
	for i := range c.NoVerdict {
		cut(&c.NoVerdict[i])
	}
	for i := range c.Failures {
		cut(&c.Failures[i].Class)
		cut(&c.Failures[i].Detail)
	}
	for i := range c.Tags {
		cut(&c.Tags[i].Name)
		cut(&c.Tags[i].Why)
	}
}

// check refuses what would make a cell's verdict depend on which half of the file is believed.
func (m *Matrix) check(doc *strict.Document) (*Matrix, error) {
	var problems strict.Problems
	refuse := func(field, hint, format string, args ...any) {
		p := doc.Problem(field, format, args...)
		p.Hint, p.Rule = hint, "matrix-json"
		problems = append(problems, p)
	}
	if doc.Has("schema_version") && m.SchemaVersion != SchemaVersion {
		refuse("schema_version", "", "version %d is not known; this tool reads version %d", m.SchemaVersion, SchemaVersion)
	}
	if len(m.Cells) > maxCells {
		refuse("cells", "split the recipe", "lists %d cells, more than the limit of %d", len(m.Cells), maxCells)
		return nil, problems.Err()
	}
	first := map[string]int{}
	for i := range m.Cells {
		c := &m.Cells[i]
		c.clip()
		at := func(key string) string { return strict.Field("cells", i, key) }
		switch {
		case c.Name == "":
			refuse(at("name"), "", "a cell without a name cannot be judged")
		case len(c.Name) > maxName || strings.ContainsFunc(c.Name, unprintable):
			refuse(at("name"), "use letters, digits, _ . and -", "is no name of a cell: more than %d bytes, or not printable", maxName)
		}
		if j, twice := first[c.Name]; twice {
			refuse(at("name"), "", "cell %q is there twice, first as cells[%d]", c.Name, j)
		} else {
			first[c.Name] = i
		}
		for key, n := range map[string]*int{
			"trials": c.Trials, "passed_count": c.PassedCount, "failed_count": c.FailedCount, "error_count": c.ErrorCount,
		} {
			if n != nil && *n < 0 {
				refuse(at(key), "", "a count cannot be negative")
			}
		}
	}
	if err := problems.Sort().Err(); err != nil {
		return nil, err
	}
	return m, nil
}
