package ghapi_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
	"github.com/gatehouse-ci/gatehouse/pkg/ghapi/ghapitest"
)

const (
	listArtifacts   = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts"
	archiveArtifact = "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}"
	signature       = "sig=thesecretsignature"
)

func digestOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func TestArtifacts(t *testing.T) {
	server, client, _ := fake(t)
	one := func(id int, name, created string, digest any) map[string]any {
		return map[string]any{"id": id, "name": name, "created_at": created, "digest": digest, "size_in_bytes": 7}
	}
	server.Pages(listArtifacts, "artifacts", 2,
		one(1, "a", "2031-03-01T00:00:00Z", nil),
		one(2, "b", "2031-03-02T00:00:00Z", "sha256:"+strings.Repeat("AB", 32)),
		one(4, "a", "2031-03-03T00:00:00Z", nil),
		one(3, "a", "2031-03-03T00:00:00Z", nil))
	all, err := client.Artifacts(t.Context(), repo, 77, "a")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	if fmt.Sprint(ids) != "[4 3 1]" {
		t.Errorf("got %v, want the newest first, over both pages", ids)
	}
	all, err = client.Artifacts(t.Context(), repo, 77, "")
	if err != nil || len(all) != 4 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	for _, a := range all {
		if want := map[bool]string{true: strings.Repeat("ab", 32)}[a.Name == "b"]; a.Digest != want {
			t.Errorf("%s: got digest %q, want %q", a.Name, a.Digest, want)
		}
	}
	if _, err := client.Artifacts(t.Context(), ghapi.Repo{Owner: "no", Name: "such"}, 1, ""); err != nil {
		t.Errorf("got %v from the fake, which knows every repository", err)
	}
}

// storage is the host that GitHub redirects downloads to.
func storage(t *testing.T, serve func(try int, w http.ResponseWriter)) *httptest.Server {
	t.Helper()
	var tries atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the storage host got the authorization %q", got)
		}
		serve(int(tries.Add(1)), w)
	}))
	t.Cleanup(host.Close)
	return host
}

func TestDownload(t *testing.T) {
	body := bytes.Repeat([]byte("zip "), 1000)
	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:100])
	}
	tests := []struct {
		name     string
		artifact ghapi.Artifact
		limit    int64
		serve    func(try int, w http.ResponseWriter)
		whole    func(*os.File) error
		want     error // nil means the bytes
		text     string
	}{
		{name: "plain", serve: func(_ int, w http.ResponseWriter) { w.Write(body) }},
		{name: "digest right", artifact: ghapi.Artifact{Digest: digestOf(body)}, serve: func(_ int, w http.ResponseWriter) { w.Write(body) }},
		{name: "digest wrong twice", artifact: ghapi.Artifact{Digest: digestOf(nil)}, serve: func(_ int, w http.ResponseWriter) { w.Write(body) }, want: ghapi.ErrIncomplete},
		{name: "digest wrong once", artifact: ghapi.Artifact{Digest: digestOf(body)}, serve: func(try int, w http.ResponseWriter) { w.Write(body[:len(body)/max(1, 3-try)]) }},
		{name: "cut once", serve: func(try int, w http.ResponseWriter) {
			if try == 1 {
				cut(w)
				return
			}
			w.Write(body)
		}},
		{name: "cut twice", serve: func(_ int, w http.ResponseWriter) { cut(w) }, want: ghapi.ErrIncomplete},
		{name: "not whole", serve: func(_ int, w http.ResponseWriter) { w.Write(body) }, whole: func(*os.File) error { return errors.New("no zip") }, want: ghapi.ErrIncomplete, text: "no zip"},
		{name: "over the limit", limit: 10, serve: func(_ int, w http.ResponseWriter) { w.Write(body) }, text: "limit of 10 bytes"},
		{name: "stated over the limit", limit: 10, artifact: ghapi.Artifact{Size: 11}, text: "over the limit of 10"},
		{name: "expired", artifact: ghapi.Artifact{Expired: true}, want: ghapi.ErrExpired},
		{name: "storage refuses", serve: func(_ int, w http.ResponseWriter) { w.WriteHeader(403) }, text: "answered 403"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, client, _ := fake(t)
			host := storage(t, tt.serve)
			server.Handle(archiveArtifact, func(ghapitest.Request) ghapitest.Answer {
				return ghapitest.Answer{Status: 302, Header: map[string]string{"Location": host.URL + "/blob?" + signature}}
			})
			file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			limit := tt.limit
			if limit == 0 {
				limit = 1 << 20
			}
			tt.artifact.ID, tt.artifact.Name = 9, "night"
			err = client.Download(t.Context(), repo, tt.artifact, limit, file, tt.whole)
			if err != nil && (strings.Contains(err.Error(), signature) || strings.Contains(err.Error(), token)) {
				t.Errorf("the error shows a secret: %v", err)
			}
			if tt.want == nil && tt.text == "" {
				got, readErr := os.ReadFile(file.Name())
				if err != nil || readErr != nil || !bytes.Equal(got, body) {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(body))
				}
				return
			}
			if tt.want != nil && !errors.Is(err, tt.want) || err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %v %s", err, tt.want, tt.text)
			}
		})
	}
}

