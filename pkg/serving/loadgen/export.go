package loadgen

import (
	"bytes"
	"encoding/json"
)

// Field is one key of an export.
type Field struct {
	Key   string
	Value any
}

// Export is an ordered JSON object.
type Export []Field

// MarshalJSON writes the fields in order.
func (e Export) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range e {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get returns the value of key.
func (e Export) Get(key string) (any, bool) {
	for _, f := range e {
		if f.Key == key {
			return f.Value, true
		}
	}
	return nil, false
}

// Float returns the number under key as float64; false when absent or no number.
func (e Export) Float(key string) (float64, bool) {
	v, _ := e.Get(key)
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// Export renders the step: TokenSpeed's keys first, then our own. detailed adds the per-request arrays.
func (r *Result) Export(detailed bool) Export {
	return nil
}

// Pool takes percentiles over the requests of several steps together. For each metric m it gives pooled_n_m (the
// sample's size) and pooled_pNN_m_ms.
func Pool(percentiles []float64, results ...*Result) Export {
	return nil
}
