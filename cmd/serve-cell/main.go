// Serve-cell runs a serving recipe's cells: starts the engine, warms it up, loads it, measures, tears it down.
//
// Usage:
//
//	serve-cell [--recipe FILE] [--output-dir DIR] [--cell NAME]... [--strict] [--work-dir DIR]
//	    [--mode MODE] [--dry-run] [--docker-socket] [--lanes FILE] [--lane FILE#JOB]
//
// A recipe names cells; for each trial of a cell serve-cell starts one engine, waits for its ports
// and then for one real streamed token, runs the discarded warm-up steps and the measured steps,
// audits each, and ends the engine with everything it started. It writes
//
//	DIR/<ticket or _no_ticket_>/<workload>/<time>/matrix.json, matrix.md, recipe.resolved.yaml, host_env.json, cells/
//
// and rewrites matrix.json after every cell, so that a run that is cut off loses no finished cell.
//
//	serve-cell --recipe bench/recipes/tokenspeed-serve-bench-smoke.yaml --output-dir out/cells
//	serve-cell --recipe R --output-dir D --dry-run
//	serve-cell --mode reap --recipe R
//
// A small recipe:
//
//	schema_version: 1
//	workload: tokenspeed_serve
//	trials: 1                  # engines started, one after the other
//	steps: 3                   # measured steps against each
//	workload_config:
//	  driver: process
//	  command: [tokenspeed]    # run as: tokenspeed serve MODEL --host … --port …
//	  model: Qwen/Qwen3-0.6B
//	  num_prompts: 32
//	  max_concurrency: 8
//	  input_len: 512
//	  output_len: 128
//	  warmup_steps: 2
//	  gates: {max_p99_itl_ms: 50}
//	cells:
//	  - {name: baseline, mitigations: [none], environment: local}
//
// "go doc github.com/gatehouse-ci/gatehouse/pkg/recipe", in a checkout of Gatehouse, lists every key
// with its default.
//
// The driver of a cell says how its engine is had: process runs a command of this host, attach uses
// an engine that runs already and is never stopped, docker is not in this build yet. It will need
// the Docker daemon's socket: in a job the lane must be signed off for it in the default branch's
// list, by hand --docker-socket is the grant. One run at a time holds a work root; another is
// refused and told who holds it.
//
// A cancelled run ends its engine within seven seconds. What a killed run leaves behind is ended by
// the next start, or by --mode reap as a last step with "if: always()": only processes that carry
// the mark of a recorded run, and only when the serve-cell that owned them is dead or late.
//
// A step that is spoilt by something known is tagged, and the cell still passes or fails by its
// numbers; keys that begin with clean_ leave such steps out. The tags: cold_compile (the first step
// waited for a compilation), admission_stall and connect_stall (some first tokens came late, at the
// engine's door or for a connection), noisy_neighbour (one step was slower between tokens),
// warm_prefix (prompts came from the prefix cache), short_output; client_limited and
// load_not_delivered say that nothing can be concluded.
//
// The status is 3 where it could not run (no engine binary, an untrusted or busy work root), and 4
// where nothing can be concluded (the run was cancelled, the client was the limit, the load was not
// delivered).
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--recipe FILE
//	    The recipe (YAML or JSON), relative to the repository's top. [INPUT_RECIPE]
//	--output-dir DIR
//	    Where the run makes its folder, relative to the repository's top. [INPUT_OUTPUT_DIR]
//	--cell NAME
//	    Run this cell only. May be repeated. [INPUT_CELL]
//	--strict
//	    Accepted for the reference's command lines; a cell that fails always leads to a status
//	    other than 0. [INPUT_STRICT]
//	--work-dir DIR
//	    The work root, over TS_SERVE_WORK_DIR and the recipe's work_dir; an absolute path.
//	    [INPUT_WORK_DIR]
//	--mode MODE
//	    Run the cells, or reap: end what killed runs left behind in the work root. One of run,
//	    reap. Default: run. [INPUT_MODE]
//	--dry-run
//	    Print the plan and check all that can be checked without starting anything.
//	    [INPUT_DRY_RUN]
//	--docker-socket
//	    Asks for the Docker daemon's socket. In a job the lane must be signed off for it;
//	    outside a job, by hand, this flag is the operator's own grant. [INPUT_DOCKER_SOCKET]
//	--lanes FILE
//	    The list of socket lanes, a file of the repository. In a job it is read from the default
//	    branch as fetched, not from the checkout. Default: config/ci/socket_lanes.yaml.
//	    [INPUT_LANES]
//	--lane FILE#JOB
//	    The socket lane that this job claims to be: the workflow that the event starts and its
//	    job, such as nightly-eval.yml#eval. [INPUT_LANE]
//	-h, -help
//	    Print this manual.
//	--version
//	    Print the version.
//	--self-test
//	    Prove offline, without hardware and in under a second, that the binary works here.
//	--describe
//	    Print the tables of this manual as JSON.
//
// Outputs of the step, in a job:
//
//	matrix-path
//	    The matrix.json that was written.
//	verdict
//	    One of passed, failed, error, no_verdict.
//
// Exit status:
//
//	0  done, or pass
//	1  a negative result: a regression, a finding, a failed cell, an invalid file
//	2  bad usage or unreadable input
//	3  could not run: something needed is not there
//	4  no verdict: it ran, and nothing can be concluded
//
// Standard output carries one JSON document; text for people goes to standard error.
package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/cell"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(cell.Run)) }
