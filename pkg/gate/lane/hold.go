package lane

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Move is a pinned image whose digest a change moves.
type Move struct {
	// Path, Line and Col are the place of the new digest, or the file alone where the pin is gone.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`

	// Image is the repository of the image; From and To are the digests, To "" where the pin is gone.
	Image string `json:"image"`
	From  string `json:"from"`
	To    string `json:"to"`

	// Held says that a window is open for the image.
	Held bool `json:"held"`
}

// maxHeld is how much of a changed file is looked at, in bytes.
const maxHeld = 64 << 20

type pin struct {
	image, digest string
	line, col     int
}

var pinned = regexp.MustCompile(`([a-z0-9][A-Za-z0-9._/:-]*)@(sha256:[0-9a-f]{64})`)

// pins are the images of a text that are named by digest.
func pins(text string) []pin {
	var all []pin
	line := 0
	for row := range strings.Lines(text) {
		line++
		for _, m := range pinned.FindAllStringSubmatchIndex(row, -1) {
			image := strings.TrimPrefix(row[m[2]:m[3]], "docker://")
			if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
				image = image[:i] // the tag
			}
			all = append(all, pin{image, row[m[4]:m[5]], line, utf8.RuneCountInString(row[:m[2]]) + 1})
		}
	}
	return all
}

// moves compares two texts of a file.
func moves(path, before, after string) []Move {
	old, new := pins(before), pins(after)
	has := func(all []pin, p pin) bool {
		return slices.ContainsFunc(all, func(o pin) bool { return o.image == p.image && o.digest == p.digest })
	}
	var all []Move
	for _, p := range old {
		if has(new, p) {
			continue
		}
		m := Move{Path: path, Image: p.image, From: p.digest}
		for _, n := range new {
			if n.image == p.image && !has(old, n) {
				m.To, m.Line, m.Col = n.digest, n.line, n.col
				break
			}
		}
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// Moves names the pinned images that the work tree moves since it parted from base. Which windows are
// open is what base says, so that a change cannot close one for itself.
func Moves(repo gitrepo.Repo, tree fs.FS, base, lanes string, now time.Time) ([]Move, error) {
	parted, err := repo.MergeBase(base)
	if err != nil {
		return nil, fmt.Errorf("finding where this parted from %s: %w", base, err)
	}
	changed, err := repo.Changed(parted)
	if err != nil {
		return nil, fmt.Errorf("asking what changed since %s: %w", base, err)
	}
	holds, err := holdsAt(repo, parted, lanes)
	if err != nil {
		return nil, err
	}
	var all []Move
	heads := map[string]string{}
	for _, name := range changed {
		text, err := read(tree, name, maxHeld)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // a link or a submodule: git does not keep what is behind it
		}
		heads[name] = string(text)
	}
	for _, name := range changed {
		before, err := repo.Blob(parted, name, maxHeld)
		if errors.Is(err, gitrepo.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s at %s: %w", name, base, err)
		}
		for _, m := range moves(name, string(before), heads[name]) {
			if m.To == "" && kept(heads, m) {
				continue
			}
			m.Held = slices.ContainsFunc(holds, func(h grant.Hold) bool { return h.Open(now) && slices.Contains(h.Images, m.Image) })
			all = append(all, m)
		}
	}
	return all, nil
}

// kept reports whether a pin that left its file stands in another changed file: the file was renamed.
func kept(heads map[string]string, m Move) bool {
	for _, text := range heads {
		if slices.ContainsFunc(pins(text), func(p pin) bool { return p.image == m.Image && p.digest == m.From }) {
			return true
		}
	}
	return false
}

func holdsAt(repo gitrepo.Repo, commit, path string) ([]grant.Hold, error) {
	text, err := repo.Blob(commit, path, strict.MaxYAML)
	if errors.Is(err, gitrepo.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	lanes, err := grant.Parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("reading %s of the base: %w", path, err)
	}
	return lanes.Holds, nil
}

// problem is the finding that a held move is.
func (m Move) problem() strict.Problem {
	p := strict.Problem{Path: m.Path, Line: m.Line, Col: m.Col, Rule: "digest-hold", Hint: remedy("digest-hold")}
	p.Message = fmt.Sprintf("%s moves from %.19s… to %.19s… while a window is open for it", m.Image, m.From, m.To)
	if m.To == "" {
		p.Message = fmt.Sprintf("the pin of %s to %.19s… is gone while a window is open for it", m.Image, m.From)
	}
	return p
}
