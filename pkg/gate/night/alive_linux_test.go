package night

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	s, ok := readStat(pid)
	return ok && s.state != 'Z' && s.state != 'X'
}
