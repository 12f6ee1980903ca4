package enginesim

// manual is the body of engine-sim's manual.
func manual() string {
	return `engine-sim speaks what TokenSpeed's server speaks. On the gateway port: POST /v1/completions and
/v1/chat/completions (streaming or not), GET /v1/models and /readiness. On the control port: GET
/health, /health_generate, /get_server_info, /v1/loads, GET or POST /flush_cache.

    engine-sim serve Qwen/Qwen3-0.6B --port 8000 --control-port 8001 --profile smoke
    engine-sim serve m --port 0 --ttft 50ms --itl 2ms --send-log sent.jsonl
    engine-sim serve m --profile smoke --slow 40 --fault stall@p=0.08

Every write has a due time, fixed when the request has been read: the first tokens ttft later, then
each write the time of its tokens after the one before. Lateness never accumulates, and jitter moves
one write only. The send log holds CLOCK_MONOTONIC just before each write beside the due time: it is
the truth that a load generator is compared with.

A prompt is a text (one token a word or mark), a list of token ids, or a list of one of these.
Sampling parameters are accepted and do nothing.

A profile file is YAML: the settings' names with underscores, durations with units, fault as a list,
and base for the built-in profile to start from.

    base: smoke
    startup: 2s
    fault: [compile@id=bench-s0, status=503@p=0.5]

Profile smoke reproduces the reference smoke cell (ISL 512, OSL 128, concurrency 8): TTFT 45 ms, TPOT
1.9 ms, median ITL near 0, p99 ITL 34 to 36 ms. Its 128 tokens come as 16 events of 8, two events a
write: 8 of the 15 gaps lie inside a write, 7 are 34.5 ms.

Faults are written NAME[=VALUE][@SELECTOR,...]. A request must pass every selector:

    3..10    requests number 3 to 10, counted from 1; 3.. has no end, 3 is one
    burst=2  requests of the second burst, 2..4 of three; a burst is what arrives between two spells
             of idleness (see --burst-gap), as a benchmark step does
    nth=1..8 the first eight requests of a burst
    p=0.5    half the requests, chosen by the seed
    bp=0.08  all requests of 8 % of the bursts, chosen by the seed
    id=TEXT  requests whose x-request-id contains TEXT: a client that names its steps can be hit step
             by step

Two recorded excursions:

    compile@id=-bench-s0-     the first measured step of a serving cell compiles: all its requests are
                              1263 ms late, so that four waves take 6193 ms in place of 1140
    stall@bp=0.08,nth=1..64   in 8 % of the steps the first wave of 64 is admitted 0.92 s late

The faults, with the value they have when none is written:

` + faultHelp()
}
