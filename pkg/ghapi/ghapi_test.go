package ghapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
	"golang.org/x/oauth2"
)

const token = "ghs_thesecrettoken"

var repo = ghapi.Repo{Owner: "own", Name: "rep"}

// stillClock stands still but for Sleep, which moves it on and keeps count.
type stillClock struct {
	mu     sync.Mutex
	now    time.Time
	sleeps []time.Duration
}

func newStillClock() *stillClock {
	return &stillClock{now: time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)}
}

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.sleeps = append(c.sleeps, d)
	return ctx.Err()
}

// fake is a GitHub, a client of it, and the clock both go by.
func fake(t *testing.T) (*ghapitest.Server, *ghapi.Client, *stillClock) {
	t.Helper()
	server, clock := ghapitest.New(t), newStillClock()
	server.Now = clock.Now
	client, err := ghapi.New(options(server, clock))
	if err != nil {
		t.Fatal(err)
	}
	return server, client, clock
}

func options(server *ghapitest.Server, clock *stillClock) ghapi.Options {
	return ghapi.Options{
		APIURL: server.URL,
		Token:  oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}),
		Clock:  ghapi.Clock{Now: clock.Now, Sleep: clock.Sleep},
	}
}

func TestBaseURLs(t *testing.T) {
	tests := []struct {
		api, server         string
		wantAPI, wantServer string
	}{
		{"", "", "https://api.github.com/", "https://github.com"},
		{"https://api.github.com", "", "https://api.github.com/", "https://github.com"},
		{"https://ghe.example/api/v3", "https://ghe.example", "https://ghe.example/api/v3/", "https://ghe.example"},
		{"https://ghe.example/api/v3/", "", "https://ghe.example/api/v3/", "https://ghe.example"},
		{"https://ghe.example:8443/api/v3//", "https://ghe.example:8443/", "https://ghe.example:8443/api/v3/", "https://ghe.example:8443"},
		{"https://api.tenant.ghe.com", "", "https://api.tenant.ghe.com/", "https://tenant.ghe.com"},
		{"", "https://tenant.ghe.com", "https://api.tenant.ghe.com/", "https://tenant.ghe.com"},
		{"", "https://ghe.example:8443", "https://ghe.example:8443/api/v3/", "https://ghe.example:8443"},
		{"https://api.tenant.example.com", "", "https://api.tenant.example.com/", "https://tenant.example.com"},
	}
	for _, tt := range tests {
		env := map[string]string{"GITHUB_API_URL": tt.api, "GITHUB_SERVER_URL": tt.server}
		c, err := ghapi.New(ghapi.FromEnvironment(func(name string) string { return env[name] }))
		if err != nil {
			t.Errorf("%q, %q: %v", tt.api, tt.server, err)
			continue
		}
		if got := c.REST().BaseURL.String(); got != tt.wantAPI {
			t.Errorf("%q, %q: got API %s, want %s", tt.api, tt.server, got, tt.wantAPI)
		}
		if got := c.Server(); got != tt.wantServer {
			t.Errorf("%q, %q: got server %s, want %s", tt.api, tt.server, got, tt.wantServer)
		}
	}
	for _, bad := range []string{"ghe.example", "ftp://ghe.example", "https://", "https://u:" + token + "@ghe.example", "https://ghe.example/?q=1", "https://ghe\x00.example"} {
		_, err := ghapi.New(ghapi.Options{APIURL: bad})
		if err == nil {
			t.Errorf("%q: got no error", bad)
		} else if strings.Contains(err.Error(), token) {
			t.Errorf("%q: the error shows the password: %v", bad, err)
		}
	}
}

func TestTokenFrom(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"GH_TOKEN": "b"}, "b"},
		{map[string]string{"GITHUB_TOKEN": " a\n", "GH_TOKEN": "b"}, "a"},
	}
	for _, tt := range tests {
		if got := ghapi.TokenFrom(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.env, got, tt.want)
		}
	}
}
