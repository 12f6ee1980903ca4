package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Load reads the recipe at path, YAML, or JSON where the name ends in .json. The error is of type
// [strict.Problems] and holds everything that is wrong.
func Load(path string) (*Recipe, error) {
	var h head
	read := strict.ReadYAML
	if isJSON(path) {
		read = strict.ReadJSON
	}
	doc, err := read(path, &h)
	if doc == nil {
		return nil, err
	}
	return load(doc, h)
}

// Parse is [Load] for data that is already there; path is only named in problems.
func Parse(path string, data []byte) (*Recipe, error) {
	var h head
	doc, err := decode(path, data, &h)
	if doc == nil {
		return nil, err
	}
	return load(doc, h)
}

func isJSON(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

func decode(path string, data []byte, into any) (*strict.Document, error) {
	if isJSON(path) {
		return strict.JSON(path, data, into)
	}
	return strict.YAML(path, data, into)
}

// load reads the file a second time, now that its workload is known. What was wrong in the first
// reading is wrong, and better explained, in the second.
func load(doc *strict.Document, h head) (*Recipe, error) {
	if h.Mode == "probe" {
		p := doc.Problem("mode", "probe recipes are refused: their cells carry a verdict of their own and no metrics to gate")
		p.Hint, p.Rule = "run it with the tool it was written for, and list triage recipes here", ruleRefused
		return nil, strict.Problems{p}
	}
	if h.Workload == Serving {
		return read(doc, h, (*checker).serving)
	}
	return read(doc, h, func(*checker, *file[free]) {})
}

func read[C any](doc *strict.Document, h head, finish func(c *checker, f *file[C])) (*Recipe, error) {
	var f file[C]
	_, err := decode(doc.Path(), doc.Bytes(), &f)
	var problems strict.Problems
	errors.As(err, &problems)

	sum := sha256.Sum256(doc.Bytes())
	c := &checker{
		recipe: &Recipe{Path: doc.Path(), SHA256: hex.EncodeToString(sum[:]), doc: doc},
		known:  map[string]bool{},
	}
	for _, p := range problems {
		c.explained(p)
	}
	checkFile(c, &f, h)
	finish(c, &f)
	if problems = append(problems, c.problems...); len(problems) > 0 {
		return nil, problems.Sort()
	}
	return c.recipe, nil
}

// A checker turns a file into a recipe and collects what is wrong with it.
type checker struct {
	recipe   *Recipe
	problems strict.Problems
	known    map[string]bool // fields with a problem: nothing more is said about them
	warned   map[string]bool
}

// explained notes what a problem of the decoder is about.
func (c *checker) explained(p strict.Problem) {
	c.known[p.Field] = true
	if p.Rule != strict.RuleMissingKey {
		return
	}
	for _, key := range []string{"schema_version", "workload", "trials", "steps", "cells", "name", "mitigations"} {
		if field := sub(p.Field, key); !c.recipe.doc.Has(field) {
			c.known[field] = true
		}
	}
}

// refuse reports a problem of a field, unless the field, or a part of it, has one already.
func (c *checker) refuse(field, rule, hint, format string, args ...any) {
	for known := range c.known {
		if rest, below := strings.CutPrefix(known, field); below && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return
		}
	}
	p := c.recipe.doc.Problem(field, format, args...)
	p.Rule, p.Hint = rule, hint
	c.problems = append(c.problems, p)
}

// warn adds a sentence to the warnings, once.
func (c *checker) warn(field, format string, args ...any) {
	p := c.recipe.doc.Problem(field, format, args...)
	sentence := fmt.Sprintf("%d:%d: %s: %s", p.Line, p.Col, p.Field, p.Message)
	if c.warned[sentence] {
		return
	}
	if c.warned == nil {
		c.warned = map[string]bool{}
	}
	c.warned[sentence] = true
	c.recipe.Warnings = append(c.recipe.Warnings, sentence)
}
