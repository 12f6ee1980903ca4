package loadgen

import (
	"math"
	"math/rand/v2"
	"strings"
)

// series separates the prompts of one seed and step by what they are for, so that none warms the cache for another.
type series uint64

const (
	measured series = iota
	warmup
	discarded
	discardedWarmup
	canary
	seriesCount
)

// prompter makes prompts of which no two share a beginning: the number of the request, counted over steps and series,
// is spelled by the first tokens, least significant digit first, and the seed by the next. Caches of prefixes therefore
// miss within a step, between steps, after warm-ups and, unless the engine lives through several seeds, always; the
// first token alone differs until the vocabulary is used up.
type prompter struct {
	seed uint64
	low  uint64 // first usable id
	size uint64 // number of usable ids
}

// newPrompter keeps clear of the ends of the vocabulary, where special tokens are.
func newPrompter(seed int64, vocab int) prompter {
	v := uint64(vocab)
	low, high := min(1000, v/10), v-min(2048, v/10)
	return prompter{seed: uint64(seed), low: low, size: high - low}
}

// number counts requests over series and steps. A step has room for maxPrompts.
func number(s series, step, request int) uint64 {
	return (uint64(step)*uint64(seriesCount)+uint64(s))*maxPrompts + uint64(request)
}

// ids fills the prompt of a request.
func (g prompter) ids(dst []int32, request uint64) []int32 {
	shift := rand.NewPCG(g.seed, 0)
	rest := rand.New(rand.NewPCG(g.seed, request+1))
	number, seed := request, g.seed
	numberEnd := g.width(48)
	seedEnd := numberEnd + g.width(64)
	for i := range dst {
		var d uint64
		switch {
		case i < numberEnd:
			d = g.digit(&number, shift.Uint64())
		case i < seedEnd:
			d = g.digit(&seed, shift.Uint64())
		default:
			d = rest.Uint64N(g.size)
		}
		dst[i] = int32(g.low + d)
	}
	return dst
}

// width is the number of digits that hold any number of so many bits.
func (g prompter) width(bits int) int {
	return int(math.Ceil(float64(bits) / math.Log2(float64(g.size))))
}

// digit takes the lowest digit off *n and turns it by shift, which spreads seeds apart.
func (g prompter) digit(n *uint64, shift uint64) uint64 {
	d := *n % g.size
	*n /= g.size
	return (d + shift%g.size) % g.size
}

// text makes a prompt of n words, the first of which spell the request. Every word is one token in the usual
// vocabularies; what it comes to is audited by usage.
func (g prompter) text(request uint64, n int) string {
	words := prompter{seed: g.seed, size: uint64(len(commonWords))}
	var b strings.Builder
	for i, id := range words.ids(make([]int32, max(n, 1)), request) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(commonWords[id])
	}
	return b.String()
}

// commonWords are short frequent words.
var commonWords = strings.Fields(`
	the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not
	what all were we when your can said there use an each which she do how their if will up other about out many then
	them these so some her would make like him into time has look two more write go see number no way could people my
	than first water been call who oil its now find long down day did get come made may part over new sound take only
	little work know place year live me back give most very after thing our just name good sentence man think say great
	where help through much before line right too mean old any same tell boy follow came want show also around form three
	small set put end does another well large must big even such because turn here why ask went men read need land
	different home us move try kind hand picture again change off play spell air away animal house point page letter
	mother answer found study still learn should world high every near add food between own below country plant last
	school father keep tree never start city earth eye light thought head under story saw left few while along might`)
