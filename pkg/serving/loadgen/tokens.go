package loadgen

// lengths settles how long prompt and output were, and how many tokens each event carried.
func (s *stream) lengths(r *Request, o *order) {
	r.InputLen, r.OutputLen, r.CachedTokens = o.wantIn, s.texts, s.usage.cached
	r.WantInput, r.WantOutput = o.wantIn, o.wantOut
	if s.usage.prompt >= 0 {
		r.InputLen = s.usage.prompt
	}
	if s.usage.output < 0 {
		r.TokensSource = TokensUnknown
		clearTokens(r.Events)
		return
	}
	r.OutputLen = s.usage.output
	switch {
	case s.perEvent == len(r.Events) && differences(r.Events, s.usage.output):
		r.TokensSource = TokensFromUsage
	case s.texts == s.usage.output:
		r.TokensSource = TokensOnePerEvent
		oneEach(r.Events, func(e Event) bool { return e.Bytes > 0 })
	case len(r.Events) == s.usage.output:
		// Tokens whose text is not printable yet come as empty text.
		r.TokensSource = TokensOnePerEvent
		oneEach(r.Events, func(Event) bool { return true })
	default:
		r.TokensSource = TokensEstimated
		s.estimate(r.Events)
	}
}

func clearTokens(events []Event) {
	for i := range events {
		events[i].Tokens = 0
	}
}

func oneEach(events []Event, carries func(Event) bool) {
	for i, e := range events {
		events[i].Tokens = 0
		if carries(e) {
			events[i].Tokens = 1
		}
	}
}

// differences turns running totals into tokens an event. Totals that fall, or miss the final one, are no totals: some
// engines send usage in every event and only the last is real.
func differences(events []Event, total int) bool {
	last := float32(0)
	for _, e := range events {
		if e.Tokens < last {
			return false
		}
		last = e.Tokens
	}
	if last != float32(total) {
		return false
	}
	last = 0
	for i, e := range events {
		events[i].Tokens, last = e.Tokens-last, e.Tokens
	}
	return true
}

// estimate spreads the output evenly over the events with text. Only the first is looked at by itself, because an
// engine that speculates or batches its output sends one token from prefill and then several at a time, and everything
// after the first event is divided by what the first did not carry: when its text is less than half or more than
// twice the average, its share is that of its text.
func (s *stream) estimate(events []Event) {
	total := float32(s.usage.output)
	if s.texts == 0 {
		for i := range events {
			events[i].Tokens = total / float32(len(events))
		}
		return
	}
	even := total / float32(s.texts)
	first, rest := even, even
	if share := s.firstShare(events); s.texts > 1 && (share < 0.5 || share > 2) {
		first = min(max(1, share*even), total)
		rest = (total - first) / float32(s.texts-1)
	}
	next := first
	for i, e := range events {
		events[i].Tokens = 0
		if e.Bytes > 0 {
			events[i].Tokens, next = next, rest
		}
	}
}

// firstShare is the text of the first event with text over the average of them.
func (s *stream) firstShare(events []Event) float32 {
	for _, e := range events {
		if e.Bytes > 0 {
			return float32(e.Bytes) * float32(s.texts) / float32(s.textBytes)
		}
	}
	return 1
}
