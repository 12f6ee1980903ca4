package lane

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSARIF holds the output to the schema that OASIS publishes.
func TestSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	published, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", published); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, findings := range map[string]strict.Problems{
		"none": nil,
		"some": {
			{Path: ".github/workflows/a b.yml", Line: 3, Col: 7, Message: "m", Rule: "run-expression"},
			{Path: "config/ci/socket_lanes.yaml", Message: "unknown key", Rule: "unknown-key"},
		},
	} {
		out, err := sarif(findings, "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got struct{ Runs []sarifRun }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		results := got.Runs[0].Results
		if len(results) != len(findings) {
			t.Fatalf("%s: got %d results, want %d", name, len(results), len(findings))
		}
		if name == "none" {
			continue
		}
		first, second := results[0], results[1]
		at := first.Locations[0].Physical
		if first.RuleID != "run-expression" || first.Level != "warning" || at.Artifact.URI != ".github/workflows/a%20b.yml" || at.Region != (sarifRegion{3, 7}) {
			t.Errorf("got %+v", first)
		}
		if Rules[second.RuleIndex].ID != "unreadable-workflow" || second.Locations[0].Physical.Region.StartLine != 1 {
			t.Errorf("got %+v, want it as unreadable, at line 1", second)
		}
	}
	bad := strings.NewReader(`{"version": "2.1.0", "runs": [{"results": []}]}`)
	doc, _ := jsonschema.UnmarshalJSON(bad)
	if schema.Validate(doc) == nil {
		t.Error("a run without a tool: got valid, so the schema checks nothing")
	}
}
