package strict_test

import (
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

func TestField(t *testing.T) {
	doc, err := strict.YAML("f.yaml", []byte("entries:\n  - {serve::a: {m: 1}}\n"), new(any))
	if err != nil {
		t.Fatal(err)
	}
	field := strict.Field("entries", 0, "serve::a", "m")
	if want := `entries[0]["serve::a"].m`; field != want {
		t.Errorf("got %s, want %s", field, want)
	}
	if !doc.Has(field) {
		t.Errorf("%s: not found in its own document", field)
	}
}
