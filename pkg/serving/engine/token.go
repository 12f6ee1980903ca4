package engine

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// NewToken makes a run's marker: the owner's pid, for people, and 80 random bits, so that no other process can carry it
// by chance.
func NewToken(pid int) string {
	return strconv.Itoa(pid) + "-" + strings.ToLower(rand.Text()[:16])
}
