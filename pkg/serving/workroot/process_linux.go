package workroot

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(raw)
}

// ParseStat reads the text of /proc/PID/stat. The command name stands in brackets and may itself hold brackets and
// blanks, so the fields are counted from the last closing one.
func ParseStat(raw []byte) (Stat, error) {
	open, closing := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 1 || closing < open {
		return Stat{}, fmt.Errorf("reading a process status: no command name in %q", raw)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(raw[:open])))
	if err != nil {
		return Stat{}, fmt.Errorf("reading a process status: %w", err)
	}
	fields := bytes.Fields(raw[closing+1:]) // fields[0] is field 3 of proc(5)
	if len(fields) < 20 || len(fields[0]) != 1 {
		return Stat{}, fmt.Errorf("reading a process status: %d fields after the name, want at least 20", len(fields))
	}
	s := Stat{PID: pid, State: fields[0][0]}
	for i, into := range []*int{&s.Parent, &s.Group, &s.Session} {
		if *into, err = strconv.Atoi(string(fields[1+i])); err != nil {
			return Stat{}, fmt.Errorf("reading a process status: %w", err)
		}
	}
	if s.Start, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return Stat{}, fmt.Errorf("reading a process status: %w", err)
	}
	return s, nil
}
