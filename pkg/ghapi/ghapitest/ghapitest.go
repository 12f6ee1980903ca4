// Package ghapitest is a fake GitHub for tests, held to the published description of the API.
//
// A test says what the endpoints it needs answer; every request is checked against the description, and so
// is every answer, so that neither side can drift into an API of its own. Requests for endpoints that no
// test set up are answered 404 and recorded like all others. The API is served at the root, as on
// github.com, and below /api/v3, as on an Enterprise Server.
package ghapitest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Request is one request the fake got.
type Request struct {
	// Endpoint is the described endpoint, such as "GET /repos/{owner}/{repo}", empty for one that is not
	// described.
	Endpoint string

	// Path are the values in the path by their names there.
	Path map[string]string

	// Body is the decoded body, nil if there was none.
	Body map[string]any

	// Try counts the requests to the endpoint, from 1.
	Try int

	*http.Request
}

// Answer is what an endpoint answers.
type Answer struct {
	// Status is the HTTP status, 200 if it is 0.
	Status int

	Header map[string]string

	// Body is the part of a described answer that the test cares about; the rest that the description
	// requires is filled in.
	Body any

	// Raw is sent as it is, for failures that no description has.
	Raw string
}

// Server is the fake.
type Server struct {
	// URL is the base of the API, without a final slash.
	URL string

	// Now is the time the fake's answers are dated; nil is the real one.
	Now func() time.Time

	t        testing.TB
	http     *httptest.Server
	mu       sync.Mutex
	answers  map[string]func(Request) Answer
	requests []Request
}

// New starts a fake that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, answers: map[string]func(Request) Answer{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(s.http.Close)
	return s
}

// Handle sets what an endpoint answers. The endpoint is spelled as GitHub's description has it; one that it
// does not have fails the test.
func (s *Server) Handle(endpoint string, answer func(Request) Answer) {
	s.t.Helper()
	if described().Endpoints[endpoint] == nil {
		s.t.Fatalf("no endpoint %q is described; the described ones are\n%s", endpoint, strings.Join(slices.Sorted(maps.Keys(described().Endpoints)), "\n"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[endpoint] = answer
}

// Pages sets an endpoint that lists items under key, size of them to a page, with the Link header that
// leads to the next page.
func (s *Server) Pages(endpoint, key string, size int, items ...map[string]any) {
	s.t.Helper()
	s.Handle(endpoint, func(r Request) Answer {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page = max(page, 1)
		from := min((page-1)*size, len(items))
		to := min(from+size, len(items))
		list := []any{}
		for _, item := range items[from:to] {
			list = append(list, item)
		}
		a := Answer{Body: map[string]any{"total_count": len(items), key: list}, Header: map[string]string{}}
		if to < len(items) {
			query := r.URL.Query()
			query.Set("page", strconv.Itoa(page+1))
			a.Header["Link"] = fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.Path, query.Encode())
		}
		return a
	})
}

// Requests are the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count is the number of requests to an endpoint so far.
func (s *Server) Count(endpoint string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Endpoint == endpoint {
			n++
		}
	}
	return n
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.Now != nil {
		w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	}
	req, answer := s.record(r)
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}`)
		return
	}
	a := answer(req)
	body, err := s.body(req.Endpoint, &a)
	if err != nil {
		s.t.Errorf("the fake's answer departs from GitHub's description: %v", err)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	w.Write(body)
}

// record checks a request and finds who answers it.
func (s *Server) record(r *http.Request) (Request, func(Request) Answer) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("reading the request %s: %v", r.URL, err)
	}
	e, path := described().find(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3"))
	req := Request{Request: r, Path: path}
	if len(text) > 0 {
		json.Unmarshal(text, &req.Body)
	}
	if e == nil {
		s.t.Errorf("GitHub's description has no %s %s", r.Method, r.URL.Path)
	} else {
		req.Endpoint = e.name
		for _, wrong := range described().checkRequest(e, path, r.URL.Query(), text) {
			s.t.Errorf("the request departs from GitHub's description: %s", wrong)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Try = 1
	for _, earlier := range s.requests {
		if earlier.Endpoint == req.Endpoint {
			req.Try++
		}
	}
	s.requests = append(s.requests, req)
	return req, s.answers[req.Endpoint]
}

// body makes an answer whole and holds it to the description.
func (s *Server) body(name string, a *Answer) ([]byte, error) {
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.Raw != "" || a.Status >= 400 && a.Body == nil {
		return []byte(a.Raw), nil
	}
	e := described().Endpoints[name]
	var body []byte
	if a.Body != nil {
		plain, err := plain(a.Body)
		if err != nil {
			return nil, err
		}
		whole, err := described().fill(e.Responses[strconv.Itoa(a.Status)], plain, name)
		if err != nil {
			return nil, err
		}
		if body, err = json.Marshal(whole); err != nil {
			return nil, err
		}
	}
	return body, described().checkAnswer(e, a.Status, body)
}

// plain is v as JSON decodes it, whatever Go types a test wrote it in.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(text, &out)
}
