// Engine-sim a simulated inference engine with known truth, for tests, demos and pull-request checks.
//
// Usage:
//
//	engine-sim serve MODEL [--served-model-name NAME] [--host ADDRESS] [--port PORT]
//	    [--control-port PORT] [--gateway-startup-timeout SECONDS] [--drain-timeout SECONDS]
//	    [--enable-cache-report] [--profile NAME|FILE] [--send-log FILE] [--ttft DURATION]
//	    [--itl DURATION] [--slow X] [--tokens-per-event N] [--events-per-write N]
//	    [--first-tokens N] [--tail DURATION] [--early-headers]
//	    [--jitter-kind none|uniform|normal|late] [--jitter DURATION] [--seed N]
//	    [--prefill-per-token DURATION] [--prefix-cache] [--block-size N] [--cache-blocks N]
//	    [--max-running-requests N] [--startup DURATION] [--burst-gap DURATION]
//	    [--max-model-len N] [--vocab-size N] [--max-body N] [--fault FAULT]...
//
// engine-sim speaks what TokenSpeed's server speaks. On the gateway port: POST /v1/completions and
// /v1/chat/completions (streaming or not), GET /v1/models and /readiness. On the control port: GET
// /health, /health_generate, /get_server_info, /v1/loads, GET or POST /flush_cache.
//
//	engine-sim serve Qwen/Qwen3-0.6B --port 8000 --control-port 8001 --profile smoke
//	engine-sim serve m --port 0 --ttft 50ms --itl 2ms --send-log sent.jsonl
//	engine-sim serve m --profile smoke --slow 40 --fault stall@p=0.08
//
// Every write has a due time, fixed when the request has been read: the first tokens ttft later, then
// each write the time of its tokens after the one before. Lateness never accumulates, and jitter moves
// one write only. The send log holds CLOCK_MONOTONIC just before each write beside the due time: it is
// the truth that a load generator is compared with.
//
// A prompt is a text (one token a word or mark), a list of token ids, or a list of one of these.
// Sampling parameters are accepted and do nothing.
//
// A profile file is YAML: the settings' names with underscores, durations with units, fault as a list,
// and base for the built-in profile to start from.
//
//	base: smoke
//	startup: 2s
//	fault: [compile@id=bench-s0, status=503@p=0.5]
//
// Profile smoke reproduces the reference smoke cell (ISL 512, OSL 128, concurrency 8): TTFT 45 ms, TPOT
// 1.9 ms, median ITL near 0, p99 ITL 34 to 36 ms. Its 128 tokens come as 16 events of 8, two events a
// write: 8 of the 15 gaps lie inside a write, 7 are 34.5 ms.
//
// Faults are written NAME[=VALUE][@SELECTOR,...]. A request must pass every selector:
//
//	3..10    requests number 3 to 10, counted from 1; 3.. has no end, 3 is one
//	burst=2  requests of the second burst, 2..4 of three; a burst is what arrives between two spells
//	         of idleness (see --burst-gap), as a benchmark step does
//	nth=1..8 the first eight requests of a burst
//	p=0.5    half the requests, chosen by the seed
//	bp=0.08  all requests of 8 % of the bursts, chosen by the seed
//	id=TEXT  requests whose x-request-id contains TEXT: a client that names its steps can be hit step
//	         by step
//
// Two recorded excursions:
//
//	compile@id=-bench-s0-     the first measured step of a serving cell compiles: all its requests are
//	                          1263 ms late, so that four waves take 6193 ms in place of 1140
//	stall@bp=0.08,nth=1..64   in 8 % of the steps the first wave of 64 is admitted 0.92 s late
//
// The faults, with the value they have when none is written:
//
//	compile[=DURATION]         first tokens late by DURATION, as when a kernel is compiled (1263ms)
//	stall[=DURATION]           first tokens late by DURATION, as in an admission stall (920ms)
//	hang[=N]                   send nothing more after N output writes; the connection stays open (1)
//	error-event[=N]            after N output writes an error event in the stream, status 200, then [DONE] (1)
//	truncate[=N]               close the connection after N output writes, without the last chunk (1)
//	no-usage                   no usage, asked for or not
//	usage-every                usage in every event, zero completion tokens in all but the last
//	no-finish-reason           finish_reason stays null
//	no-done                    the stream ends cleanly without [DONE]
//	short-output[=N]           stop by itself after N tokens, finish_reason stop, usage true (1)
//	long-output[=N]            N tokens more than max_tokens, usage true (8)
//	crlf                       events framed by CRLF
//	no-space                   data: without the blank
//	role-first[=DURATION]      chat: a first event with the role alone, DURATION before the first tokens (20ms)
//	empty-first[=DURATION]     a first event with empty text, DURATION before the first tokens (20ms)
//	reasoning[=N]              chat: the first N output writes come as reasoning_content (4)
//	split-event[=DURATION]     each output write in two, cut inside an event, DURATION apart (1ms)
//	split-utf8[=DURATION]      each output write in two, cut inside a character, DURATION apart (1ms)
//	comments                   a comment line before each event
//	status[=N]                 answer HTTP N with an error body (500)
//	refuse-token-ids           answer 400 to prompts of token ids
//	prompt-inflate[=FACTOR]    usage reports FACTOR times the prompt's tokens (1.25)
//	leak[=N]                   keep N MiB more a request, up to 2048 MiB in all (1)
//	refuse-connect             stop listening: connects are refused from the first selected connection on; refuse-connect@10.. after nine
//	reset-connect              accept and reset at once
//	accept-pause[=DURATION]    wait DURATION before accepting the next connection (10ms)
//	backlog=N                  an accept queue of N connections
//	die-at-start[=N]           exit N half-way through the start-up time (1)
//	die-after=N                exit 70 at the first tokens of request N
//	never-ready                both ports answer, readiness never comes
//	no-control                 control port not bound: a warning, and on it goes
//	ignore-term                go on at SIGTERM and SIGINT
//	orphan[=DURATION]          start a child in the same process group that ignores SIGTERM and lives DURATION (60s)
//
// Inputs, each a flag and an environment variable (the flag wins):
//
//	--command serve
//	    The only command. One of serve. Required. [INPUT_COMMAND]
//	--model MODEL
//	    The model to pretend to be. Required. [INPUT_MODEL]
//	--served-model-name NAME
//	    The name that requests must ask for; by default the model's. [INPUT_SERVED_MODEL_NAME]
//	--host ADDRESS
//	    Address of both ports. Default: 127.0.0.1. [INPUT_HOST]
//	--port PORT
//	    Gateway port; 0 takes a free one. Default: 8000. [INPUT_PORT]
//	--control-port PORT
//	    Control port; 0 takes a free one. When it cannot be bound the engine warns and goes on,
//	    as the real one does. Default: 8001. [INPUT_CONTROL_PORT]
//	--gateway-startup-timeout SECONDS
//	    The gateway gives up when the engine takes longer to start than that. Default: 60s.
//	    [INPUT_GATEWAY_STARTUP_TIMEOUT]
//	--drain-timeout SECONDS
//	    How long requests in flight may take to end after SIGTERM. Default: 30s.
//	    [INPUT_DRAIN_TIMEOUT]
//	--enable-cache-report
//	    Put the cached prompt tokens into usage. [INPUT_ENABLE_CACHE_REPORT]
//	--profile NAME|FILE
//	    What the engine does and when: a built-in profile (default, smoke) or a YAML file of the
//	    settings below. Flags go over it. Default: default. [INPUT_PROFILE]
//	--send-log FILE
//	    Where to write what was really sent, as JSON lines. [INPUT_SEND_LOG]
//	--ttft DURATION
//	    Time from a request read to its first tokens, before the prefill cost. Default: 50ms.
//	    [INPUT_TTFT]
//	--itl DURATION
//	    Time a token takes: a write of n tokens goes out n times that after the one before.
//	    Default: 2ms. [INPUT_ITL]
//	--slow X
//	    Make every token slower by that many percent; the ttft stays. Default: 0. [INPUT_SLOW]
//	--tokens-per-event N
//	    Tokens in one event. Default: 1. [INPUT_TOKENS_PER_EVENT]
//	--events-per-write N
//	    Events in one write. Default: 1. [INPUT_EVENTS_PER_WRITE]
//	--first-tokens N
//	    Tokens in the first write; 0 means as many as in the others. Default: 0.
//	    [INPUT_FIRST_TOKENS]
//	--tail DURATION
//	    Send usage and [DONE] that long after the last tokens, in a write of their own; 0 sends
//	    them together. Default: 0s. [INPUT_TAIL]
//	--early-headers
//	    Send the head of the response as soon as the request is read. Default: true.
//	    [INPUT_EARLY_HEADERS]
//	--jitter-kind none|uniform|normal|late
//	    How writes stray from the schedule: uniform within the jitter on both sides, normal with
//	    it as deviation, late by an exponential with it as mean. It never accumulates. Default:
//	    none. [INPUT_JITTER_KIND]
//	--jitter DURATION
//	    Size of the jitter. Default: 0s. [INPUT_JITTER]
//	--seed N
//	    Fix the jitter and every choice by probability. Default: 0. [INPUT_SEED]
//	--prefill-per-token DURATION
//	    Added to the ttft for each prompt token that is not cached. Default: 0s.
//	    [INPUT_PREFILL_PER_TOKEN]
//	--prefix-cache
//	    Cache prompt prefixes, block by block. Default: true. [INPUT_PREFIX_CACHE]
//	--block-size N
//	    Tokens in a block of the prefix cache. Default: 16. [INPUT_BLOCK_SIZE]
//	--cache-blocks N
//	    Blocks the prefix cache holds; the least recently used goes first. Default: 65536.
//	    [INPUT_CACHE_BLOCKS]
//	--max-running-requests N
//	    Requests that run at once while others wait in order; 0 is no limit. Default: 0.
//	    [INPUT_MAX_RUNNING_REQUESTS]
//	--startup DURATION
//	    Time from start to ready. Default: 0s. [INPUT_STARTUP]
//	--burst-gap DURATION
//	    Idle time after which the next request begins a new burst (see faults). Default: 5ms.
//	    [INPUT_BURST_GAP]
//	--max-model-len N
//	    Most tokens of prompt and output together. Default: 40960. [INPUT_MAX_MODEL_LEN]
//	--vocab-size N
//	    Token ids of a prompt must lie below that. Default: 151936. [INPUT_VOCAB_SIZE]
//	--max-body N
//	    Largest request body in bytes. Default: 8388608. [INPUT_MAX_BODY]
//	--fault FAULT
//	    Something that goes wrong: NAME[=VALUE][@SELECTOR,...], as in the list of faults. May be
//	    repeated. [INPUT_FAULT]
//	-h, -help
//	    Print this manual.
//	--version
//	    Print the version.
//	--self-test
//	    Prove offline, without hardware and in under a second, that the binary works here.
//	--describe
//	    Print the tables of this manual as JSON.
//
// Exit status:
//
//	0  done, or pass
//	1  a negative result: a regression, a finding, a failed cell, an invalid file
//	2  bad usage or unreadable input
//	3  could not run: something needed is not there
//	4  no verdict: it ran, and nothing can be concluded
//
// Standard output carries one JSON document; text for people goes to standard error.
package main

import (
	"os"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

func main() { os.Exit(step.Main(enginesim.Run)) }
