// Package recipe reads recipes: which cells a workload is measured in, how often, under which
// mitigations, and, for the serving workload, with which engine, load and bounds.
//
// The format is the reference tool's triage recipe (YAML or JSON). Reading is strict: every key, type,
// range and combination is checked before anything starts, and all problems are reported at once, each
// with path, line, column and field. A recipe of another workload than [Serving] is checked in its
// generic part; its workload_config is left as written.
package recipe
