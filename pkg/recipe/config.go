package recipe

import (
	"fmt"
	"reflect"
)

// A scope is one cell's merged workload_config while it is checked.
type scope struct {
	*checker
	config
	at   string // of the cell, "cells[2]"
	cell *Cell
	out  *Serve
}

// serving finishes a recipe of the serving workload: each cell gets its own Serve.
func (c *checker) serving(f *file[config]) {
	if f.SaveLogs != nil && *f.SaveLogs {
		c.refuse("save_logs", ruleRefused, "remove it", "save_logs is refused: engine logs are always kept beside the results")
	}
	if f.StopAfter != nil {
		c.refuse("stop_after", ruleRefused, "remove it, and set trials", "stop_after is refused: every cell runs all of its trials, so that nights compare")
	}
	for i := range c.recipe.Cells {
		s := scope{
			checker: c, config: merge(f.WorkloadConfig, f.Cells[i].WorkloadConfig),
			at: fmt.Sprintf("cells[%d]", i), cell: &c.recipe.Cells[i], out: &Serve{},
		}
		s.engine()
		s.load()
		s.rollout()
		s.times()
		s.host()
		s.arguments()
		s.variables()
		s.gates()
		s.conflicts()
		s.cell.Serve = s.out
	}
}

// merge lays the cell's keys over the recipe's.
func merge(recipe, cell config) config {
	merged := reflect.ValueOf(&recipe).Elem()
	own := reflect.ValueOf(cell)
	for i := range own.NumField() {
		if !own.Field(i).IsNil() {
			merged.Field(i).Set(own.Field(i))
		}
	}
	return recipe
}

// field names a key of workload_config where it is written: in the cell, else in the recipe.
func (s *scope) field(key string) string {
	own, shared := s.at+".workload_config."+key, "workload_config."+key
	if !s.recipe.doc.Has(own) && s.recipe.doc.Has(shared) {
		return shared
	}
	return own
}

// given reports whether the key is written in either scope.
func (s *scope) given(key string) bool {
	return s.recipe.doc.Has(s.field(key))
}

func (s *scope) refuse(key, rule, hint, format string, args ...any) {
	s.checker.refuse(s.field(key), rule, hint, format, args...)
}

// or returns the value of a key, or its default.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// whole returns the integer of a key, or its default, held to its range.
func (s *scope) whole(key string, given *whole, otherwise, low, high int64) int64 {
	n := int64(or(given, whole(otherwise)))
	if given != nil && (n < low || n > high) {
		hint := ""
		if n == 0 && low == 1 {
			hint = "leave the key out for the default"
		}
		s.refuse(key, ruleRange, hint, "must be %d to %d, not %d", low, high, n)
	}
	return n
}

// number returns the number of a key, or its default, held to (low, high].
func (s *scope) number(key string, given *float64, otherwise, low, high float64) float64 {
	f := or(given, otherwise)
	if given != nil && !(f > low && f <= high) {
		s.refuse(key, ruleRange, "", "must be above %v and at most %v, not %v", low, high, f)
	}
	return f
}

// choice returns the text of a key, or its default, held to the choices.
func (s *scope) choice(key string, given *text, otherwise string, choices ...string) string {
	value := string(or(given, text(otherwise)))
	for _, c := range choices {
		if c == value {
			return value
		}
	}
	s.refuse(key, ruleUnknown, fmt.Sprintf("use one of %v", choices), "%q is not known", value)
	return value
}
