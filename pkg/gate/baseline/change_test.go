package baseline

import (
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("b.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name, base, head string
		want             []string // of those that are not unchanged
		reason           bool
	}{
		{"nothing", `{e::c: {metrics: {median_tpot_ms: {value: 2}}}}`, `{e::c: {metrics: {median_tpot_ms: {value: 2.0, policy: max}}}}`, nil, false},
		{"a ceiling raised", `{e::c: {metrics: {median_tpot_ms: {value: 2}}}}`, `{e::c: {metrics: {median_tpot_ms: {value: 5}}}}`, []string{"median_tpot_ms loosened from 2 to 5 (+150.0 %)"}, true},
		{"a ceiling lowered", `{e::c: {step_time_ms: {max: 4}}}`, `{e::c: {step_time_ms: {max: 3}}}`, []string{"step_time_ms.max tightened from 4 to 3 (-25.0 %)"}, false},
		{"a floor lowered", `{e::c: {metrics: {gflops: {value: 4}}}}`, `{e::c: {metrics: {gflops: {value: 3}}}}`, []string{"gflops loosened from 4 to 3 (+25.0 %)"}, true},
		{"a floor raised", `{e::c: {metrics: {gflops: {value: 4}}}}`, `{e::c: {metrics: {gflops: {value: 5}}}}`, []string{"gflops tightened from 4 to 5 (-25.0 %)"}, false},
		{"from zero there is no share", `{e::c: {metrics: {gflops: {value: 0}}}}`, `{e::c: {metrics: {gflops: {value: 5}}}}`, []string{"gflops tightened from 0 to 5"}, false},
		{"another checksum", `{e::c: {metrics: {checksum: {value: 7}}}}`, `{e::c: {metrics: {checksum: {value: 8}}}}`, []string{"checksum changed from 7 to 8"}, true},
		{"the same checksum in another spelling", `{e::c: {metrics: {checksum: {value: 7}}}}`, `{e::c: {metrics: {checksum: {value: 7.0}}}}`, nil, false},
		{"no longer required", `{e::c: {metrics: {gflops: {value: 4}}}}`, `{e::c: {metrics: {gflops: {value: 4, required: false}}}}`, []string{"gflops loosened from 4 to 4 (+0.0 %): it is no longer required"}, true},
		{"required again", `{e::c: {metrics: {checksum: {value: 4, required: false}}}}`, `{e::c: {metrics: {checksum: {value: 4}}}}`, []string{"checksum tightened from 4 to 4"}, false},
		{"another policy", `{e::c: {metrics: {x: {policy: max, value: 4}}}}`, `{e::c: {metrics: {x: {policy: min, value: 4}}}}`, []string{"x loosened from 4 to 4 (+0.0 %): its policy was max, is min"}, true},
		{"a gate gained", `{e::c: {passed: true}}`, `{e::c: {metrics: {gflops: {value: 4}}}}`, []string{"gflops gained (4)"}, false},
		{"one of two lost", `{e::c: {step_time_ms: {max: 4}, metrics: {gflops: {value: 4}}}}`, `{e::c: {step_time_ms: {max: 4}}}`, []string{"gflops lost (was 4)"}, true},
		{"reverted to record-only", `{e::c: {step_time_ms: {max: 4}, metrics: {gflops: {value: 4}}}}`, `{e::c: {passed: true}}`, []string{"step_time_ms.max reverted (was 4)", "gflops reverted (was 4)"}, true},
		{"reverted, the checksum kept", `{e::c: {metrics: {gflops: {value: 4}, checksum: {value: 1}}}}`, `{e::c: {metrics: {checksum: {value: 1}}}}`, []string{"gflops reverted (was 4)"}, true},
		{"a checksum alone is no record-only", `{e::c: {metrics: {checksum: {value: 1}}}}`, `{e::c: {passed: true}}`, []string{"checksum lost (was 1)"}, true},
		{"a key lost", `{e::c: {metrics: {gflops: {value: 4}}}, e::d: {}}`, `{e::d: {}}`, []string{"passed lost (was true)", "gflops lost (was 4)"}, true},
		{"a key gained", `{}`, `{e::c: {}}`, []string{"passed gained (true)"}, false},
		{"an expected failure hides its bounds", `{e::c: {metrics: {gflops: {value: 4}}}}`, `{e::c: {passed: false, metrics: {gflops: {value: 4}}}}`, []string{"passed loosened from true to false: the cell is now expected to fail, and none of its bounds is held", "gflops lost (was 4)"}, true},
		{"an expected failure ends", `{e::c: {passed: false}}`, `{e::c: {}}`, []string{"passed gained (true)"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			reason := false
			for _, c := range Compare(parse(t, "baselines: "+tt.base), parse(t, "baselines: "+tt.head)) {
				if c.Became != Unchanged {
					got = append(got, c.String())
				}
				reason = reason || c.WantsReason()
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") || reason != tt.reason {
				t.Errorf("got %q, reason %v; want %q, reason %v", got, reason, tt.want, tt.reason)
			}
		})
	}
}

func TestDrift(t *testing.T) {
	base := parse(t, "baselines: {e::c: {metrics: {median_tpot_ms: {value: 2}}}}")
	head := parse(t, "baselines: {e::c: {metrics: {median_tpot_ms: {value: 2.4, provenance: {first_blessed: 1.6}}}}}")
	for _, c := range Compare(base, head) {
		if drift, ok := c.Drift(); c.Gate == "median_tpot_ms" && (!ok || drift < 0.499 || drift > 0.501) {
			t.Errorf("got drift %v, %v, want 0.5", drift, ok)
		}
	}
}
