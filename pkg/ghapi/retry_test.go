package ghapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
)

const (
	listRunners = "GET /repos/{owner}/{repo}/actions/runners"
	getRepo     = "GET /repos/{owner}/{repo}"
	listIssues  = "GET /repos/{owner}/{repo}/issues"
	newIssue    = "POST /repos/{owner}/{repo}/issues"
)

// askOnce makes one plain GET through the client.
func askOnce(ctx context.Context, c *ghapi.Client) error {
	_, _, err := c.REST().Repositories.Get(ctx, repo.Owner, repo.Name)
	return err
}

// TestRefusals holds every kind of refusal to how long it is waited for, never shorter than it says.
func TestRefusals(t *testing.T) {
	now := newStillClock().now
	at := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	secondary := `{"message":"You have exceeded a secondary rate limit. Please wait.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
	tests := []struct {
		name     string
		answer   ghapitest.Answer
		min, max time.Duration // of the one wait before the second, good answer; 0 means no second try
	}{
		{"403 with Retry-After", ghapitest.Answer{Status: 403, Header: map[string]string{"Retry-After": "30", "X-RateLimit-Remaining": "4000"}, Raw: `{"message":"no"}`}, 30 * time.Second, 34 * time.Second},
		{"403 with a date", ghapitest.Answer{Status: 403, Header: map[string]string{"Retry-After": now.Add(45 * time.Second).Format(http.TimeFormat)}, Raw: `{}`}, 45 * time.Second, 50 * time.Second},
		{"hour used up, reset soon", ghapitest.Answer{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": at(100 * time.Second)}, Raw: `{"message":"API rate limit exceeded"}`}, 100 * time.Second, 112 * time.Second},
		{"hour used up, reset in 20 minutes", ghapitest.Answer{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": at(20 * time.Minute)}, Raw: `{}`}, 0, 0},
		{"hour used up, reset just past", ghapitest.Answer{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": at(-time.Second)}, Raw: `{}`}, 0, 2 * time.Second},
		{"secondary limit by its words", ghapitest.Answer{Status: 403, Raw: `{"message":"You have exceeded a secondary rate limit"}`}, 60 * time.Second, 67 * time.Second},
		{"secondary limit by its page", ghapitest.Answer{Status: 403, Raw: secondary}, 60 * time.Second, 67 * time.Second},
		{"secondary limit by its old page", ghapitest.Answer{Status: 403, Raw: `{"message":"x","documentation_url":"https://developer.github.com/v3/#abuse-rate-limits"}`}, 60 * time.Second, 67 * time.Second},
		{"429 with a date", ghapitest.Answer{Status: 429, Header: map[string]string{"Retry-After": now.Add(20 * time.Second).Format(http.TimeFormat)}}, 20 * time.Second, 23 * time.Second},
		{"429 without a word", ghapitest.Answer{Status: 429}, 60 * time.Second, 67 * time.Second},
		{"429, hour used up", ghapitest.Answer{Status: 429, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": at(50 * time.Second)}}, 50 * time.Second, 57 * time.Second},
		{"502 with a page", ghapitest.Answer{Status: 502, Raw: "<html>Bad Gateway</html>"}, time.Second, 2 * time.Second},
		{"503 with Retry-After", ghapitest.Answer{Status: 503, Header: map[string]string{"Retry-After": "7"}, Raw: "x"}, 7 * time.Second, 9 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, client, clock := fake(t)
			server.Handle(getRepo, func(r ghapitest.Request) ghapitest.Answer {
				if r.Try == 1 {
					return tt.answer
				}
				return ghapitest.Answer{Body: map[string]any{"full_name": "own/rep"}}
			})
			err := askOnce(t.Context(), client)
			if tt.max == 0 {
				var limit *ghapi.LimitError
				if !errors.As(err, &limit) {
					t.Fatalf("got %v, want a LimitError", err)
				}
				if limit.Until.Before(now.Add(20 * time.Minute)) {
					t.Errorf("got until %s, before the reset", limit.Until)
				}
				if got := server.Count(getRepo); got != 1 {
					t.Errorf("got %d requests, want 1", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(clock.sleeps) != 1 || clock.sleeps[0] < tt.min || clock.sleeps[0] > tt.max {
				t.Errorf("got waits %v, want one of %s to %s", clock.sleeps, tt.min, tt.max)
			}
		})
	}
}

func TestRefusalForGood(t *testing.T) {
	server, client, clock := fake(t)
	server.Handle(listRunners, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "4000", "X-Accepted-GitHub-Permissions": "administration=read"}, Raw: `{"message":"Resource not accessible by integration"}`}
	})
	fleet, err := client.Fleet(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	if len(fleet.Unseen) != 1 || !strings.Contains(fleet.Unseen[0], "administration=read") || !strings.Contains(fleet.Unseen[0], "not accessible by integration") {
		t.Errorf("got %q, want the missing permission and GitHub's sentence", fleet.Unseen)
	}
	if server.Count(listRunners) != 1 || len(clock.sleeps) != 0 {
		t.Errorf("got %d requests and waits %v, want one and none", server.Count(listRunners), clock.sleeps)
	}
}

func TestSecondaryLimitGrows(t *testing.T) {
	server, _, clock := fake(t)
	o := options(server, clock)
	o.Budget = time.Hour
	client, err := ghapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server.Handle(getRepo, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 403, Raw: `{"message":"secondary rate limit"}`}
	})
	if err := askOnce(t.Context(), client); !ghapi.IsLimit(err) {
		t.Errorf("got %v, want a limit", err)
	}
	if len(clock.sleeps) < 3 {
		t.Fatalf("got waits %v, want several", clock.sleeps)
	}
	for i := 1; i < len(clock.sleeps); i++ {
		if clock.sleeps[i] < clock.sleeps[i-1]*3/2 {
			t.Errorf("got waits %v, want them to grow", clock.sleeps)
		}
	}
}

// TestLastRequestOfTheHour: an answer that used up the hour is good, and the next request waits.
func TestLastRequestOfTheHour(t *testing.T) {
	server, client, clock := fake(t)
	reset := clock.now.Add(90 * time.Second)
	server.Handle(getRepo, func(r ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Body: map[string]any{"full_name": "own/rep"}, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(reset.Unix())}}
	})
	for range 2 {
		if err := askOnce(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	if len(clock.sleeps) != 1 || clock.now.Before(reset) {
		t.Errorf("got waits %v, want one until the reset", clock.sleeps)
	}
}

func TestNeverTwice(t *testing.T) {
	for _, status := range []int{403, 429, 502} {
		server, client, _ := fake(t)
		server.Handle(newIssue, func(ghapitest.Request) ghapitest.Answer {
			return ghapitest.Answer{Status: status, Header: map[string]string{"Retry-After": "1"}, Raw: "{}"}
		})
		_, _, err := client.REST().Issues.Create(t.Context(), repo.Owner, repo.Name, issue())
		if err == nil || server.Count(newIssue) != 1 {
			t.Errorf("POST answered %d: got %d requests and %v, want one and an error", status, server.Count(newIssue), err)
		}
		if ghapi.IsLimit(err) != (status != 502) {
			t.Errorf("POST answered %d: got %v", status, err)
		}
	}
}

func TestFailuresEnd(t *testing.T) {
	server, client, clock := fake(t)
	server.Handle(getRepo, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 502, Raw: "<html>"}
	})
	if err := askOnce(t.Context(), client); err == nil {
		t.Error("got no error")
	}
	if got := server.Count(getRepo); got != 5 || len(clock.sleeps) != 4 {
		t.Errorf("got %d requests and waits %v, want 5 and 4", got, clock.sleeps)
	}
}

func TestDeadline(t *testing.T) {
	server, client, clock := fake(t)
	server.Handle(getRepo, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 429, Header: map[string]string{"Retry-After": "30"}}
	})
	// The deadline is by the client's clock, which the context's own timer knows nothing of.
	ctx, cancel := context.WithDeadline(t.Context(), clock.now.Add(10*time.Second))
	defer cancel()
	if err := askOnce(ctx, client); !ghapi.IsLimit(err) || len(clock.sleeps) != 0 {
		t.Errorf("got %v after waits %v, want a limit at once", err, clock.sleeps)
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	server := ghapitest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.Handle(getRepo, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 429, Header: map[string]string{"Retry-After": "60"}}
	})
	client, err := ghapi.New(ghapi.Options{APIURL: server.URL, Note: func(string) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if err := askOnce(ctx, client); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}

// TestGraphQLLimit: a limit may come as a 200.
func TestGraphQLLimit(t *testing.T) {
	limited := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"errors":[{"type":"RATE_LIMITED","message":"x"}]}`))
	}))
	defer limited.Close()
	client, err := ghapi.New(ghapi.Options{APIURL: limited.URL})
	if err != nil {
		t.Fatal(err)
	}
	req, err := client.REST().NewRequest(http.MethodPost, "graphql", map[string]string{"query": "{viewer{login}}"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.REST().Do(t.Context(), req, nil); !ghapi.IsLimit(err) {
		t.Errorf("got %v, want a limit", err)
	}
}

// TestClockSkew: times to wait until are by GitHub's clock, which the answer tells.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{-3 * time.Minute, 3 * time.Minute} {
		server, client, clock := fake(t)
		server.Now = func() time.Time { return clock.Now().Add(skew) }
		server.Handle(getRepo, func(r ghapitest.Request) ghapitest.Answer {
			if r.Try == 1 {
				return ghapitest.Answer{Status: 429, Header: map[string]string{"Retry-After": server.Now().Add(30 * time.Second).Format(http.TimeFormat)}}
			}
			return ghapitest.Answer{Body: map[string]any{"full_name": "own/rep"}}
		})
		if err := askOnce(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if len(clock.sleeps) != 1 || clock.sleeps[0] < 30*time.Second || clock.sleeps[0] > 34*time.Second {
			t.Errorf("skew %s: got waits %v, want one of 30 s", skew, clock.sleeps)
		}
	}
}

