package lane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-ci/gatehouse/pkg/gitrepo"
	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/google/renameio/v2"
)

var door = step.Door{
	Name:    "lane-audit",
	Summary: "says which workflow lanes can reach the Docker socket, who can trigger them, which image digests moved",
	Manual:  manual,
	Inputs: []step.Input{
		{Name: "root", Kind: step.Path, Arg: "DIR", Help: "The repository to audit, from the working directory; left out it is the one that the working directory is in."},
		{Name: "lanes", Kind: step.Path, Arg: "FILE", Default: grant.DefaultPath, Help: "The list of socket lanes, from the repository's root. Where the default is absent no lane is signed off."},
		{Name: "digest-hold", Kind: step.Bool, Help: "Also names the pinned image digests that moved since --base, and fails on one for which a window of the list's digest_hold is open."},
		{Name: "base", Kind: step.String, Arg: "REF", Help: "What --digest-hold compares with, such as origin/main."},
		{Name: "sarif", Kind: step.Path, Arg: "FILE", Help: "Also writes the findings as SARIF 2.1.0, for code scanning, from the repository's root."},
	},
	Outputs: []step.Output{
		{Name: "findings", Help: "The number of findings."},
		{Name: "socket-lanes", Help: "The lanes that get the socket, one per line."},
	},
	SelfTest: selfTest,
}

var manual = `A lane is one job of one workflow that an event starts, written FILE#JOB. Who can talk to the Docker daemon is root on its
host, so each lane that gets the socket is to be signed off in the list:

    version: 1
    lanes:
      - lane: nightly-eval.yml#eval
        reason: the serving entries start their engine as a sibling container
        signed_off_by: the maintainers
        who_may_trigger: whoever may push to this repository
        events: [workflow_run, workflow_dispatch]   # of schedule, workflow_dispatch, workflow_run
        date: 2026-09-03
    digest_hold:
      - {images: [ghcr.io/example/engine], since: 2026-09-08, until: 2026-09-17, reason: ten nights}

lane-audit reads .github/workflows, every action.yml, and Dockerfiles, follows reusable workflows and local actions with
the inputs that each call binds, and judges each job's if: for each event that starts its workflow. A lane gets the socket
by a docker-socket input (docker_socket too) that is anything but left out or a literal false; by a mount of the socket in
a container, a service or a command; by a compose file that mounts it; by DOCKER_HOST; by a privileged container. What
cannot be told counts as granted. Actions and workflows of other repositories are not read, only what is handed to them,
which is why they are to be pinned. Commands that a self-hosted runner's account runs on its own are not seen: that account
is trusted or it is not.

    lane-audit
    lane-audit --digest-hold --base origin/main --sarif lanes.sarif

The run-time check of serve-cell and nightly-eval obeys the same list, as the default branch has it. Both guard against
mistakes; the boundary is runner groups and branch rules.

The rules:

` + manualOfRules() + `

Exit status 1 is a finding; 2 a file that cannot be read, of which nothing can be said; 4 a repository without any
workflow or action.`

// Run is the door of lane-audit.
func Run(ctx context.Context, p step.Proc) int { return door.Run(ctx, p, run) }

type document struct {
	Files    int    `json:"files"`
	Lanes    []Lane `json:"lanes"`
	Moves    []Move `json:"moves,omitempty"`
	Findings int    `json:"findings"`
}

func run(_ context.Context, s *step.Step) int {
	dir := s.Root()
	if s.In.Given("root") {
		dir = s.DirPath(s.In.String("root"))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s.Finish(step.Usage, nil, strict.Problem{Field: "--root", Message: err.Error(), Hint: "name the folder of a repository"})
	}
	defer root.Close()
	if s.In.Bool("digest-hold") && !s.In.Given("base") {
		return s.Finish(step.Usage, nil, strict.Problem{Field: "--base", Message: "--digest-hold compares with nothing", Hint: "name the branch that the change is for, such as --base origin/main"})
	}
	repository, unreadable := Read(root.FS())
	lanes, err := readLanes(s, root)
	if err != nil {
		unreadable = append(unreadable, step.Problems(err)...)
	}
	report := repository.Audit(lanes)
	doc := document{Files: repository.Files(), Lanes: report.Lanes}
	if doc.Lanes == nil {
		doc.Lanes = []Lane{}
	}
	if s.In.Bool("digest-hold") {
		doc.Moves, err = Moves(gitrepo.At(dir), root.FS(), s.In.String("base"), filepath.ToSlash(filepath.Clean(s.In.String("lanes"))), s.Now())
		if err != nil {
			return s.Finish(step.CouldNotRun, nil, strict.Problem{Field: "--base", Message: err.Error(), Hint: "fetch the base and its history: a shallow clone does not have it"})
		}
		for _, m := range doc.Moves {
			s.Say("%s: %s moves from %.19s to %.19s", m.Path, m.Image, m.From, m.To)
			if m.Held {
				report.Findings = append(report.Findings, m.problem())
			}
		}
	}
	return finish(s, dir, doc, report.Findings.Sort(), unreadable)
}

