package ghapitest

import (
	"net/url"
	"strings"
	"testing"
)

func TestRequestsAreHeldToTheDescription(t *testing.T) {
	const dispatch = "/repos/o/r/actions/workflows/w.yml/dispatches"
	tests := []struct{ method, path, query, body, want string }{
		{"GET", "/repos/o/r/actions/runners", "per_page=100&page=2", "", ""},
		{"GET", "/repos/o/r/actions/runners", "perpage=100", "", "no query parameter perpage"},
		{"GET", "/repos/o/r/actions/runners", "page=two", "", "query parameter page"},
		{"GET", "/repos/o/r/actions/runs/seven/artifacts", "", "", "path parameter run_id"},
		{"GET", "/repos/o/r/issues", "state=ajar", "", "none of"},
		{"GET", "/repos/o/r/actions/runners", "", "{}", "takes no body"},
		{"POST", dispatch, "", `{"ref":"main","return_run_details":true}`, ""},
		{"POST", dispatch, "", `{"ref":1}`, "body"},
		{"POST", dispatch, "", `{"inputs":{}}`, "missing property"},
		{"POST", dispatch, "", `{"ref":"main","field":{}}`, "no key field"},
		{"POST", dispatch, "", `oops`, "no JSON object"},
	}
	for _, tt := range tests {
		e, path := described().find(tt.method, tt.path)
		if e == nil {
			t.Errorf("%s %s: not described", tt.method, tt.path)
			continue
		}
		query, _ := url.ParseQuery(tt.query)
		got := strings.Join(described().checkRequest(e, path, query, []byte(tt.body)), "; ")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s?%s %s: got %q, want %q", tt.method, tt.path, tt.query, tt.body, got, tt.want)
		}
	}
	if e, _ := described().find("DELETE", "/repos/o/r"); e != nil {
		t.Error("an endpoint that is not described was found")
	}
}

func TestAnswersAreHeldToTheDescription(t *testing.T) {
	e, _ := described().find("GET", "/repos/o/r/actions/runners")
	tests := []struct {
		status     int
		body, want string
	}{
		{200, `{"total_count":0,"runners":[]}`, ""},
		{200, `{"total_count":1,"runners":[{"id":1,"name":"n","os":"linux","status":"online","busy":false,"labels":[]}]}`, ""},
		{200, `{"total_count":1,"runners":[{"id":1}]}`, "missing propert"},
		{200, `{"runners":[]}`, "missing propert"},
		{200, `[]`, "want object"},
		{204, ``, "no answer with status 204"},
	}
	for _, tt := range tests {
		got := ""
		if err := described().checkAnswer(e, tt.status, []byte(tt.body)); err != nil {
			got = err.Error()
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%d %s: got %q, want %q", tt.status, tt.body, got, tt.want)
		}
	}
}

// TestEveryAnswerCanBeFilledIn fills each described success from nothing and holds it to its description.
func TestEveryAnswerCanBeFilledIn(t *testing.T) {
	for name, e := range described().Endpoints {
		for status, s := range e.Responses {
			if s == nil || status >= "300" {
				continue
			}
			a := Answer{Status: int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0'), Body: map[string]any{}}
			if described().resolve(s)["type"] == "array" {
				a.Body = []any{map[string]any{}}
			}
			if _, err := (&Server{t: t}).body(name, &a); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := (&Server{t: t}).body("GET /repos/{owner}/{repo}", &Answer{Body: map[string]any{"ownr": 1}}); err == nil {
		t.Error("a key that the description does not have was accepted")
	}
}
