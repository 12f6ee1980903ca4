package recipe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWords(t *testing.T) {
	tests := []struct {
		text string
		want []string
		why  string // a part of the refusal
	}{
		{"", nil, ""},
		{"  --a  1\t--b=2\n--c ", []string{"--a", "1", "--b=2", "--c"}, ""},
		{`--a 'x  y' "p \"q\" \n" r\ s`, []string{"--a", "x  y", `p "q" \n`, "r s"}, ""},
		{`--body '{"n": [1, 2]}' --g *.txt ~/x {a,b}`, []string{"--body", `{"n": [1, 2]}`, "--g", "*.txt", "~/x", "{a,b}"}, ""},
		{`a""b ''`, []string{"ab", ""}, ""},
		{"a \\\n b", []string{"a", "b"}, ""},
		{`é\é`, []string{"éé"}, ""},
		{"a#b", []string{"a#b"}, ""},
		{"a $HOME", nil, "expansions"},
		{`a "$(id)"`, nil, "expansions"},
		{"a `id`", nil, "expansions"},
		{"a $'x'", nil, "$'…'"},
		{"a ${x:-b}", nil, "expansions"},
		{"a # b", nil, "comment"},
		{"# b", nil, "comment"},
		{"a; rm b", nil, "cannot be split"},
		{"a | b", nil, "cannot be split"},
		{"a > b", nil, "cannot be split"},
		{"'a", nil, "cannot be split"},
	}
	for _, tt := range tests {
		got, why := splitWords(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
		if (tt.why == "") != (why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%q: got refusal %q, want %q", tt.text, why, tt.why)
		}
	}
}

func TestOwnedFlags(t *testing.T) {
	for _, flag := range append(append([]string{}, ownedServe...), ownedBench...) {
		owned := ownedBench
		if strings.Contains(strings.Join(ownedServe, " ")+" ", flag+" ") {
			owned = ownedServe
		}
		for end := 3; end < len(flag); end++ {
			// A prefix that is a flag of its own in the list is refused as that.
			if got := ownedFlags([]string{flag[:end] + "=1"}, owned); len(got) != 1 {
				t.Errorf("prefix %s of %s: got %v, want it refused", flag[:end], flag, got)
			}
		}
		if got := ownedFlags([]string{"x", flag}, owned); flag != drainFlag && (len(got) != 1 || got[0].index != 1) {
			t.Errorf("%s: got %v, want argument 1 refused", flag, got)
		}
	}
	for _, args := range [][]string{
		{"--attention-backend", "triton"}, {"--hosts-file", "x"}, {"-p", "1"}, {"--"}, {"port"}, {"--kvstore-size=128"}, {"--drain-timeout", "3"},
	} {
		if got := ownedFlags(args, ownedServe); len(got) != 0 {
			t.Errorf("%v: got %v, want it allowed", args, got)
		}
	}
}

func TestDockerFlags(t *testing.T) {
	protected := func(v string) string { return ownedVariable(v, "MY_TOKEN") }
	allowed := [][]string{
		{}, {"--init"}, {"--cpuset-cpus", "0-3"}, {"--cpuset-cpus=0-3", "--init", "-it"}, {"-e", "A=1"}, {"-eA=1"}, {"-e=A=1"},
		{"-ieA=1"}, {"--env", "A=1"}, {"--env=A"}, {"-m", "4g"}, {"-m4g"}, {"--ulimit", "memlock=-1"}, {"--userns=host"}, {"--ip", "1.2.3.4"},
		{"-p", "80:80"}, {"--label", "a=b"},
	}
	for _, args := range allowed {
		if got := dockerFlags(args, protected); len(got) != 0 {
			t.Errorf("%v: got %v, want it allowed", args, got)
		}
	}
	refused := [][]string{
		{"-v", "/x:/y"}, {"-v/x:/y"}, {"-v=/x:/y"}, {"-u", "0"}, {"-u0:0"}, {"-d"}, {"-dit"}, {"-itd"}, {"-itu0"},
		{"-e", "HF_TOKEN"}, {"-e=HF_TOKEN=v"}, {"-ieMY_TOKEN=v"}, {"-eTS_MODEL=v"}, {"--env", "HOME=/x"}, {"--env=HF_HOME=/x"},
		{"-e", "HIP_VISIBLE_DEVICES=0"}, {"ubuntu"}, {"--init", "ubuntu"}, {"--cpus=2", "ubuntu"}, {"--"}, {"-"}, {""}, {"-z"},
		{"--label", "-v"}, {"--cpuset-cpus", "0-3", "ubuntu"},
	}
	for _, flag := range ownedDockerLong {
		refused = append(refused, []string{flag, "x"}, []string{flag + "=x"})
	}
	for _, args := range refused {
		if got := dockerFlags(args, protected); len(got) == 0 {
			t.Errorf("%v: got it allowed, want it refused", args)
		}
	}
	if got := dockerFlags([]string{"-it", "--label", "a=b", "-e", "HOME=x"}, protected); len(got) != 1 || got[0].index != 3 {
		t.Errorf("got %v, want argument 3 refused", got)
	}
}

func TestMitigationsThatDisagree(t *testing.T) {
	mitigations["test_a"], mitigations["test_b"] = map[string]string{"X": "1"}, map[string]string{"X": "2"}
	defer func() { delete(mitigations, "test_a"); delete(mitigations, "test_b") }()
	_, err := Parse("f", []byte("schema_version: 1\nworkload: tokenspeed_serve\ntrials: 1\nsteps: 1\ncells: [{name: a, mitigations: [test_a, test_b]}]\n"))
	want := "f:5:41: cells[0].mitigations[1]: sets X=2, but test_a sets it to 1 [conflict]"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
