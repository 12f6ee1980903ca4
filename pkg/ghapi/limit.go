package ghapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"

	// secondaryWait is what GitHub asks for when a secondary limit comes without a time: a minute, and
	// longer each time.
	secondaryWait = time.Minute

	// peekLimit bounds how much of a refusal is read to tell its kind.
	peekLimit = 64 << 10
)

// kind is what an answer means to the retrier.
type kind int

const (
	final            kind = iota // an answer to hand on
	primaryLimit                 // the requests of this hour are used up
	secondaryLimit               // too many at once
	brokenServer                 // 5xx
	brokenConnection             // no answer
)

func (k kind) limit() bool { return k == primaryLimit || k == secondaryLimit }

func (k kind) String() string {
	switch k {
	case primaryLimit:
		return "rate limit"
	case secondaryLimit:
		return "secondary rate limit"
	}
	return "failure"
}

// verdict is a kind and the shortest wait GitHub asks for.
type verdict struct {
	kind  kind
	wait  time.Duration
	code  int
	cause error
}

func (v verdict) String() string {
	switch {
	case v.kind == brokenServer:
		return "GitHub answered " + strconv.Itoa(v.code)
	case v.kind == brokenConnection:
		return "no answer from GitHub"
	}
	return "GitHub's " + v.kind.String() + " is reached"
}

// judge tells what an answer is. A 403 is one of four things: a limit with a time to wait, the hour's
// requests used up, a secondary limit without a time, or a refusal, which waiting does not cure.
func judge(resp *http.Response, now time.Time, try int) verdict {
	now = serverTime(resp.Header, now)
	switch code := resp.StatusCode; {
	case code == http.StatusForbidden || code == http.StatusTooManyRequests:
		if wait, ok := retryAfter(resp.Header, now); ok {
			return verdict{kind: secondaryLimit, wait: wait}
		}
		if resp.Header.Get(headerRemaining) == "0" {
			if wait, ok := untilReset(resp.Header, now); ok {
				return verdict{kind: primaryLimit, wait: wait}
			}
		}
		if code == http.StatusTooManyRequests || saysLimit(peek(resp)) {
			return verdict{kind: secondaryLimit, wait: secondaryWait << (try - 1)}
		}
	case code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout || code == http.StatusInternalServerError:
		wait, _ := retryAfter(resp.Header, now)
		return verdict{kind: brokenServer, wait: wait, code: code}
	case code == http.StatusOK && strings.HasSuffix(resp.Request.URL.Path, "/graphql") && graphqlLimited(peek(resp)):
		if wait, ok := untilReset(resp.Header, now); ok {
			return verdict{kind: primaryLimit, wait: wait}
		}
		return verdict{kind: secondaryLimit, wait: secondaryWait << (try - 1)}
	}
	return verdict{kind: final}
}

// serverTime is GitHub's own clock where the answer tells it: times to wait until are by that clock.
func serverTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// retryAfter reads the header in both of its forms, seconds and a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}

// untilReset is the time until the hour's requests are fresh again. The header counts whole seconds, so
// one is added.
func untilReset(h http.Header, now time.Time) (time.Duration, bool) {
	seconds, err := strconv.ParseInt(h.Get(headerReset), 10, 64)
	if err != nil || seconds <= 0 {
		return 0, false
	}
	return max(0, time.Unix(seconds, 0).Sub(now)) + time.Second, true
}

// peek reads the beginning of an answer's body and puts it back.
func peek(resp *http.Response) []byte {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, peekLimit))
	resp.Body = readCloser{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	return head
}

type readCloser struct {
	io.Reader
	io.Closer
}

// saysLimit reports whether the text of a refusal speaks of a limit. GitHub marks a secondary limit by its
// message or by the page it points to, old or new.
func saysLimit(body []byte) bool {
	var refusal struct {
		Message string `json:"message"`
		Page    string `json:"documentation_url"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return false
	}
	message := strings.ToLower(refusal.Message)
	return strings.Contains(message, "rate limit") || strings.Contains(message, "abuse detection") ||
		strings.HasSuffix(refusal.Page, "#abuse-rate-limits") || strings.Contains(refusal.Page, "secondary-rate-limits")
}

func graphqlLimited(body []byte) bool {
	var answer struct {
		Errors []struct {
			Type string `json:"type"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return false
	}
	for _, e := range answer.Errors {
		if e.Type == "RATE_LIMITED" || e.Type == "RATE_LIMIT" {
			return true
		}
	}
	return false
}