// TestBodyIsSentAgain: what may be repeated is repeated whole.
func TestBodyIsSentAgain(t *testing.T) {
	var bodies []string
	flaky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(text)); len(bodies) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer flaky.Close()
	clock := newStillClock()
	client, err := ghapi.New(ghapi.Options{APIURL: flaky.URL, Clock: ghapi.Clock{Now: clock.Now, Sleep: clock.Sleep}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := client.REST().NewRequest(http.MethodPut, "x", map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.REST().Do(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 2 || bodies[0] != bodies[1] || bodies[0] == "" {
		t.Errorf("got bodies %q, want one twice", bodies)
	}
}

func TestProblem(t *testing.T) {
	for _, tt := range []struct {
		err  error
		rule string
	}{
		{errors.New("dial"), ghapi.RuleUnreachable},
		{fmt.Errorf("x: %w", &ghapi.LimitError{Kind: "rate limit"}), ghapi.RuleLimit},
		{fmt.Errorf("x: %w", &ghapi.AccessError{Doing: "x", Status: 403}), ghapi.RuleRefused},
		{fmt.Errorf("x: %w", ghapi.ErrExpired), ghapi.RuleExpired},
		{fmt.Errorf("x: %w", ghapi.ErrIncomplete), ghapi.RuleIncomplete},
	} {
		if p := ghapi.Problem(tt.err); p.Rule != tt.rule || p.Hint == "" || p.Message != tt.err.Error() {
			t.Errorf("%v: got %+v, want rule %s", tt.err, p, tt.rule)
		}
	}
}

func TestNoConnection(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	clock := newStillClock()
	client, err := ghapi.New(ghapi.Options{APIURL: gone.URL, Clock: ghapi.Clock{Now: clock.Now, Sleep: clock.Sleep}})
	if err != nil {
		t.Fatal(err)
	}
	if err := askOnce(t.Context(), client); err == nil || len(clock.sleeps) != 2 {
		t.Errorf("got %v after waits %v, want an error after two", err, clock.sleeps)
	}
}
