package ghapitest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// published is what testdata/extract.mjs took out of GitHub's OpenAPI description.
//
//go:embed testdata/openapi.json
var published []byte

// schema is a JSON Schema as decoded.
type schema = map[string]any

// endpoint is one published endpoint.
type endpoint struct {
	Path      map[string]schema `json:"path"`
	Query     map[string]schema `json:"query"`
	Request   schema            `json:"request"`
	Responses map[string]schema `json:"responses"`

	name    string // "GET /repos/{owner}/{repo}"
	method  string
	pattern *regexp.Regexp
	params  []string
}

type description struct {
	Endpoints map[string]*endpoint `json:"endpoints"`
	Defs      map[string]schema    `json:"$defs"`

	// mu guards compiler, which compiles on first use; a compiled schema is safe to share.
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

// described parses the description once.
var described = sync.OnceValue(func() *description {
	d := &description{compiler: jsonschema.NewCompiler()}
	if err := json.Unmarshal(published, d); err != nil {
		panic(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	if err != nil {
		panic(err)
	}
	if err := d.compiler.AddResource("openapi.json", whole); err != nil {
		panic(err)
	}
	placeholder := regexp.MustCompile(`\\\{(\w+)\\\}`)
	for name, e := range d.Endpoints {
		method, path, _ := strings.Cut(name, " ")
		e.name, e.method = name, method
		quoted := regexp.QuoteMeta(path)
		for _, m := range placeholder.FindAllStringSubmatch(quoted, -1) {
			e.params = append(e.params, m[1])
		}
		e.pattern = regexp.MustCompile("^" + placeholder.ReplaceAllString(quoted, "([^/]+)") + "$")
	}
	return d
})

// find is the endpoint of a request and the values in its path.
func (d *description) find(method, escapedPath string) (*endpoint, map[string]string) {
	for _, e := range d.Endpoints {
		m := e.pattern.FindStringSubmatch(escapedPath)
		if e.method != method || m == nil {
			continue
		}
		values := map[string]string{}
		for i, name := range e.params {
			values[name], _ = url.PathUnescape(m[i+1])
		}
		return e, values
	}
	return nil, nil
}

// checkRequest says how a request departs from the description.
func (d *description) checkRequest(e *endpoint, path map[string]string, query url.Values, body []byte) []string {
	var wrong []string
	for name, value := range path {
		if problem := d.checkParameter(e.Path[name], value); problem != "" {
			wrong = append(wrong, fmt.Sprintf("%s: path parameter %s: %s", e.name, name, problem))
		}
	}
	for name, values := range query {
		s, ok := e.Query[name]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s: it has no query parameter %s", e.name, name))
			continue
		}
		for _, value := range values {
			if problem := d.checkParameter(s, value); problem != "" {
				wrong = append(wrong, fmt.Sprintf("%s: query parameter %s: %s", e.name, name, problem))
			}
		}
	}
	if e.Request == nil {
		if len(body) > 0 {
			wrong = append(wrong, e.name+": it takes no body")
		}
		return wrong
	}
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		return append(wrong, fmt.Sprintf("%s: the body is no JSON object: %v", e.name, err))
	}
	properties, _ := d.resolve(e.Request)["properties"].(schema)
	for key := range value {
		if _, ok := properties[key]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: the body has no key %s", e.name, key))
		}
	}
	if err := d.validate(pointer("endpoints", e.name, "request"), body); err != nil {
		wrong = append(wrong, fmt.Sprintf("%s: body: %v", e.name, err))
	}
	return wrong
}

// checkParameter holds the text of a parameter to its type.
func (d *description) checkParameter(s schema, text string) string {
	s = d.resolve(s)
	kinds := []any{s["type"]}
	for _, branch := range branches(s) {
		kinds = append(kinds, d.resolve(branch)["type"])
	}
	if slices.Contains(kinds, any("string")) || len(kinds) == 1 && kinds[0] == nil {
		if values, ok := s["enum"].([]any); ok && !slices.Contains(values, any(text)) {
			return fmt.Sprintf("%q is none of %v", text, values)
		}
		return ""
	}
	if slices.Contains(kinds, any("boolean")) && (text == "true" || text == "false") {
		return ""
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && slices.Contains(kinds, any("integer")) {
		return ""
	}
	return fmt.Sprintf("%q is no %v", text, kinds)
}

// checkAnswer holds the body of an answer to the description of its status.
func (d *description) checkAnswer(e *endpoint, status int, body []byte) error {
	code := strconv.Itoa(status)
	s, ok := e.Responses[code]
	if !ok {
		return fmt.Errorf("%s: no answer with status %s is described", e.name, code)
	}
	if s == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s: an answer with status %s has no body", e.name, code)
		}
		return nil
	}
	if err := d.validate(pointer("endpoints", e.name, "responses", code), body); err != nil {
		return fmt.Errorf("%s: answer %s: %w", e.name, code, err)
	}
	return nil
}

func (d *description) validate(at string, body []byte) error {
	d.mu.Lock()
	compiled, err := d.compiler.Compile("openapi.json#" + at)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// pointer is the JSON pointer of keys, escaped for a URL fragment.
func pointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		key = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		b.WriteString("/" + url.PathEscape(key))
	}
	return b.String()
}
