package recipe

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The package comment is the reference of the keys.
func TestDocumentationNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[file[config]](), reflect.TypeFor[config]()} {
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !regexp.MustCompile(`(?m)^//.*\b` + key + `\b`).Match(text) {
				t.Errorf("doc.go does not name the key %s", key)
			}
		}
	}
}
