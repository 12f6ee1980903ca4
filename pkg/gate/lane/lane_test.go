package lane

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gatehouse-ci/gatehouse/pkg/grant"
)

const (
	nightly  = ".github/workflows/nightly-eval.yml"
	reusable = ".github/workflows/eval-reusable.yml"
	bump     = ".github/workflows/bump-validate.yml"
	wheels   = ".github/workflows/nightly-wheels.yml"
	setup    = ".github/actions/rocm-ci-setup/action.yml"
	sanitize = ".github/workflows/sanitizers-nightly.yml"
	refresh  = ".github/workflows/refresh-baselines.yml"
)

// night is the repository in testdata, in memory, so that a test can change it.
func night(t *testing.T) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	dir := os.DirFS("testdata/nightly")
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, name)
		all[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func audit(t *testing.T, fsys fstest.MapFS) Report {
	t.Helper()
	r, problems := Read(fsys)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var lanes *grant.Lanes
	if f := fsys[grant.DefaultPath]; f != nil {
		var err error
		if lanes, err = grant.Parse(grant.DefaultPath, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	return r.Audit(lanes)
}

func socketLanes(r Report) []string {
	var out []string
	for _, l := range r.Lanes {
		if l.Socket {
			out = append(out, l.Lane)
		}
	}
	return out
}

func TestTheNightHasOneSocketLane(t *testing.T) {
	got := audit(t, night(t))
	if lanes := socketLanes(got); !slices.Equal(lanes, []string{"nightly-eval.yml#eval"}) {
		t.Errorf("got socket lanes %v, want nightly-eval.yml#eval alone", lanes)
	}
	if len(got.Findings) > 0 {
		t.Errorf("got findings:\n%v\nwant none", got.Findings)
	}
	for _, l := range got.Lanes {
		if l.Lane == "nightly-eval.yml#eval" && (!l.Listed || l.Outsiders || !l.SelfHosted || !slices.Equal(l.Events, []string{"workflow_dispatch", "workflow_run"})) {
			t.Errorf("got %+v", l)
		}
		if l.Lane == "bump-validate.yml#validate" && (l.Outsiders || !l.SelfHosted) {
			t.Errorf("got %+v, want the guard against forks seen", l)
		}
	}
}

// edit is one change to a file of the night.
type edit struct{ file, from, to string }

func TestMutations(t *testing.T) {
	const job = "    permissions:\n      actions: read\n"
	tests := map[string]struct {
		edits []edit
		want  []string // each a finding "path:line:col: text [rule]", or part of one
		lanes []string // lanes with the socket, where they are more than the one
	}{
		"socket inside the reusable workflow": {
			[]edit{{reusable, "docker-socket: ${{ inputs.docker_socket }}", "docker-socket: true"}},
			[]string{bump + ":7:3: the lane bump-validate.yml#validate gets the Docker socket and is not signed off: " + reusable + ":34:11: the input docker-socket is set [unlisted-lane]",
				"bump-validate.yml#validate gets the Docker socket and can be started by pull_request, to which no sign-off leads [socket-reach]"},
			[]string{"bump-validate.yml#validate", "nightly-eval.yml#eval"},
		},
		"socket by the reusable workflow's default": {
			[]edit{{reusable, "docker_socket: {type: boolean, default: false}", "docker_socket: {type: boolean, default: true}"}, {bump, "      docker_socket: false\n", ""}},
			[]string{"bump-validate.yml#validate gets the Docker socket and is not signed off"},
			[]string{"bump-validate.yml#validate", "nightly-eval.yml#eval"},
		},
		"socket by the action's default": {
			[]edit{{setup, `default: "false"`, `default: "true"`}},
			[]string{"sanitizers-nightly.yml#sanitizers gets the Docker socket and is not signed off", "refresh-baselines.yml#refresh gets the Docker socket and is not signed off"},
			[]string{"nightly-eval.yml#eval", "refresh-baselines.yml#refresh", "sanitizers-nightly.yml#sanitizers"},
		},
		"socket by an expression": {
			[]edit{{bump, "docker_socket: false", "docker_socket: ${{ contains(github.event.pull_request.labels.*.name, 'socket') }}"}},
			[]string{"bump-validate.yml#validate gets the Docker socket and is not signed off"},
			[]string{"bump-validate.yml#validate", "nightly-eval.yml#eval"},
		},
		"socket mounted by a command": {
			[]edit{{sanitize, "docker exec aorta-ci-gpu", "docker run -v /var/run/docker.sock:/var/run/docker.sock img"}},
			[]string{sanitize + ":16:14: the daemon's socket is named in a command"},
			[]string{"nightly-eval.yml#eval", "sanitizers-nightly.yml#sanitizers"},
		},
		"socket by a compose file": {
			[]edit{{sanitize, "docker exec", "docker compose -f docker/docker-compose.docker-socket.yaml up && docker exec"}},
			[]string{"docker/docker-compose.docker-socket.yaml mounts the daemon's socket"},
			[]string{"nightly-eval.yml#eval", "sanitizers-nightly.yml#sanitizers"},
		},
		"socket in a container's volumes": {
			[]edit{{sanitize, "    permissions:\n", "    container: {image: 'x@sha256:" + strings.Repeat("a", 64) + "', volumes: ['/var/run/docker.sock:/var/run/docker.sock']}\n    permissions:\n"}},
			[]string{"the daemon's socket is mounted"}, []string{"nightly-eval.yml#eval", "sanitizers-nightly.yml#sanitizers"},
		},
		"a privileged service": {
			[]edit{{sanitize, "    permissions:\n", "    services: {dind: {image: 'x@sha256:" + strings.Repeat("a", 64) + "', options: --privileged}}\n    permissions:\n"}},
			[]string{"the container is privileged"}, []string{"nightly-eval.yml#eval", "sanitizers-nightly.yml#sanitizers"},
		},
		"DOCKER_HOST": {
			[]edit{{sanitize, "permissions: {}", "permissions: {}\nenv: {DOCKER_HOST: 'tcp://127.0.0.1:2375'}"}},
			[]string{"DOCKER_HOST is set"}, []string{"nightly-eval.yml#eval", "sanitizers-nightly.yml#sanitizers"},
		},
		"pull_request_target on the socket lane": {
			[]edit{{nightly, "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request_target:\n"}},
			[]string{nightly + ":4:3: pull_request_target gives strangers' pull requests the rights of the repository [dangerous-trigger]"}, nil,
		},
		"pull_request_target on an unguarded socket lane": {
			[]edit{{nightly, "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request_target:\n"}, {nightly, "    if: github.event_name == 'workflow_dispatch' || github.event.workflow_run.conclusion == 'success'\n", ""}},
			[]string{"[dangerous-trigger]", "nightly-eval.yml#eval gets the Docker socket and can be started by pull_request_target by outsiders [socket-reach]"}, nil,
		},
		"pull_request_target checks out the head": {
			[]edit{{bump, "  pull_request:\n", "  pull_request_target:\n"}, {bump, "    if: github.event.pull_request.head.repo.full_name == github.repository\n", ""}},
			[]string{"[dangerous-trigger]", reusable + ":23:15: bump-validate.yml#validate checks out the head of others on self-hosted runners when started by pull_request_target by outsiders [head-checkout]"}, nil,
		},
		"the upstream runs on pull requests": {
			[]edit{{wheels, "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request:\n"}},
			[]string{"nightly-eval.yml#eval gets the Docker socket and can be started by workflow_run after pull_request by outsiders [socket-reach]",
				"nightly-eval.yml#eval checks out the head of others on self-hosted runners"}, nil,
		},
		"a guarded upstream": {
			[]edit{{wheels, "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request:\n"}, {nightly, "|| github.event.workflow_run.conclusion == 'success'", "|| github.event.workflow_run.event == 'schedule'"}},
			nil, nil,
		},
		"an event that the sign-off does not cover": {
			[]edit{{nightly, "on:\n", "on:\n  schedule: [{cron: '0 1 * * *'}]\n"}, {nightly, "github.event_name == 'workflow_dispatch' ||", "github.event_name != 'workflow_run' ||"}},
			[]string{"nightly-eval.yml#eval can be started by schedule, but its sign-off covers workflow_dispatch, workflow_run [lane-conditions]"}, nil,
		},
		"a push": {
			[]edit{{nightly, "on:\n", "on:\n  push:\n"}, {nightly, "github.event_name == 'workflow_dispatch' ||", "github.event_name != 'workflow_run' ||"}},
			[]string{"can be started by push, to which no sign-off leads [socket-reach]"}, nil,
		},
		"the lane renamed": {
			[]edit{{nightly, "  eval:\n    if", "  evaluate:\n    if"}, {nightly, "needs: eval", "needs: evaluate"}},
			[]string{"config/ci/socket_lanes.yaml:3:11: there is no lane nightly-eval.yml#eval [stale-lane]", "nightly-eval.yml#evaluate gets the Docker socket and is not signed off"},
			[]string{"nightly-eval.yml#evaluate"},
		},
		"the socket taken back": {
			[]edit{{nightly, "      docker_socket: true\n", ""}},
			[]string{"config/ci/socket_lanes.yaml:3:11: the lane nightly-eval.yml#eval does not get the socket any more [stale-lane]"}, []string{},
		},
		"another lane's name": {
			[]edit{{sanitize, "      - run: docker exec", "      - uses: ./.github/actions/rocm-ci-setup\n        with: {lane: 'nightly-eval.yml#eval'}\n      - run: docker exec"}},
			[]string{"the lane sanitizers-nightly.yml#sanitizers claims to be nightly-eval.yml#eval [lane-claim]"}, nil,
		},
		"an action by tag": {
			[]edit{{reusable, "actions/checkout@" + strings.Repeat("1", 40), "actions/checkout@v5"}},
			[]string{reusable + ":23:15: actions/checkout@v5 is not pinned to a full commit [unpinned-action]"}, nil,
		},
		"a base image by tag": {
			[]edit{{"docker/Dockerfile.ci-gpu", "rocm/pytorch@sha256:" + strings.Repeat("a", 64), "rocm/pytorch:latest"}},
			[]string{"docker/Dockerfile.ci-gpu:1:6: rocm/pytorch:latest is not pinned to a digest [unpinned-image]"}, nil,
		},
		"a helper image by tag": {
			[]edit{{reusable, "busybox@sha256:" + strings.Repeat("a", 64), "busybox:1.37"}},
			[]string{reusable + ":19:16: busybox:1.37 is not pinned to a digest [unpinned-image]"}, nil,
		},
		"a command's image by tag": {
			[]edit{{reusable, `"$BUSYBOX"`, `busybox:1.37`}},
			[]string{"busybox:1.37 is not pinned to a digest [unpinned-image]"}, nil,
		},
		"an input in a script": {
			[]edit{{refresh, "run: scripts/ci/refresh.sh", "run: |\n          set -e\n          scripts/ci/refresh.sh --entry ${{ inputs.perf_gate_entry }}"}},
			[]string{refresh + `:27:41: "inputs.perf_gate_entry" puts what others write into a script [script-injection]`}, nil,
		},
		"a title in a script": {
			[]edit{{sanitize, "run: docker exec", "run: echo \"${{ github.event.pull_request.title }}\"; docker exec"}},
			[]string{sanitize + `:16:20: "github.event.pull_request.title" puts what others write into a script [script-injection]`}, nil,
		},
		"a harmless expression in a script": {
			[]edit{{sanitize, "run: docker exec", "run: echo ${{ github.sha }}; docker exec"}},
			[]string{`"github.sha" is written into a script before the shell reads it [run-expression]`}, nil,
		},
		"an input in an action's script": {
			[]edit{{setup, `[ "$WITH_SOCKET" = true ]`, `[ "${{ inputs.docker-socket }}" = true ]`}},
			[]string{setup + `:16:15: "inputs.docker-socket" puts what others write into a script [script-injection]`}, nil,
		},
		"no permissions": {
			[]edit{{sanitize, "permissions: {}\n", ""}},
			[]string{sanitize + ":1:1: the workflow states no permissions, so its jobs get the repository's default [missing-permissions]"}, nil,
		},
		"all permissions": {[]edit{{sanitize, "permissions: {}", "permissions: write-all"}}, []string{"write-all is more than any job needs [wide-permissions]"}, nil},
		"a right for every job": {
			[]edit{{nightly, "permissions: {}", "permissions: {contents: write}"}}, []string{"every job of the workflow may write contents [wide-permissions]"}, nil,
		},
		"a right that nothing uses": {
			[]edit{{sanitize, "      contents: read", "      contents: read\n      packages: write"}}, []string{sanitize + ":11:7: no step of the job uses the right to write packages [wide-permissions]"}, nil,
		},
		"a right that the called workflow does not ask for": {
			[]edit{{nightly, job, job + "      packages: write\n"}}, []string{"asks for no right to write packages [wide-permissions]"}, nil,
		},
		"credentials left behind": {
			[]edit{{sanitize, "        with:\n          persist-credentials: false\n", ""}}, []string{sanitize + ":12:15: the checkout leaves the token in .git/config"}, nil,
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			fsys := night(t)
			for _, e := range c.edits {
				text := string(fsys[e.file].Data)
				if !strings.Contains(text, e.from) {
					t.Fatalf("%s: nothing to change: %q", e.file, e.from)
				}
				fsys[e.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, e.from, e.to, 1))}
			}
			got := audit(t, fsys)
			for _, want := range c.want {
				if !strings.Contains(got.Findings.Error(), want) {
					t.Errorf("got findings:\n%v\nand evidence:\n%v\nwant %s", got.Findings, evidence(got), want)
				}
			}
			if len(c.want) == 0 && len(got.Findings) > 0 {
				t.Errorf("got findings:\n%v\nwant none", got.Findings)
			}
			want := c.lanes
			if want == nil {
				want = []string{"nightly-eval.yml#eval"}
			}
			if lanes := socketLanes(got); !slices.Equal(lanes, want) && len(lanes)+len(want) > 0 {
				t.Errorf("got socket lanes %v, want %v", lanes, want)
			}
		})
	}
}

