package ghapi

import (
	"context"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
	"golang.org/x/oauth2"
)

func TestPropose(t *testing.T) {
	const parent = "1111111111111111111111111111111111111111"
	proposal := Proposal{Parent: parent, Branch: "refresh-1", Path: "config/b.yaml", Content: []byte("baselines: {}\n"), Title: "Refresh", Body: "why"}
	tests := []struct {
		name           string
		branchIsThere  bool
		open           []any
		wantURL        string
		created, edits int
	}{
		{"new", false, []any{}, "https://github.test/own/rep/pull/7", 1, 0},
		{"the branch is there", true, []any{}, "https://github.test/own/rep/pull/7", 1, 0},
		{"the pull request is open", true, []any{map[string]any{"number": 5}}, "https://github.test/own/rep/pull/5", 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake := ghapitest.New(t)
			answer := func(status int, body any) func(ghapitest.Request) ghapitest.Answer {
				return func(ghapitest.Request) ghapitest.Answer { return ghapitest.Answer{Status: status, Body: body} }
			}
			fake.Handle("GET /repos/{owner}/{repo}", answer(200, map[string]any{"default_branch": "main"}))
			fake.Handle("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", answer(200, map[string]any{"sha": parent, "tree": map[string]any{"sha": "aaaa"}}))
			fake.Handle("POST /repos/{owner}/{repo}/git/trees", func(r ghapitest.Request) ghapitest.Answer {
				entry := r.Body["tree"].([]any)[0].(map[string]any)
				if r.Body["base_tree"] != "aaaa" || entry["path"] != "config/b.yaml" || entry["content"] != "baselines: {}\n" {
					t.Errorf("got tree %v", r.Body)
				}
				return ghapitest.Answer{Status: 201, Body: map[string]any{"sha": "bbbb"}}
			})
			fake.Handle("POST /repos/{owner}/{repo}/git/commits", func(r ghapitest.Request) ghapitest.Answer {
				if r.Body["tree"] != "bbbb" || r.Body["parents"].([]any)[0] != parent {
					t.Errorf("got commit %v", r.Body)
				}
				return ghapitest.Answer{Status: 201, Body: map[string]any{"sha": "cccc"}}
			})
			fake.Handle("POST /repos/{owner}/{repo}/git/refs", func(r ghapitest.Request) ghapitest.Answer {
				if r.Body["ref"] != "refs/heads/refresh-1" || r.Body["sha"] != "cccc" {
					t.Errorf("got ref %v", r.Body)
				}
				if tt.branchIsThere {
					return ghapitest.Answer{Status: 422, Body: map[string]any{"message": "Reference already exists"}}
				}
				return ghapitest.Answer{Status: 201, Body: map[string]any{}}
			})
			fake.Handle("GET /repos/{owner}/{repo}/pulls", func(r ghapitest.Request) ghapitest.Answer {
				if got := r.URL.Query().Get("head"); got != "own:refresh-1" {
					t.Errorf("got head %q", got)
				}
				return ghapitest.Answer{Body: tt.open}
			})
			fake.Handle("POST /repos/{owner}/{repo}/pulls", func(r ghapitest.Request) ghapitest.Answer {
				if r.Body["head"] != "refresh-1" || r.Body["base"] != "main" || r.Body["title"] != "Refresh" || r.Body["body"] != "why" {
					t.Errorf("got pull request %v", r.Body)
				}
				return ghapitest.Answer{Status: 201, Body: map[string]any{"number": 7, "html_url": "https://github.test/own/rep/pull/7"}}
			})
			fake.Handle("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", answer(200, map[string]any{"number": 5, "html_url": "https://github.test/own/rep/pull/5"}))

			client, err := New(Options{APIURL: fake.URL, Token: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "secret"})})
			if err != nil {
				t.Fatal(err)
			}
			pull, err := client.Propose(context.Background(), Repo{"own", "rep"}, proposal)
			if err != nil || pull.URL != tt.wantURL {
				t.Errorf("got %v, %v, want %s", pull, err, tt.wantURL)
			}
			if n := fake.Count("POST /repos/{owner}/{repo}/pulls"); n != tt.created {
				t.Errorf("got %d created, want %d", n, tt.created)
			}
			if n := fake.Count("PATCH /repos/{owner}/{repo}/pulls/{pull_number}"); n != tt.edits {
				t.Errorf("got %d edits, want %d", n, tt.edits)
			}
		})
	}
}

func TestProposeOnAnUnpushedCommit(t *testing.T) {
	fake := ghapitest.New(t)
	fake.Handle("GET /repos/{owner}/{repo}", func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Body: map[string]any{"default_branch": "main"}}
	})
	fake.Handle("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 404, Body: map[string]any{"message": "Not Found"}}
	})
	client, err := New(Options{APIURL: fake.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Propose(context.Background(), Repo{"own", "rep"}, Proposal{Parent: "2222"}); !IsAccess(err) {
		t.Errorf("got %v, want a refusal that names the commit", err)
	}
}