func TestDownloadGone(t *testing.T) {
	server, client, _ := fake(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for status, want := range map[int]string{410: "expired", 404: "actions: read", 200: "should redirect"} {
		server.Handle(archiveArtifact, func(ghapitest.Request) ghapitest.Answer {
			return ghapitest.Answer{Status: status, Raw: `{"message":"x"}`}
		})
		err := client.Download(t.Context(), repo, ghapi.Artifact{ID: 1, Name: "n"}, 10, file, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: got %v, want it to say %q", status, err, want)
		}
	}
}

// TestStalledDownload: a storage host that stops sending is not waited for for ever.
func TestStalledDownload(t *testing.T) {
	server, clock := ghapitest.New(t), newStillClock()
	o := options(server, clock)
	o.Stall = 50 * time.Millisecond
	o.Transport = http.DefaultTransport // without a limit before the answer, which a loaded machine may miss
	client, err := ghapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		<-release
	}))
	defer host.Close()
	defer close(release)
	server.Handle(archiveArtifact, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 302, Header: map[string]string{"Location": host.URL}}
	})
	file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = client.Download(t.Context(), repo, ghapi.Artifact{ID: 1, Name: "n"}, 1000, file, nil)
	if !errors.Is(err, ghapi.ErrIncomplete) || !strings.Contains(err.Error(), "stopped sending") {
		t.Errorf("got %v, want an incomplete download", err)
	}
}

// TestRedirectedAPI: an answer of the API may come from another host, which gets no token.
func TestRedirectedAPI(t *testing.T) {
	host := storage(t, func(_ int, w http.ResponseWriter) { io.WriteString(w, `{"full_name":"own/rep"}`) })
	server, client, _ := fake(t)
	server.Handle(getRepo, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 301, Header: map[string]string{"Location": host.URL}, Raw: "{}"}
	})
	if err := askOnce(t.Context(), client); err != nil {
		t.Error(err)
	}
}

// TestStorageOnTheAPIHost: an Enterprise Server may redirect to its own host, which still gets no token.
func TestStorageOnTheAPIHost(t *testing.T) {
	var host *httptest.Server
	host = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v3/") {
			http.Redirect(w, r, host.URL+"/_services/blob?"+signature, http.StatusFound)
			return
		}
		io.WriteString(w, "zip")
	}))
	defer host.Close()
	client, err := ghapi.New(ghapi.Options{APIURL: host.URL + "/api/v3"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := client.Download(t.Context(), repo, ghapi.Artifact{ID: 1, Name: "n"}, 10, file, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file.Name()); err != nil || string(got) != "zip" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestDownloadFromARenamedRepository: the API redirects to itself before it redirects to the storage host.
func TestDownloadFromARenamedRepository(t *testing.T) {
	for _, circle := range []bool{false, true} {
		server, client, _ := fake(t)
		host := storage(t, func(_ int, w http.ResponseWriter) { w.Write([]byte("zip")) })
		server.Handle(archiveArtifact, func(r ghapitest.Request) ghapitest.Answer {
			if got := r.Header.Get("Authorization"); got != "Bearer "+token {
				t.Errorf("got authorization %q", got)
			}
			if r.Path["repo"] == "rep" || circle {
				return ghapitest.Answer{Status: 302, Header: map[string]string{"Location": server.URL + "/repos/own/renamed/actions/artifacts/1/zip"}}
			}
			return ghapitest.Answer{Status: 302, Header: map[string]string{"Location": host.URL + "/blob?" + signature}}
		})
		file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		err = client.Download(t.Context(), repo, ghapi.Artifact{ID: 1, Name: "n"}, 10, file, nil)
		if (err != nil) != circle {
			t.Errorf("circle %v: got %v", circle, err)
		}
	}
}

// TestStorageUnreachable: the signed address must not show when its host cannot be reached.
func TestStorageUnreachable(t *testing.T) {
	server, client, _ := fake(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	server.Handle(archiveArtifact, func(ghapitest.Request) ghapitest.Answer {
		return ghapitest.Answer{Status: 302, Header: map[string]string{"Location": gone.URL + "/blob?" + signature}}
	})
	file, err := os.Create(filepath.Join(t.TempDir(), "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = client.Download(t.Context(), repo, ghapi.Artifact{ID: 1, Name: "n"}, 10, file, nil)
	if err == nil || strings.Contains(err.Error(), signature) || !strings.Contains(err.Error(), gone.URL) {
		t.Errorf("got %v, want an error with the host and without the signature", err)
	}
}
