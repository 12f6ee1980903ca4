package cell

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gatehouse-ci/gatehouse/pkg/grant"
	"github.com/gatehouse-ci/gatehouse/pkg/recipe"
	"github.com/gatehouse-ci/gatehouse/pkg/report"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

// Door is serve-cell.
var Door = step.Door{
	Name:    "serve-cell",
	Summary: "runs a serving recipe's cells: starts the engine, warms it up, loads it, measures, tears it down",
	Manual:  manual,
	Inputs: []step.Input{
		{Name: "recipe", Kind: step.Path, Arg: "FILE", Help: "The recipe (YAML or JSON), relative to the repository's top."},
		{Name: "output-dir", Kind: step.Path, Arg: "DIR", Help: "Where the run makes its folder, relative to the repository's top."},
		{Name: "cell", Kind: step.List, Arg: "NAME", Help: "Run this cell only."},
		{Name: "strict", Kind: step.Bool, Help: "Accepted for the reference's command lines; a cell that fails always leads to a status other than 0."},
		{Name: "work-dir", Kind: step.Path, Arg: "DIR", Help: "The work root, over TS_SERVE_WORK_DIR and the recipe's work_dir; an absolute path."},
		{Name: "mode", Kind: step.Choice, Default: "run", Choices: []string{"run", "reap"}, Arg: "MODE",
			Help: "Run the cells, or reap: end what killed runs left behind in the work root."},
		{Name: "dry-run", Kind: step.Bool, Help: "Print the plan and check all that can be checked without starting anything."},
		grant.SocketInput,
		grant.LanesInput,
		grant.LaneInput,
	},
	Outputs: []step.Output{
		{Name: "matrix-path", Help: "The matrix.json that was written."},
		{Name: "verdict", Help: "One of passed, failed, error, no_verdict."},
	},
	SelfTest: selfTest,
}

const manual = `A recipe names cells; for each trial of a cell serve-cell starts one engine, waits for its ports
and then for one real streamed token, runs the discarded warm-up steps and the measured steps,
audits each, and ends the engine with everything it started. It writes

    DIR/<ticket or _no_ticket_>/<workload>/<time>/matrix.json, matrix.md, recipe.resolved.yaml, host_env.json, cells/

and rewrites matrix.json after every cell, so that a run that is cut off loses no finished cell.

    serve-cell --recipe bench/recipes/tokenspeed-serve-bench-smoke.yaml --output-dir out/cells
    serve-cell --recipe R --output-dir D --dry-run
    serve-cell --mode reap --recipe R

A small recipe:

    schema_version: 1
    workload: tokenspeed_serve
    trials: 1                  # engines started, one after the other
    steps: 3                   # measured steps against each
    workload_config:
      driver: process
      command: [tokenspeed]    # run as: tokenspeed serve MODEL --host … --port …
      model: Qwen/Qwen3-0.6B
      num_prompts: 32
      max_concurrency: 8
      input_len: 512
      output_len: 128
      warmup_steps: 2
      gates: {max_p99_itl_ms: 50}
    cells:
      - {name: baseline, mitigations: [none], environment: local}

"go doc github.com/gatehouse-ci/gatehouse/pkg/recipe", in a checkout of Gatehouse, lists every key
with its default.

The driver of a cell says how its engine is had: process runs a command of this host, attach uses
an engine that runs already and is never stopped, docker is not in this build yet. It will need
the Docker daemon's socket: in a job the lane must be signed off for it in the default branch's
list, by hand --docker-socket is the grant. One run at a time holds a work root; another is
refused and told who holds it.

A cancelled run ends its engine within seven seconds. What a killed run leaves behind is ended by
the next start, or by --mode reap as a last step with "if: always()": only processes that carry
the mark of a recorded run, and only when the serve-cell that owned them is dead or late.

A step that is spoilt by something known is tagged, and the cell still passes or fails by its
numbers; keys that begin with clean_ leave such steps out. The tags: cold_compile (the first step
waited for a compilation), admission_stall and connect_stall (some first tokens came late, at the
engine's door or for a connection), noisy_neighbour (one step was slower between tokens),
warm_prefix (prompts came from the prefix cache), short_output; client_limited and
load_not_delivered say that nothing can be concluded.

The status is 3 where it could not run (no engine binary, an untrusted or busy work root), and 4
where nothing can be concluded (the run was cancelled, the client was the limit, the load was not
delivered).`

// Run is serve-cell's door.
func Run(ctx context.Context, p step.Proc) int {
	return Door.Run(ctx, p, func(ctx context.Context, s *step.Step) int {
		if s.In.String("mode") == "reap" {
			return reap(ctx, s)
		}
		return serve(ctx, s)
	})
}

