package strict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// night is a result of about size bytes: cells with samples.
func night(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"cells":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"cell-%d","passed":true,"samples":[`, i)
		for j := range 200 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%d.%04d", j, (i*j)%10000)
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	return b.Bytes()
}

type nightly struct {
	Cells []struct {
		Name    string    `json:"name"`
		Passed  bool      `json:"passed"`
		Samples []float64 `json:"samples"`
	} `json:"cells"`
}

func BenchmarkJSON(b *testing.B) {
	data := night(8 << 20)
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var into nightly
			if _, err := strict.JSON("f", data, &into); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var into nightly
			if err := json.Unmarshal(data, &into); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The tree of a text is held to a small multiple of the text, however it is made up.
func TestJSONMemoryFactor(t *testing.T) {
	for name, data := range map[string][]byte{
		"night":  night(1 << 20),
		"digits": append(bytes.Repeat([]byte("[1,2],"), 1<<17), "0"...),
	} {
		data = append(append([]byte("["), data...), ']')
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		doc, err := strict.JSON("f", data, new(ignored))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		factor := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(data))
		runtime.KeepAlive(doc)
		if factor > 40 {
			t.Errorf("%s: the tree takes %.1f times the text, want at most 40", name, factor)
		}
	}
}

type ignored struct{}

func (*ignored) UnmarshalStrict(strict.Value) {}
