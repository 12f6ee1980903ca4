package report

import (
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
	first := map[string]int{}
	for i, c := range m.Cells {
		at := func(key string) string { return strict.Field("cells", i, key) }
		if c.Name == "" {
			refuse(at("name"), "", "a cell without a name cannot be judged")
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