// serve checks everything, then runs the cells.
func serve(ctx context.Context, s *step.Step) int {
	var missing strict.Problems
	for _, name := range []string{"recipe", "output-dir"} {
		if !s.In.Given(name) {
			missing = append(missing, strict.Problem{Field: "--" + name, Message: "it is required", Hint: "see serve-cell -help"})
		}
	}
	if missing != nil {
		return s.Finish(step.Usage, nil, missing...)
	}
	r, err := recipe.Load(s.Path(s.In.String("recipe")))
	if err != nil {
		return s.Finish(step.Usage, nil, step.Problems(err)...)
	}
	o := options(s, r)
	for _, w := range r.Warnings {
		s.Say("warning: %s", w)
	}
	found := Check(o)
	if s.In.Bool("dry-run") {
		return dryRun(s, o, found)
	}
	if status := found.Status(); status != step.OK {
		return s.Finish(status, nil, found.All()...)
	}
	done, err := Measure(ctx, o)
	if err != nil {
		return s.Finish(step.CouldNotRun, nil, rootProblem(err))
	}
	return finish(s, done)
}

// options takes the inputs together.
func options(s *step.Step, r *recipe.Recipe) Options {
	path, err := filepath.Rel(s.Root(), r.Path)
	if err != nil || !filepath.IsLocal(path) {
		path = r.Path
	}
	return Options{
		Recipe: r, RecipePath: path, Cells: s.In.List("cell"), OutDir: s.Path(s.In.String("output-dir")), WorkDir: workDir(s),
		Socket:  sync.OnceValue(func() error { return grant.Of(s) }),
		Environ: s.Environ, Tool: strings.TrimSpace("serve-cell " + step.Version), Now: s.Now, Say: s.Say,
		Progress: func(label string, total int64) Progress { return s.Progress(label, total) },
	}
}

// workDir is the work root by --work-dir or TS_SERVE_WORK_DIR; empty leaves it to the recipe.
func workDir(s *step.Step) string {
	if s.In.Given("work-dir") {
		return s.In.String("work-dir")
	}
	return s.Getenv("TS_SERVE_WORK_DIR")
}

// dryRun prints the plan together with everything that stands against it.
func dryRun(s *step.Step, o Options, found Findings) int {
	plan := struct {
		DryRun bool          `json:"dry_run"`
		Cells  []PlannedCell `json:"cells"`
	}{true, []PlannedCell{}}
	if len(found.Refused) == 0 {
		plan.Cells = Plan(o)
	}
	for _, c := range plan.Cells {
		s.Say("%s", c)
	}
	return s.Finish(found.Status(), plan, found.All()...)
}

// finish says what became of the run and gives the exit status.
func finish(s *step.Step, done *Outcome) int {
	type cellLine struct {
		Name    string `json:"name"`
		Verdict string `json:"verdict"`
	}
	doc := struct {
		MatrixPath string     `json:"matrix_path"`
		Verdict    string     `json:"verdict"`
		Canceled   bool       `json:"canceled"`
		Cells      []cellLine `json:"cells"`
	}{done.Path, "", done.Canceled, []cellLine{}}
	var problems strict.Problems
	for i := range done.Matrix.Cells {
		c := &done.Matrix.Cells[i]
		doc.Cells = append(doc.Cells, cellLine{c.Name, Verdict(c)})
		if p, bad := cellProblem(c); bad {
			problems = append(problems, p)
		}
	}
	status, verdict := done.Status()
	doc.Verdict = verdict
	s.Output("matrix-path", done.Path)
	s.Output("verdict", verdict)
	s.Summary(Markdown(done.Matrix))
	s.Say("%s; results in %s", strings.ReplaceAll(verdict, "_", " "), done.Path)
	return s.Finish(status, doc, problems...)
}

// cellProblem is the finding of a cell that did not pass.
func cellProblem(c *report.Cell) (strict.Problem, bool) {
	verdict := Verdict(c)
	if verdict == "passed" {
		return strict.Problem{}, false
	}
	p := strict.Problem{Field: c.Name, Rule: verdict, Message: "the cell did not pass"}
	switch {
	case verdict == "no_verdict":
		p.Message = "nothing can be concluded: " + c.NoVerdict[0]
		if strings.HasPrefix(c.NoVerdict[0], loadgen.TagClientLimited) {
			p.Hint = "the client had to wait for a core: keep other work off the machine and run it again"
		}
	case len(c.Failures) > 0:
		p.Message = mainFailure(c.Failures).Detail
	case c.Error != nil:
		p.Message = *c.Error
	}
	if hints, ok := c.FailureHints.([]string); ok && len(hints) > 0 {
		p.Hint = hints[0]
	}
	return p, true
}

// Status is the exit status of a run and its verdict in a word. A failed cell outweighs one that could not be set up,
// and that one a cell from which nothing can be concluded.
func (o *Outcome) Status() (int, string) {
	status, verdict := step.OK, "passed"
	weight := map[string]int{"passed": 0, "no_verdict": 1, "error": 2, "failed": 3}
	exit := map[string]int{"passed": step.OK, "no_verdict": step.NoVerdict, "error": step.CouldNotRun, "failed": step.Negative}
	if o.Canceled {
		status, verdict = step.NoVerdict, "no_verdict"
	}
	for i := range o.Matrix.Cells {
		if v := Verdict(&o.Matrix.Cells[i]); weight[v] > weight[verdict] {
			status, verdict = exit[v], v
		}
	}
	return status, verdict
}
