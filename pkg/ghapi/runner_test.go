package ghapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v60/github"
)

const (
	listGroups       = "GET /orgs/{org}/actions/runner-groups"
	listGroupRunners = "GET /orgs/{org}/actions/runner-groups/{runner_group_id}/runners"
)

func issue() *github.IssueRequest { return &github.IssueRequest{Title: github.String("x")} }

func runner(id int, name, status string, busy bool, labels ...string) map[string]any {
	var list []any
	for _, l := range labels {
		list = append(list, map[string]any{"name": l})
	}
	return map[string]any{"id": id, "name": name, "status": status, "busy": busy, "labels": list}
}

func TestFleetOfAnOrganisation(t *testing.T) {
	server, client, _ := fake(t)
	server.Pages(listRunners, "runners", 1, runner(1, "r1", "online", false, "gpu"), runner(2, "r2", "offline", false, "gpu"))
	server.Handle(listGroups, func(r ghapitest.Request) ghapitest.Answer {
		groups := []any{map[string]any{"id": 10, "name": "open"}}
		if r.URL.Query().Get("visible_to_repository") == "" {
			groups = append(groups, map[string]any{"id": 11, "name": "closed"})
		}
		return ghapitest.Answer{Body: map[string]any{"total_count": len(groups), "runner_groups": groups}}
	})
	server.Handle(listGroupRunners, func(r ghapitest.Request) ghapitest.Answer {
		one := runner(5, "same-name", "online", r.Path["runner_group_id"] == "11", "gpu")
		return ghapitest.Answer{Body: map[string]any{"total_count": 1, "runners": []any{one}}}
	})
	fleet, err := client.Fleet(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	want := &ghapi.Fleet{
		Repo: repo,
		Runners: []ghapi.Runner{
			{ID: 1, Name: "r1", Status: "online", Labels: []string{"gpu"}},
			{ID: 2, Name: "r2", Status: "offline", Labels: []string{"gpu"}},
			{ID: 5, Name: "same-name", Group: "open", Status: "online", Labels: []string{"gpu"}},
		},
		Closed: []ghapi.Runner{{ID: 5, Name: "same-name", Group: "closed", Status: "online", Busy: true, Labels: []string{"gpu"}}},
	}
	if diff := cmp.Diff(want, fleet); diff != "" {
		t.Errorf("fleet (-want +got):\n%s", diff)
	}
	for _, r := range server.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("%s: got authorization %q", r.Endpoint, got)
		}
	}
}

// TestUnseen tells a fleet that is empty from one that cannot be seen.
func TestUnseen(t *testing.T) {
	refuse := func(status int) func(ghapitest.Request) ghapitest.Answer {
		return func(ghapitest.Request) ghapitest.Answer {
			return ghapitest.Answer{Status: status, Raw: `{"message":"no"}`}
		}
	}
	owner := func(kind string) func(ghapitest.Request) ghapitest.Answer {
		return func(ghapitest.Request) ghapitest.Answer {
			return ghapitest.Answer{Body: map[string]any{"owner": map[string]any{"login": "own", "type": kind}}}
		}
	}
	tests := []struct {
		name   string
		repo   int // status of the list of the repository's runners
		groups int
		owner  string
		unseen []string
	}{
		{"a person's repository", 200, 404, "User", nil},
		{"owner unknown", 200, 404, "", nil},
		{"an organisation hidden by 404", 200, 404, "Organization", []string{"runner groups of own"}},
		{"an organisation, 403", 200, 403, "Organization", []string{"runner groups of own"}},
		{"repository 403", 403, 404, "User", []string{"runners of own/rep"}},
		{"repository 404", 404, 404, "User", []string{"runners of own/rep"}},
		{"token expired", 401, 401, "User", []string{"runners of own/rep", "runner groups of own"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, client, _ := fake(t)
			server.Pages(listRunners, "runners", 1)
			if tt.repo != 200 {
				server.Handle(listRunners, refuse(tt.repo))
			}
			server.Handle(listGroups, refuse(tt.groups))
			if tt.owner != "" {
				server.Handle(getRepo, owner(tt.owner))
			}
			fleet, err := client.Fleet(t.Context(), repo)
			if err != nil {
				t.Fatal(err)
			}
			if len(fleet.Unseen) != len(tt.unseen) {
				t.Fatalf("got unseen %q, want %q", fleet.Unseen, tt.unseen)
			}
			for i, want := range tt.unseen {
				if !strings.Contains(fleet.Unseen[i], want) {
					t.Errorf("got unseen %q, want it to name %q", fleet.Unseen[i], want)
				}
			}
		})
	}
}

func TestFleetFailures(t *testing.T) {
	for _, a := range []ghapitest.Answer{{Raw: "oops"}, {Status: 502, Raw: "<html>"}, {Status: 500, Raw: "{}"}, {Status: 429}} {
		server, client, _ := fake(t)
		server.Handle(listRunners, func(ghapitest.Request) ghapitest.Answer { return a })
		if _, err := client.Fleet(t.Context(), repo); err == nil || ghapi.IsAccess(err) {
			t.Errorf("%+v: got %v, want an error", a, err)
		} else if strings.Contains(err.Error(), token) {
			t.Errorf("%+v: the error shows the token: %v", a, err)
		}
	}
	var none *ghapi.AccessError
	if errors.As(errors.New("x"), &none) {
		t.Error("AccessError takes any error")
	}
}

// TestEnterpriseServer asks below the base path, over several pages, and nowhere else.
func TestEnterpriseServer(t *testing.T) {
	for _, base := range []string{"/api/v3", "/api/v3/"} {
		server, clock := ghapitest.New(t), newStillClock()
		server.Pages(listRunners, "runners", 1, runner(1, "a", "online", false, "x"), runner(2, "b", "online", true, "x"), runner(3, "c", "offline", false, "x"))
		o := options(server, clock)
		o.APIURL, o.ServerURL = server.URL+base, server.URL
		client, err := ghapi.New(o)
		if err != nil {
			t.Fatal(err)
		}
		fleet, err := client.Fleet(t.Context(), repo)
		if err != nil || len(fleet.Runners) != 3 || !fleet.Runners[0].Idle() || fleet.Runners[1].Idle() || fleet.Runners[2].Online() {
			t.Errorf("%s: got %+v, %v", base, fleet, err)
		}
		for _, r := range server.Requests() {
			if !strings.HasPrefix(r.URL.Path, "/api/v3/") || strings.Contains(r.URL.Path, "//") {
				t.Errorf("%s: got a request for %s", base, r.URL.Path)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	r := ghapi.Runner{Labels: []string{"self-hosted", "Linux", "X64", "gpu-old", " Trim "}}
	tests := []struct {
		wanted  []string
		ok      bool
		spelled []string
	}{
		{[]string{"self-hosted", "Linux"}, true, nil},
		{[]string{"self-hosted", "linux"}, true, []string{"Linux"}},
		{[]string{"SELF-HOSTED", "x64"}, true, []string{"self-hosted", "X64"}},
		{[]string{"gpu"}, false, nil},
		{[]string{"gpu-old "}, true, []string{"gpu-old"}},
		{[]string{"trim"}, true, []string{" Trim "}},
		{nil, true, nil},
	}
	for _, tt := range tests {
		spelled, ok := r.Match(tt.wanted)
		if ok != tt.ok || !slices.Equal(spelled, tt.spelled) {
			t.Errorf("%q: got %q, %v, want %q, %v", tt.wanted, spelled, ok, tt.spelled, tt.ok)
		}
	}
}
