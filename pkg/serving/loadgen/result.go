package loadgen

import "time"

// Clock says which clock stamped the events.
type Clock string

const (
	// KernelClock: the kernel's receive stamps (SO_TIMESTAMPNS), converted to the monotonic clock.
	KernelClock Clock = "kernel"
	// UserClock: taken when the read returned, so scheduling, decryption and parsing delay it.
	UserClock Clock = "user"
)

// Tags that a step can carry. They never change a measured number.
const (
	// TagClientLimited: the client was short of CPU or woke up late; its numbers are its own, not the engine's.
	TagClientLimited = "client_limited"
	// TagLoadNotDelivered: the engine did not see the planned concurrency or rate.
	TagLoadNotDelivered = "load_not_delivered"
	// TagConnectStall: a connection took a SYN retransmission or more than 0.9 s.
	TagConnectStall = "connect_stall"
	// TagShortOutput: outputs shorter than planned.
	TagShortOutput = "short_output"
	// TagWarmPrefix: the engine reports prompt tokens served from its cache.
	TagWarmPrefix = "warm_prefix"
)

// Result is one step as it happened.
type Result struct {
	// Plan is what was asked for, with defaults filled in. APIKey and TLS are left out.
	Plan Plan
	// Started is the wall clock at Start; Start and End bound the measured part, monotonic nanoseconds.
	Started    time.Time
	Start, End int64
	// Clock says which clock stamped the events.
	Clock Clock
	// Requests are the measured requests by index, Warmups the untimed ones.
	Requests, Warmups []Request
	// Audit is what the step knows about its own truth.
	Audit Audit
	// Tags name what spoils the numbers, sorted; Reasons gives a sentence for each.
	Tags    []string
	Reasons map[string]string
}

// Audit is what a step knows about its own truth.
type Audit struct {
	Stimulus Stimulus `json:"stimulus"`
	InFlight InFlight `json:"in_flight"`
	Client   Client   `json:"client"`
	Connect  Connect  `json:"connect"`
	Network  Network  `json:"network"`
}

// Stimulus compares the load with the plan.
type Stimulus struct {
	// Loop is "closed" (next request when a slot is free) or "open" (arrivals on a schedule).
	Loop string `json:"loop"`
	// PlannedRate and AchievedRate are arrivals in 1/s of an open loop; 0 in a closed one.
	PlannedRate  float64 `json:"planned_rate"`
	AchievedRate float64 `json:"achieved_rate"`
	// GapKS is the Kolmogorov-Smirnov distance between the achieved gaps and the planned distribution, GapKSLimit the
	// distance that chance exceeds once in a thousand; 0 when not tested.
	GapKS      float64 `json:"gap_ks"`
	GapKSLimit float64 `json:"gap_ks_limit"`
	// LagP50Ms, LagP99Ms and LagMaxMs are t0 - intended start of an open loop.
	LagP50Ms float64 `json:"lag_p50_ms"`
	LagP99Ms float64 `json:"lag_p99_ms"`
	LagMaxMs float64 `json:"lag_max_ms"`
	// NotSent counts planned requests that never went out.
	NotSent int `json:"not_sent"`
}

// InFlight is the exact sweep over sends and ends.
type InFlight struct {
	// Planned is what a closed loop should hold, 0 in an open one.
	Planned int `json:"planned"`
	// Peak is the greatest number at once, Mean the time-weighted mean over the step.
	Peak int     `json:"peak"`
	Mean float64 `json:"mean"`
	// PlateauMean is the time-weighted mean from the last first-wave send to the last send: the part of a closed loop
	// that should be full; 0 when there is none.
	PlateauMean float64 `json:"plateau_mean"`
	// SteadyStart and SteadyEnd bound the longest span near the peak, seconds from the step's start.
	SteadyStart float64 `json:"steady_start_s"`
	SteadyEnd   float64 `json:"steady_end_s"`
}

// Client is the audit of the client itself.
type Client struct {
	// CPUShare is CPU time over wall time times the cores this process may use.
	CPUShare float64 `json:"cpu_share"`
	// Cores is the number of cores this process may use.
	Cores int `json:"cores"`
	// RunDelayShare is time its threads waited for a core, over wall time; -1 when the kernel does not say.
	RunDelayShare float64 `json:"run_delay_share"`
	// LagP50Ms, LagP99Ms and LagMaxMs are read lag: from the kernel's stamp to the read (kernel clock), or the
	// overshoot of a 10 ms timer (user clock).
	LagP50Ms float64 `json:"lag_p50_ms"`
	LagP99Ms float64 `json:"lag_p99_ms"`
	LagMaxMs float64 `json:"lag_max_ms"`
	// GCCycles and GCPauseMs are collections during the step.
	GCCycles  int     `json:"gc_cycles"`
	GCPauseMs float64 `json:"gc_pause_ms"`
	// Events, Reads and Coalesced count over all requests; CoalescedShare is Coalesced/Events.
	Events         int     `json:"events"`
	Reads          int     `json:"reads"`
	Coalesced      int     `json:"coalesced"`
	CoalescedShare float64 `json:"coalesced_share"`
	// ClockSteps counts jumps of the wall clock against the monotonic one, by which kernel stamps are converted.
	ClockSteps int `json:"clock_steps"`
}

// Connect is the phase before the clock starts, and what was dialled later.
type Connect struct {
	// Connections is the number of slots, Dialled the dials that succeeded, Redialled those during the step.
	Connections int `json:"connections"`
	Dialled     int `json:"dialled"`
	Redialled   int `json:"redialled"`
	Failed      int `json:"failed"`
	// P50Ms and MaxMs are dial times (TLS included).
	P50Ms float64 `json:"p50_ms"`
	MaxMs float64 `json:"max_ms"`
	// Loopback tells that the engine was reached without a network between.
	Loopback bool `json:"loopback"`
	// SYNRetransmits counts SYN retransmissions of our connections, -1 when the kernel does not say.
	SYNRetransmits int `json:"syn_retransmits"`
}

// Network is what the kernel counted during the step. The counters of the host are of the whole network namespace.
type Network struct {
	// Host holds deltas of /proc/net/netstat and /proc/net/snmp by name; nil when there are none.
	Host map[string]int64 `json:"host,omitempty"`
	// Retransmits is the sum of our connections' retransmitted segments during the step, -1 when not known.
	Retransmits int `json:"retransmits"`
	// MaxRTTMs is the greatest smoothed round trip of a connection at the end.
	MaxRTTMs float64 `json:"max_rtt_ms"`
}
