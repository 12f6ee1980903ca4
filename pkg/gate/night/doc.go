// Package night runs the nightly matrix: one command per entry, its matrix.json harvested, every cell
// judged against the baselines, a breached bound measured a second time, and the whole written to the
// results file, which is complete after every entry and whatever happens to one of them.
package night
