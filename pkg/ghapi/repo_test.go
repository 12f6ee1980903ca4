package ghapi_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/ghapi"
)

// TestRemotes: the first ten rows are the reference's table. It refuses ssh:// and credentials as well,
// which are accepted here.
func TestRemotes(t *testing.T) {
	tests := []struct{ server, remote, want string }{
		{"", "git@github.com:own/rep.git", "own/rep"},
		{"", "https://github.com/own/rep", "own/rep"},
		{"", "https://github.com/own/rep.git", "own/rep"},
		{"", "http://github.com/own/rep", ""},
		{"", "https://user:tok@github.com/own/rep.git", "own/rep"},
		{"", "ssh://git@github.com/own/rep.git", "own/rep"},
		{"", "git://github.com/own/rep.git", ""},
		{"", "git@github.com:own/sub/rep.git", ""},
		{"", "https://github.com/own", ""},
		{"", "https://GITHUB.com/own/rep", ""},

		{"", "git@github.com:own/rep", "own/rep"},
		{"", "https://tok@github.com/own/rep", "own/rep"},
		{"", "ssh://git@github.com:22/own/rep", "own/rep"},
		{"", "ssh://git@ssh.github.com:443/own/rep.git", "own/rep"},
		{"", "https://github.com/own/rep/", "own/rep"},
		{"", "https://github.com/own/rep.with.dots", "own/rep.with.dots"},
		{"", "https://github.com/own/..", ""},
		{"", "https://github.com//rep", ""},
		{"", "https://github.com.evil.example/own/rep", ""},
		{"", "https://evil.example/github.com/own/rep", ""},
		{"", "git@evil.example:own/rep.git", ""},
		{"", "https://github.com/own/rep?x=1", ""},
		{"", "https://github.com/own/r%20p", ""},
		{"", "/srv/git/rep.git", ""},
		{"", "../rep", ""},
		{"", "", ""},
		{"", "https://ghe.example/own/rep", ""},

		{"https://ghe.example", "https://ghe.example/own/rep.git", "own/rep"},
		{"https://ghe.example", "git@ghe.example:own/rep.git", "own/rep"},
		{"https://ghe.example", "https://github.com/own/rep.git", ""},
		{"https://ghe.example:8443", "https://ghe.example:8443/own/rep", "own/rep"},
		{"https://ghe.example:8443", "ssh://git@ghe.example:2222/own/rep.git", "own/rep"},
		{"https://ghe.example:8443", "git@ghe.example:own/rep.git", "own/rep"},
		{"https://tenant.ghe.com", "https://tenant.ghe.com/own/rep", "own/rep"},
	}
	for _, tt := range tests {
		got, err := ghapi.Options{ServerURL: tt.server}.Remote(tt.remote)
		switch {
		case tt.want == "" && err == nil:
			t.Errorf("%s on %q: got %s, want an error", tt.remote, tt.server, got)
		case tt.want != "" && (err != nil || got.String() != tt.want):
			t.Errorf("%s on %q: got %s, %v, want %s", tt.remote, tt.server, got, err, tt.want)
		}
	}
}

func TestRemoteHidesCredentials(t *testing.T) {
	for _, remote := range []string{"https://u:" + token + "@evil.example/own/rep", "ftp://u:" + token + "@github.com/own/rep", "https://u:" + token + "@github.com/own/rep?x", "https://u:" + token + "@github.com:x/own/rep"} {
		if _, err := (ghapi.Options{}).Remote(remote); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: got %v, want an error without the password", remote, err)
		}
	}
}

func TestFind(t *testing.T) {
	tests := []struct{ named, remote, surroundings, want string }{
		{"a/b", "git@github.com:c/d.git", "e/f", "a/b"},
		{"", "git@github.com:c/d.git", "e/f", "c/d"},
		{"", "/srv/git/x.git", "e/f", "e/f"},
		{"", "", "e/f", "e/f"},
		{"", "", "", ""},
		{"", "/srv/git/x.git", "", ""},
		{"a", "git@github.com:c/d.git", "e/f", ""},
	}
	for _, tt := range tests {
		got, err := ghapi.Options{Repository: tt.surroundings}.Find(tt.named, tt.remote)
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || got.String() != tt.want) {
			t.Errorf("%+v: got %s, %v", tt, got, err)
		}
	}
}

func FuzzRemote(f *testing.F) {
	for _, seed := range []string{"git@github.com:own/rep.git", "https://github.com/own/rep", "ssh://git@github.com:22/own/rep", "https://u:p@github.com/own/rep.git", "file:///x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		got, err := ghapi.Options{}.Remote(remote)
		if err != nil {
			return
		}
		again, err := ghapi.ParseRepo(got.String())
		if err != nil || again != got {
			t.Fatalf("%q became %q, which is no repository: %v", remote, got, err)
		}
		if strings.ContainsAny(got.String(), " ?#%\\@:\n") || strings.Count(got.String(), "/") != 1 {
			t.Fatalf("%q became %q", remote, got)
		}
	})
}
