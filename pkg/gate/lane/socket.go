package lane

import (
	"path"
	"regexp"
	"strings"
)

// Evidence is one place at which a lane gets the socket, or what is as good.
type Evidence struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Text string `json:"text"`
}

var (
	// socketPath is a daemon's socket, or a folder that holds it.
	socketPath = regexp.MustCompile(`(docker|containerd|podman|crio)\.sock\b|(^|[\s"'=])/(var/)?run/?:`)
	privileged = regexp.MustCompile(`(^|\s)--privileged(\s|=true|$)`)
	dockerHost = regexp.MustCompile(`\bDOCKER_HOST=`)
	socketFlag = regexp.MustCompile(`(^|\s)--docker-socket(\s|=true|$)`)
	yamlName   = regexp.MustCompile(`[A-Za-z0-9_./-]+\.ya?ml\b`)
)

// isSocketInput reports whether an input is the one that asks for the socket.
func isSocketInput(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	return name == "docker-socket" || name == "input-docker-socket"
}

// socket finds everything at a site that gives it the socket.
func (r *Repository) socket(s site) []Evidence {
	var found []Evidence
	add := func(at value, text string) { found = append(found, Evidence{s.path, at.line, at.col, text}) }
	input := func(key, v value) {
		if isSocketInput(key.text) && s.asks(v) {
			add(key, "the input "+key.text+" is set")
		}
	}
	env := func(vars value) {
		vars.each(func(key, v value) {
			input(key, v)
			if key.text == "DOCKER_HOST" && v.text != "" {
				add(key, "DOCKER_HOST is set")
			}
		})
	}
	s.at.get("with").each(input)
	env(s.at.get("env"))
	if s.step {
		r.socketOfRun(s, add)
		return found
	}
	env(s.root.get("env"))
	container := func(c value) {
		env(c.get("env"))
		for _, v := range append(c.get("volumes").items, c.get("options")) {
			if socketPath.MatchString(s.expand(v.text)) {
				add(v, "the daemon's socket is mounted")
			}
		}
		if o := c.get("options"); privileged.MatchString(s.expand(o.text)) {
			add(o, "the container is privileged")
		}
	}
	container(s.at.get("container"))
	s.at.get("services").each(func(_, c value) { container(c) })
	return found
}

// asks reports whether the value of the input asks for the socket: everything does but a literal false,
// directly or by way of the callers' inputs. What is not known asks.
func (s scope) asks(v value) bool {
	r := s.resolve(v)
	return !r.known || r.text != "false" && r.text != ""
}

func (r *Repository) socketOfRun(s site, add func(value, string)) {
	run := s.at.get("run")
	if args := s.at.at("with", "args"); run.kind == absent {
		run = args // of a docker:// step
	}
	if run.kind != scalar {
		return
	}
	script := s.expand(run.text)
	for _, rule := range []struct {
		match *regexp.Regexp
		text  string
	}{
		{socketPath, "the daemon's socket is named in a command"}, {privileged, "a privileged container is started"},
		{dockerHost, "DOCKER_HOST is set in a command"}, {socketFlag, "--docker-socket is given"},
	} {
		if rule.match.MatchString(script) {
			add(run, rule.text)
		}
	}
	if s.denied() {
		return
	}
	for _, name := range yamlName.FindAllString(script, -1) {
		for known := range r.socketFiles {
			if path.Base(known) == path.Base(name) {
				add(run, known+" mounts the daemon's socket")
			}
		}
	}
}

// denied reports whether what is called has an input for the socket and the caller left it false: then
// the script's mention of a file that mounts the socket is the branch not taken.
func (s scope) denied() bool {
	for name, b := range s.inputs {
		if isSocketInput(name) {
			return b.value.known && (b.value.text == "false" || b.value.text == "")
		}
	}
	return false
}
