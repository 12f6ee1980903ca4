package loadgen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Prompts of any two (seed, series, step, request) differ within the first block that a prefix cache keeps.
func TestPromptsAreDisjoint(t *testing.T) {
	const block = 16
	for _, vocab := range []int{100, 32000, 151936} {
		seen := map[string]string{}
		for _, seed := range []int64{0, 1, 2, -1, math.MaxInt64} {
			g := newPrompter(seed, vocab)
			for s := range seriesCount {
				for _, step := range []int{0, 1, 2, 11, 999} {
					for _, request := range []int{0, 1, 2, 10, 255, 1023} {
						ids := g.ids(make([]int32, 64), number(s, step, request))
						for _, id := range ids {
							if id < 0 || int(id) >= vocab {
								t.Fatalf("vocab %d: id %d", vocab, id)
							}
						}
						key, who := fmt.Sprint(ids[:block]), fmt.Sprint(seed, s, step, request)
						if other, dup := seen[key]; dup {
							t.Errorf("vocab %d: %s and %s begin alike", vocab, who, other)
						}
						seen[key] = who
					}
				}
			}
		}
	}
}

// Within a step even the first token differs, as long as the vocabulary lasts.
func TestPromptsDifferInTheFirstToken(t *testing.T) {
	g := newPrompter(0, 32000)
	first := map[int32]bool{}
	for i := range 4096 {
		first[g.ids(make([]int32, 1), number(measured, 3, i))[0]] = true
	}
	if len(first) != 4096 {
		t.Errorf("got %d first tokens for 4096 prompts", len(first))
	}
}

func TestPromptsAreReproducible(t *testing.T) {
	a := newPrompter(7, 32000).ids(make([]int32, 100), 5)
	b := newPrompter(7, 32000).ids(make([]int32, 100), 5)
	if !slices.Equal(a, b) {
		t.Error("the same request has two prompts")
	}
	if text := newPrompter(7, 32000).text(5, 40); len(strings.Fields(text)) != 40 || text != newPrompter(7, 32000).text(5, 40) {
		t.Errorf("text: %q", text)
	}
}

func FuzzPromptDigits(f *testing.F) {
	f.Add(int64(0), uint64(1), uint64(2), uint32(32000))
	f.Fuzz(func(t *testing.T, seed int64, a, b uint64, vocab uint32) {
		a, b = a%(1<<48), b%(1<<48)
		g := newPrompter(seed, int(vocab%200000)+100)
		n := g.width(48)
		if same := slices.Equal(g.ids(make([]int32, n), a), g.ids(make([]int32, n), b)); same != (a == b) {
			t.Fatalf("requests %d and %d: same prefix %v", a, b, same)
		}
	})
}
