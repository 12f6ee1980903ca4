// Package ghapi talks to GitHub's REST API, on github.com, on a tenant host and on a GitHub Enterprise
// Server.
//
// It wraps go-github with what that library leaves to its user: one retrying transport that waits as long
// as GitHub asks and no shorter, a token that goes to the API host and nowhere else, errors that name the
// permission that is missing, and a few calls the library does not know (artifact digests, the run that a
// dispatch started). The calls come back with plain values of this package; for the rest of the API
// there is [Client.REST], which goes through the same transport.
package ghapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"golang.org/x/oauth2"
)

// perPage is the largest page GitHub gives.
const perPage = 100

// Options say where the API is and how patient to be.
type Options struct {
	// APIURL is the base of the REST API, with or without a final slash. Empty means that of ServerURL.
	APIURL string

	// ServerURL is the base of the web pages and remotes. Empty means the one that belongs to APIURL, and
	// https://github.com where both are empty.
	ServerURL string

	// Repository is "owner/name" where the surroundings name one, else empty.
	Repository string

	// Token authenticates the requests to the API host. nil asks without one.
	Token oauth2.TokenSource

	// Budget is the longest time one request may wait for limits and retries. 0 means 3 minutes.
	Budget time.Duration

	// Stall is the longest silence of a server that is waited out, before an answer and within it. 0 means one
	// minute.
	Stall time.Duration

	// Transport sends the requests. nil means a clone of [http.DefaultTransport].
	Transport http.RoundTripper

	// Clock is the time to wait by. The zero value is the real one.
	Clock Clock

	// Note is told, in a sentence for people, what is waited for. nil keeps quiet.
	Note func(text string)
}

// FromEnvironment reads the variables that jobs and GitHub's own tools know: GITHUB_API_URL,
// GITHUB_SERVER_URL, GITHUB_REPOSITORY, and the token in GITHUB_TOKEN or GH_TOKEN.
func FromEnvironment(getenv func(string) string) Options {
	o := Options{
		APIURL:     getenv("GITHUB_API_URL"),
		ServerURL:  getenv("GITHUB_SERVER_URL"),
		Repository: getenv("GITHUB_REPOSITORY"),
	}
	if token := TokenFrom(getenv); token != "" {
		o.Token = oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
	}
	return o
}

// TokenFrom is the token that [FromEnvironment] would use, for the caller to mask, or "".
func TokenFrom(getenv func(string) string) string {
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN"} {
		if token := strings.TrimSpace(getenv(name)); token != "" {
			return token
		}
	}
	return ""
}

// Client makes the calls. It is safe for concurrent use.
type Client struct {
	rest   *github.Client
	server *url.URL
	clock  Clock
	// direct follows no redirect, plain sends no token.
	direct, plain *http.Client
}

// New returns a client. It makes no request; the error is about the URLs.
func New(o Options) (*Client, error) {
	api, server, err := hosts(o.APIURL, o.ServerURL)
	if err != nil {
		return nil, err
	}
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	base := o.Transport
	if base == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = o.Stall
		base = transport
	}
	retry := func(next http.RoundTripper) http.RoundTripper { return newRetrier(next, o) }
	authorized := retry(tokenTransport(api, o.Token, base))
	c := &Client{
		clock:  o.Clock.orReal(),
		rest:   github.NewClient(&http.Client{Transport: authorized}),
		server: server,
		direct: &http.Client{Transport: authorized, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		plain:  &http.Client{Transport: retry(base)},
	}
	c.rest.BaseURL = api
	c.rest.UserAgent = "gatehouse"
	return c, nil
}

// REST is go-github's client over the same transport, for the calls this package does not have.
func (c *Client) REST() *github.Client { return c.rest }

// Server is the base URL of the web pages, without a final slash.
func (c *Client) Server() string { return strings.TrimSuffix(c.server.String(), "/") }

// hosts settles the two base URLs, each from the other where one is missing, so that a run on an
// Enterprise Server never falls back on github.com.
func hosts(apiURL, serverURL string) (api, server *url.URL, err error) {
	if apiURL == "" && serverURL == "" {
		serverURL = "https://github.com"
	}
	if apiURL != "" {
		if api, err = baseURL("GITHUB_API_URL", apiURL); err != nil {
			return nil, nil, err
		}
	}
	if serverURL != "" {
		if server, err = baseURL("GITHUB_SERVER_URL", serverURL); err != nil {
			return nil, nil, err
		}
	}
	if server == nil {
		server = &url.URL{Scheme: api.Scheme, Host: strings.TrimPrefix(api.Host, "api."), Path: "/"}
	}
	if api == nil {
		api = &url.URL{Scheme: server.Scheme, Host: server.Host, Path: "/api/v3/"}
		if name := server.Hostname(); name == "github.com" || strings.HasSuffix(name, ".ghe.com") {
			api.Host, api.Path = "api."+server.Host, "/"
		}
	}
	return api, server, nil
}

// baseURL parses a base and ends it in the one slash that relative paths are joined to.
func baseURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %q is no URL", name, text)
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return nil, fmt.Errorf("reading %s: want a URL such as https://ghe.example/api/v3, got %q", name, u.Redacted())
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("reading %s: a base URL has no user, query or fragment, got %q", name, u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath = ""
	return u, nil
}

// tokenTransport adds the token to requests for the API's own origin, and to no other: a redirect to a
// storage host goes out without it.
func tokenTransport(api *url.URL, source oauth2.TokenSource, base http.RoundTripper) http.RoundTripper {
	if source == nil {
		return base
	}
	authorized := &oauth2.Transport{Source: source, Base: base}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if sameOrigin(req.URL, api) {
			return authorized.RoundTrip(req)
		}
		return base.RoundTrip(req)
	})
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// pages calls list for each page until there is none left.
func pages(list func(github.ListOptions) (*github.Response, error)) error {
	opts := github.ListOptions{PerPage: perPage}
	for {
		resp, err := list(opts)
		if err != nil {
			return err
		}
		if resp.NextPage <= opts.Page {
			return nil
		}
		opts.Page = resp.NextPage
	}
}

// Clock is the time a client waits by. Fields left nil are the real clock's.
type Clock struct {
	// Now is the wall clock.
	Now func() time.Time

	// Sleep waits for d or until ctx is done, whose error it returns.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (c Clock) orReal() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return c
}
