// Package enginesim is an inference server with a known truth.
//
// It speaks what TokenSpeed's server speaks (the serve command line, the
// OpenAI-compatible gateway port, the control port), generates no thought at
// all, and sends its tokens on an absolute schedule that flags or a profile
// file set. What it really sent, and when, stands in its send log: one record
// a request, with CLOCK_MONOTONIC noted before each write. A load generator
// is judged by that log, and a gate by the faults the simulator can be told
// to have.
//
// Start runs a server inside this process, Run is the engine-sim binary, and
// ReadSendLog reads what a server wrote down.
package enginesim
