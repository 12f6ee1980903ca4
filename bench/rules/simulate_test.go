package main

import "testing"

// A short simulation agrees with the published figures within its own, larger, sampling error.
func TestRules(t *testing.T) {
	for _, row := range published {
		t.Run(row.String(), func(t *testing.T) {
			t.Parallel()
			for _, text := range row.off(simulate(row.World, row.Policy, row.Nights, 800, 1), 4) {
				t.Error(text)
			}
		})
	}
}

// What the rules are for: confirming brings false alarms down to their square, and the screened bound sees
// what the reference's is blind to.
func TestWhyConfirmAndScreen(t *testing.T) {
	const windows = 400
	once, twice := simulate(rare, screened, 10, windows, 2), simulate(rare, confirmed, 10, windows, 2)
	if once.FalseAlarms.Mean < 20*twice.FalseAlarms.Mean {
		t.Errorf("false alarms: got %.2f and %.2f with a re-run, want less than a twentieth", once.FalseAlarms.Mean, twice.FalseAlarms.Mean)
	}
	blind := simulate(rare, extremum, 10, windows, 2)
	if blind.Sees20.Mean > 0.2 || twice.Sees20.Mean < 0.9 {
		t.Errorf("+20 %%: got %.2f for the extremum and %.2f for the screened rule", blind.Sees20.Mean, twice.Sees20.Mean)
	}
}
