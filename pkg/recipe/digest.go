package recipe

import "errors"

// Digest returns "sha256:" and the hex digest of the fields of a cell that a measurement depends on.
func (c *Cell) Digest() string { return "" }

// Digest returns "sha256:" and the hex digest of the fields of the recipe that a measurement depends on.
func (r *Recipe) Digest() string { return "" }

// Resolved returns the recipe as YAML with every default filled in, for recipe.resolved.yaml.
func (r *Recipe) Resolved() ([]byte, error) { return nil, errors.New("not built yet") }
