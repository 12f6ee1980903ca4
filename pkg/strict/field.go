package strict

// Field spells the path of a value from the keys (string) and indexes (int) that lead to it, as the
// problems of this package do and [Document.Problem] reads it: Field("entries", 2, "recipe") is
// "entries[2].recipe".
func Field(path ...any) string {
	segments := make([]segment, len(path))
	for i, p := range path {
		switch p := p.(type) {
		case int:
			segments[i] = segment{index: p}
		case string:
			segments[i] = segment{key: p, isKey: true}
		default:
			panic("strict: a path is made of strings and ints")
		}
	}
	return fieldName(segments)
}
