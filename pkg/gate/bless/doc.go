// Package bless turns what was measured into bounds, and holds bounds to what was measured. A refresh
// derives them, from a window of nights or from one run, and changes the baselines file by the bytes of
// the keys it is about; a check reads the file of a pull request against its base and against the
// history, and lets no gate be lost or loosened without a reason.
package bless
