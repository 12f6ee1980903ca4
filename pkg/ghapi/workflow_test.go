package ghapi_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
	"github.com/google/go-cmp/cmp"
)

const (
	listWorkflowRuns = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs"
	dispatchWorkflow = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"
)

var dispatch = ghapi.Dispatch{Workflow: "fixture.yml", Ref: "main", Inputs: map[string]string{"id": "fx_a"}}

// runsSince lists run 5, and from the second request on the newer ones.
func runsSince(newer ...int) func(ghapitest.Request) ghapitest.Answer {
	return func(r ghapitest.Request) ghapitest.Answer {
		ids := []int{5}
		if r.Try > 2 {
			ids = append(newer, ids...)
		}
		list := []any{}
		for _, id := range ids {
			list = append(list, map[string]any{"id": id, "html_url": "https://github.example/runs/" + string(rune('0'+id))})
		}
		return ghapitest.Answer{Body: map[string]any{"total_count": len(ids), "workflow_runs": list}}
	}
}

func TestDispatch(t *testing.T) {
	server, client, _ := fake(t)
	server.Handle(listWorkflowRuns, runsSince())
	server.Handle(dispatchWorkflow, func(r ghapitest.Request) ghapitest.Answer {
		want := map[string]any{"ref": "main", "return_run_details": true, "inputs": map[string]any{"id": "fx_a"}}
		if diff := cmp.Diff(want, r.Body); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
		return ghapitest.Answer{Body: map[string]any{"workflow_run_id": 9, "html_url": "https://github.example/runs/9"}}
	})
	got, err := client.Dispatch(t.Context(), repo, dispatch)
	if err != nil {
		t.Fatal(err)
	}
	want := ghapi.Started{Run: ghapi.Run{ID: 9, URL: "https://github.example/runs/9"}, Listed: server.URL + "/own/rep/actions/workflows/fixture.yml"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestDispatchWithoutDetails: a server that does not know return_run_details answers 204, or refuses the
// key; the run is then looked for.
func TestDispatchWithoutDetails(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		for _, tt := range []struct {
			newer []int
			want  int64
		}{{[]int{8}, 8}, {[]int{9, 8}, 0}, {nil, 0}} {
			server, client, _ := fake(t)
			server.Handle(listWorkflowRuns, runsSince(tt.newer...))
			server.Handle(dispatchWorkflow, func(r ghapitest.Request) ghapitest.Answer {
				if _, ok := r.Body["return_run_details"]; ok && refuses {
					return ghapitest.Answer{Status: 422, Raw: `{"message":"\"return_run_details\" is not a permitted key."}`}
				}
				return ghapitest.Answer{Status: 204}
			})
			got, err := client.Dispatch(t.Context(), repo, dispatch)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != tt.want {
				t.Errorf("newer runs %v: got run %d, want %d", tt.newer, got.ID, tt.want)
			}
		}
	}
}

func TestDispatchRefused(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   string
		sent   int
	}{
		{403, `{"message":"Resource not accessible by integration"}`, "actions: write", 1},
		{404, `{"message":"Not Found"}`, "actions: write", 1},
		{422, `{"message":"Unexpected inputs provided: [\"id\"]"}`, "Unexpected inputs", 1},
		{502, "<html>", "502", 1},
	}
	for _, tt := range tests {
		server, client, _ := fake(t)
		server.Handle(listWorkflowRuns, runsSince())
		server.Handle(dispatchWorkflow, func(r ghapitest.Request) ghapitest.Answer {
			return ghapitest.Answer{Status: tt.status, Raw: tt.body}
		})
		_, err := client.Dispatch(t.Context(), repo, dispatch)
		if err == nil || !strings.Contains(err.Error(), tt.want) || server.Count(dispatchWorkflow) != tt.sent {
			t.Errorf("%d: got %v after %d requests, want %q after %d", tt.status, err, server.Count(dispatchWorkflow), tt.want, tt.sent)
		}
	}
	server, client, _ := fake(t)
	server.Handle(listWorkflowRuns, func(ghapitest.Request) ghapitest.Answer { return ghapitest.Answer{Status: 404, Raw: "{}"} })
	if _, err := client.Dispatch(t.Context(), repo, dispatch); err == nil || server.Count(dispatchWorkflow) != 0 {
		t.Errorf("no such workflow: got %v after %d dispatches", err, server.Count(dispatchWorkflow))
	}
}
