package enginesim

import (
	"container/list"
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// prefixCache remembers which prompt prefixes have been computed, block by
// block, as a paged engine does: a block counts only after all before it, and
// the least recently used blocks go first.
type prefixCache struct {
	block int
	limit int
	seed  maphash.Seed

	mu    sync.Mutex
	known map[uint64]*list.Element
	order *list.List // of uint64, most recent first
}

func newPrefixCache(block, limit int) *prefixCache {
	return &prefixCache{block: block, limit: limit, seed: maphash.MakeSeed(),
		known: make(map[uint64]*list.Element), order: list.New()}
}

// chain names each full block of tokens together with all that precede it.
func (c *prefixCache) chain(tokens []uint32) []uint64 {
	names := make([]uint64, 0, len(tokens)/c.block)
	var h maphash.Hash
	h.SetSeed(c.seed)
	var word [4]byte
	for i, token := range tokens {
		binary.LittleEndian.PutUint32(word[:], token)
		h.Write(word[:])
		if (i+1)%c.block == 0 {
			// The hash is never reset, so it covers the whole prefix.
			names = append(names, h.Sum64())
		}
	}
	return names
}

// match gives how many of a prompt's tokens are cached. The last token is
// always computed, because its logits choose the first output token.
func (c *prefixCache) match(names []uint64, promptTokens int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(names) && (n+1)*c.block < promptTokens {
		e, ok := c.known[names[n]]
		if !ok {
			break
		}
		c.order.MoveToFront(e)
		n++
	}
	return n * c.block
}

// insert makes blocks known, as the end of a prefill does.
func (c *prefixCache) insert(names []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if e, ok := c.known[name]; ok {
			c.order.MoveToFront(e)
			continue
		}
		c.known[name] = c.order.PushFront(name)
		if c.order.Len() > c.limit {
			last := c.order.Back()
			delete(c.known, last.Value.(uint64))
			c.order.Remove(last)
		}
	}
}

// flush forgets everything and reports how many blocks there were.
func (c *prefixCache) flush() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.known)
	clear(c.known)
	c.order.Init()
	return n
}