func finish(s *step.Step, dir string, doc document, findings, unreadable strict.Problems) int {
	doc.Findings = len(findings)
	s.Text(table(doc.Lanes))
	s.Summary(markdown(doc.Lanes))
	var socket []string
	for _, l := range doc.Lanes {
		if l.Socket {
			socket = append(socket, l.Lane)
		}
	}
	s.Output("findings", fmt.Sprint(len(findings)))
	s.Output("socket-lanes", strings.Join(socket, "\n"))
	all := append(unreadable, findings...)
	if s.In.Given("sarif") {
		path := s.In.String("sarif")
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := sarif(all, step.Version)
		if err == nil {
			err = renameio.WriteFile(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			return s.Finish(step.CouldNotRun, doc, append(strict.Problems{{Field: "--sarif", Message: err.Error(), Hint: "name a file in a folder that exists"}}, all...)...)
		}
	}
	switch {
	case len(unreadable) > 0:
		return s.Finish(step.Usage, doc, all...)
	case len(findings) > 0:
		return s.Finish(step.Negative, doc, all...)
	case doc.Files == 0:
		return s.Finish(step.NoVerdict, doc, strict.Problem{Field: "--root", Message: "there is no workflow and no action", Hint: "name the repository's top"})
	}
	return s.Done(doc)
}

// readLanes reads the list of the work tree: what a reviewer looks at.
func readLanes(s *step.Step, root *os.Root) (*grant.Lanes, error) {
	path := s.In.String("lanes")
	text, err := root.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !s.In.Given("lanes") {
		return nil, nil
	}
	if err != nil {
		return nil, strict.Problem{Path: path, Message: err.Error(), Rule: strict.RuleUnreadable, Hint: "name a file of the repository"}
	}
	return grant.Parse(path, text)
}

// rows are the table of lanes for people: those with the socket first.
func rows(lanes []Lane) [][]string {
	var with, without [][]string
	for _, l := range lanes {
		row := []string{l.Lane, "no", strings.Join(l.Events, " "), yesNo(l.Outsiders), yesNo(l.SelfHosted), yesNo(l.Listed)}
		if l.Socket {
			row[1] = "yes"
			with = append(with, row)
		} else {
			without = append(without, row)
		}
	}
	return append(with, without...)
}

var columns = []string{"lane", "socket", "started by", "outsiders", "self-hosted", "signed off"}

func table(lanes []Lane) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	for _, row := range rows(lanes) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	return b.String()
}

func markdown(lanes []Lane) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Lanes\n\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range rows(lanes) {
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(row, " | "), "`", ""))
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// selfTest audits a lane that gets the socket from a pull request.
func selfTest(context.Context, *step.Step) error {
	const workflow = "on: pull_request\npermissions: {}\njobs:\n  a:\n    runs-on: self-hosted\n    steps: [{uses: ./x, with: {docker-socket: true}}]\n"
	dir, err := os.MkdirTemp("", "lane-audit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(filepath.Join(dir, workflowDir), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, workflowDir, "w.yml"), []byte(workflow), 0o644); err != nil {
		return err
	}
	r, problems := Read(os.DirFS(dir))
	report := r.Audit(nil)
	if len(problems) > 0 || len(report.Lanes) != 1 || !report.Lanes[0].Socket || len(report.Findings) != 3 {
		return fmt.Errorf("a pull request with the socket: got %+v", report)
	}
	return nil
}
