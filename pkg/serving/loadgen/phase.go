package loadgen

// phase is a list of requests to perform.
type phase struct {
	orders   []order
	requests []Request
}

// arenaLimit bounds the memory set aside for events.
const arenaLimit = 64 << 20

// newPhase makes room for every event beforehand: one a token, and a few that carry none.
func newPhase(orders []order) *phase {
	ph := &phase{orders: orders, requests: make([]Request, len(orders))}
	const eventSize = 16
	share := arenaLimit / eventSize / max(len(orders), 1)
	room := func(o *order) int { return min(o.wantOut+4, share) }
	total := 0
	for i := range orders {
		total += room(&orders[i])
	}
	arena := touched[Event](total)
	for i := range orders {
		n := room(&orders[i])
		ph.requests[i] = Request{Index: i, ID: orders[i].id, Events: arena[:0:n], CachedTokens: -1, TokensSource: TokensUnknown,
			WantInput: orders[i].wantIn, WantOutput: orders[i].wantOut}
		arena = arena[n:]
	}
	return ph
}
