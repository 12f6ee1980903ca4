package loadgen

import (
	"net"
	"net/url"
	"strings"
)

// target is where requests go.
type target struct {
	secure  bool
	address string // host:port to dial
	host    string // Host field
	name    string // host alone, for TLS
	path    string
}

// parseTarget reads Plan.BaseURL and Plan.Endpoint.
func parseTarget(base, endpoint string) (target, error) {
	bad := func(reason string) (target, error) { return target{}, &PlanError{"BaseURL", reason} }
	u, err := url.Parse(base)
	if err != nil {
		return bad("not a URL: " + err.Error())
	}
	t := target{secure: u.Scheme == "https", host: u.Host, name: u.Hostname()}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("want http:// or https://, as in http://127.0.0.1:8000")
	case t.name == "":
		return bad("no host, want something like http://127.0.0.1:8000")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return bad("no user, query or fragment can be used here")
	case port == "" && t.secure:
		port = "443"
	case port == "":
		port = "80"
	}
	t.address = net.JoinHostPort(t.name, port)
	t.path = strings.TrimSuffix(u.EscapedPath(), "/") + endpoint
	return t, nil
}
