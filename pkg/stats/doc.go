// Package stats is the small arithmetic of samples: quantiles, spread, gaps, distribution distances, exact counts.
//
// Functions are pure. They never change their input, and they say in their comment what an empty sample gives.
package stats
