// Package strict decodes YAML and JSON without guessing.
//
// What other decoders let through is refused here, with its place in the text: unknown and duplicate
// keys, numbers in odd spellings, NaN and infinity, yes/no booleans, anchors, aliases, merge keys and
// tags, a second document, data after the value, byte order marks and invalid UTF-8. Everything wrong is
// reported in one go, as [Problems] sorted by position.
//
// Targets are described by `json:"name"` tags. A key may be absent unless its field is tagged
// `strict:"required"`, and a field whose key is absent keeps the value it had. null means absent for a
// pointer and for a field with ",omitempty" (and is no value for a required one); elsewhere it is a
// problem. A field of type [Extra] tagged `strict:"extra"` takes the keys no other field names; without one
// they are problems. Into an any, numbers become float64 and, where that would lose digits of an
// integer, json.Number.
//
// Columns count characters (runes), from 1.
package strict
