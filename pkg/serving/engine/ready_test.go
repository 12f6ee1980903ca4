package engine

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serveStatus answers each path with the status that the map holds, others with 404.
func serveStatus(t *testing.T, status map[string]int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, ok := status[r.URL.Path]
		if !ok {
			code = http.StatusNotFound
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAwait(t *testing.T) {
	gateway := serveStatus(t, map[string]int{"/readiness": 200})
	closed := httptest.NewServer(nil)
	closed.Close()
	tests := []struct {
		name             string
		gateway, control string
		want             string // reason; empty for ready
	}{
		{"both ports answer", gateway, serveStatus(t, map[string]int{"/health": 200}), ""},
		{"no control port asked for", gateway, "", ""},
		{"an engine that knows /health alone", serveStatus(t, map[string]int{"/health": 200}), "", ""},
		{"an engine that knows /v1/models alone", serveStatus(t, map[string]int{"/v1/models": 200}), "", ""},
		{"an engine that knows nothing", serveStatus(t, nil), "", ReadinessTimeout},
		{"a gateway that is not ready", serveStatus(t, map[string]int{"/readiness": 503, "/health": 200}), "", ReadinessTimeout},
		{"a gateway that sends us elsewhere", serveRedirect(t, gateway), "", ReadinessTimeout},
		{"nobody on the gateway's port", closed.URL, "", ReadinessTimeout},
		{"nobody on the control port", gateway, closed.URL, ControlUnbound},
		{"a control port that is not healthy", gateway, serveStatus(t, map[string]int{"/health": 503}), ReadinessTimeout},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			spec := Spec{BaseURL: test.gateway, ControlURL: test.control, ReadyTimeout: 5 * time.Second}
			if test.want == ReadinessTimeout {
				spec.ReadyTimeout = 300 * time.Millisecond
			}
			e, err := Launch(t.Context(), attachDriver{}, spec, nil)
			if err == nil != (test.want == "") {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			var f *Failure
			if test.want != "" && (!errors.As(err, &f) || f.Reason != test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if err := e.Stop(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// A control server that comes a little after the gateway is waited for.
func TestAwaitLateControl(t *testing.T) {
	gateway := serveStatus(t, map[string]int{"/readiness": 200})
	var asked atomic.Int32
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer control.Close()
	var notes []string
	_, err := Launch(t.Context(), attachDriver{}, Spec{BaseURL: gateway, ControlURL: control.URL, ReadyTimeout: 20 * time.Second},
		func(last string) { notes = append(notes, last) })
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) == 0 || !strings.Contains(notes[0], "gateway is ready; control port") {
		t.Errorf("got notes %q, want what is waited for", notes)
	}
}

// serveRedirect answers each request with the way to another server.
func serveRedirect(t *testing.T, to string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