func evidence(r Report) string {
	var lines []string
	for _, l := range r.Lanes {
		for _, e := range l.Evidence {
			lines = append(lines, l.Lane+": "+e.String())
		}
	}
	return strings.Join(lines, "\n")
}

func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"syntax":           {"on: [push\njobs: {}\n", ".github/workflows/w.yml:2:"},
		"empty":            {"", ".github/workflows/w.yml:1:1: the file is empty"},
		"two documents":    {"on: push\n---\non: push\n", "a second document starts here"},
		"merge key":        {"x: &a {b: c}\ny:\n  <<: *a\n", ":3:3: the merge key << is not known"},
		"repeated key":     {"on: push\non: pull_request\n", ":2:1:"},
		"an alias in self": {"on: &a [*a]\n", "w.yml"},
		"a bomb":           {bomb(), "too large with its aliases written out"},
	} {
		_, problems := Read(fstest.MapFS{".github/workflows/w.yml": {Data: []byte(c.text)}})
		if len(problems) != 1 || !strings.Contains(problems.Error(), c.want) || problems[0].Rule != "unreadable-workflow" {
			t.Errorf("%s: got %v, want %s", name, problems, c.want)
		}
	}
}

func bomb() string {
	text := "a0: &a0 [x, x]\n"
	for i := 1; i < 30; i++ {
		n, before := string(rune('a'+i%26))+strings.Repeat("z", i), string(rune('a'+(i-1)%26))+strings.Repeat("z", i-1)
		if i == 1 {
			before = "a0"
		}
		text += n + ": &" + n + " [*" + before + ", *" + before + "]\n"
	}
	return text
}

