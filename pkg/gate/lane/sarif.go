package lane

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/gatehouse-ci/gatehouse/pkg/strict"
)

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID               string            `json:"id"`
	ShortDescription sarifText         `json:"shortDescription"`
	FullDescription  sarifText         `json:"fullDescription"`
	Help             sarifText         `json:"help"`
	Configuration    map[string]string `json:"defaultConfiguration"`
	Properties       map[string]any    `json:"properties"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	} `json:"physicalLocation"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			URI     string      `json:"informationUri"`
			Version string      `json:"version,omitempty"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

// sarif is the findings in SARIF 2.1.0, for code scanning.
func sarif(findings strict.Problems, version string) ([]byte, error) {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	driver := &run.Tool.Driver
	driver.Name, driver.URI, driver.Version = "lane-audit", "https://github.com/gatehouse-ci/gatehouse", version
	for _, r := range Rules {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: r.ID, ShortDescription: sarifText{r.Reason}, FullDescription: sarifText{r.Reason}, Help: sarifText{r.Remedy},
			Configuration: map[string]string{"level": level(r)}, Properties: map[string]any{"tags": []string{r.Type}},
		})
	}
	for _, p := range findings {
		i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == p.Rule })
		if i < 0 {
			i = slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == "unreadable-workflow" })
		}
		sum := sha256.Sum256([]byte(p.Path + "\x00" + p.Rule + "\x00" + p.Message))
		result := sarifResult{
			RuleID: Rules[i].ID, RuleIndex: i, Level: level(Rules[i]), Message: sarifText{p.Message}, Locations: make([]sarifLocation, 1),
			Fingerprints: map[string]string{"finding/v1": hex.EncodeToString(sum[:16])},
		}
		at := &result.Locations[0].Physical
		at.Artifact.URI = (&url.URL{Path: p.Path}).EscapedPath()
		at.Region = sarifRegion{max(p.Line, 1), p.Col}
		run.Results = append(run.Results, result)
	}
	return json.MarshalIndent(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []sarifRun{run},
	}, "", "  ")
}

func level(r Rule) string {
	if r.Type == "hygiene" {
		return "warning"
	}
	return "error"
}
