// Package strict reads the YAML and JSON that people and other tools write, and
// refuses what it would otherwise have to guess about: unknown keys, duplicate
// keys, odd spellings of numbers and booleans, NaN and infinities, second
// documents, trailing data. Every refusal is a [Problem] with file, line, column
// and field, and all of a file's problems are reported in one go.
package strict