func TestAnchorsAreFollowed(t *testing.T) {
	const text = "on: schedule\npermissions: {}\njobs:\n  a: &job\n    runs-on: self-hosted\n    steps: [{uses: ./x, with: {docker-socket: 'true'}}]\n  b: *job\n"
	got := audit(t, fstest.MapFS{".github/workflows/w.yml": {Data: []byte(text)}})
	if lanes := socketLanes(got); !slices.Equal(lanes, []string{"w.yml#a", "w.yml#b"}) {
		t.Errorf("got %v, want both", lanes)
	}
}

func TestCallsHaveAnEnd(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 9 {
		text := "on: workflow_call\npermissions: {}\njobs:\n"
		if i == 0 {
			text = "on: schedule\npermissions: {}\njobs:\n"
		}
		for j := range 9 {
			text += fmt.Sprintf("  j%d: {uses: ./.github/workflows/w%d.yml}\n", j, i+1)
		}
		fsys[fmt.Sprintf(".github/workflows/w%d.yml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	if got := evidence(audit(t, fsys)); !strings.Contains(got, "more than can be followed") {
		t.Errorf("got evidence %.200s, want that it cannot be told", got)
	}
	self := "on: [push, workflow_call]\npermissions: {}\njobs:\n  a: {uses: ./.github/workflows/w.yml, needs: [a, b]}\n  b: {uses: ./.github/workflows/w.yml, needs: a}\n"
	if got := audit(t, fstest.MapFS{".github/workflows/w.yml": {Data: []byte(self)}}); len(socketLanes(got)) > 0 || len(got.Lanes) != 2 {
		t.Errorf("got %+v, want two lanes without the socket", got)
	}
}

func TestNoFindingOnOurOwnRepository(t *testing.T) {
	r, problems := Read(os.DirFS("../../.."))
	if got := append(problems, r.Audit(nil).Findings...); len(got) > 0 {
		t.Errorf("got findings:\n%v\nwant none", got)
	}
	if r.Files() == 0 {
		t.Error("read no file, so the test says nothing")
	}
}

func FuzzWorkflow(f *testing.F) {
	for name, file := range nightSeeds(f) {
		if strings.HasSuffix(name, ".yml") {
			f.Add(file)
		}
	}
	f.Add([]byte("on: {workflow_run: {workflows: [w]}}\njobs: {a: {uses: ./.github/workflows/w.yml, with: {x: '${{ inputs.x }}'}}}\n"))
	f.Add([]byte("on: push\njobs: {a: {needs: a, if: '${{', steps: [{run: '${{ a[ }} ${{'}]}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, problems := Read(fstest.MapFS{".github/workflows/w.yml": {Data: text}, "a/action.yml": {Data: text}, "Dockerfile": {Data: text}})
		if len(problems) > 0 {
			return
		}
		for _, p := range r.Audit(nil).Findings {
			if remedy(p.Rule) == "" || p.Path == "" {
				t.Errorf("got %+v, want a known rule and a place", p)
			}
		}
	})
}

func nightSeeds(f *testing.F) map[string][]byte {
	seeds := map[string][]byte{}
	dir := os.DirFS("testdata/nightly")
	fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			seeds[name], err = fs.ReadFile(dir, name)
		}
		return err
	})
	return seeds
}

func TestEveryRuleIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		if r.ID == "" || r.Reason == "" || r.Remedy == "" || seen[r.ID] {
			t.Errorf("rule %+v is incomplete or there twice", r)
		}
		seen[r.ID] = true
		if !strings.Contains(manual, "    "+r.ID+" (") {
			t.Errorf("the manual does not have %s", r.ID)
		}
	}
}
