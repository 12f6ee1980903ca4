package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
	"github.com/gatehouse-ci/gatehouse/pkg/serving/loadgen"
	"github.com/gatehouse-ci/gatehouse/pkg/stats"
	"github.com/gatehouse-ci/gatehouse/pkg/step"
)

// The truth that engine-sim is set to, and how much of it is asked for.
const (
	ttft    = 50 * time.Millisecond
	tokens  = 128
	perSlot = 5 // requests a slot, the first wave left out of account
)

// row is one load's result.
type row struct {
	Load string `json:"load"`
	// PeakInFlight is what the server saw.
	PeakInFlight int `json:"peak_in_flight"`
	// TTFT, TPOT and P99ITL are errors of the reported figure against the send log's, in percent.
	TTFT   float64 `json:"median_ttft_error_pct"`
	TPOT   float64 `json:"median_tpot_error_pct"`
	P99ITL float64 `json:"p99_itl_error_pct"`
	// ITLMedian and ITLP99 are percentiles of |ITL - true ITL| over all events, in microseconds.
	ITLMedian float64 `json:"itl_abs_error_median_us"`
	ITLP99    float64 `json:"itl_abs_error_p99_us"`
	// StampMedian and StampP99 are percentiles of stamp - send time, in microseconds.
	StampMedian float64 `json:"stamp_lag_median_us"`
	StampP99    float64 `json:"stamp_lag_p99_us"`
	// LagP99 is the client's own read lag, in milliseconds.
	LagP99    float64  `json:"read_lag_p99_ms"`
	CPU       float64  `json:"client_cpu_share"`
	RunDelay  float64  `json:"client_run_delay_share"`
	Coalesced float64  `json:"coalesced_share"`
	Clock     string   `json:"clock"`
	Tags      []string `json:"tags"`
	// Missed are the limits that were not kept.
	Missed []string `json:"missed"`
}

// measure runs a load several times and takes the medians.
func measure(ctx context.Context, s *step.Step, l load) (row, error) {
	var runs []row
	for range max(s.In.Int("runs"), 1) {
		r, err := once(ctx, s, l)
		if err != nil {
			return row{}, err
		}
		runs = append(runs, r)
	}
	r := runs[0]
	r.Load = l.name
	median := func(of func(*row) *float64) {
		var xs []float64
		for i := range runs {
			xs = append(xs, *of(&runs[i]))
		}
		*of(&r) = stats.Median(xs)
	}
	for _, of := range []func(*row) *float64{
		func(r *row) *float64 { return &r.TTFT }, func(r *row) *float64 { return &r.TPOT },
		func(r *row) *float64 { return &r.P99ITL }, func(r *row) *float64 { return &r.ITLMedian },
		func(r *row) *float64 { return &r.ITLP99 }, func(r *row) *float64 { return &r.StampMedian },
		func(r *row) *float64 { return &r.StampP99 }, func(r *row) *float64 { return &r.LagP99 },
		func(r *row) *float64 { return &r.CPU }, func(r *row) *float64 { return &r.Coalesced }, func(r *row) *float64 { return &r.RunDelay },
	} {
		median(of)
	}
	for _, other := range runs[1:] {
		r.Tags = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Tags, other.Tags))))
		if d := other.PeakInFlight - l.concurrency; d != 0 {
			r.PeakInFlight = other.PeakInFlight
		}
	}
	r.Missed = l.missed(r)
	return r, nil
}

// once is one run: a fresh engine, one step, one comparison.
func once(ctx context.Context, s *step.Step, l load) (row, error) {
	dir, err := os.MkdirTemp("", "bench-loadgen-")
	if err != nil {
		return row{}, err
	}
	defer os.RemoveAll(dir)
	e, err := startEngine(ctx, s.In.String("engine-sim"), s.In.String("server-core"), dir, ttft, l.itl)
	if err != nil {
		return row{}, err
	}
	res, err := drive(ctx, s, l, e.url)
	log, stopErr := e.stop()
	if err != nil {
		return row{}, err
	}
	if stopErr != nil {
		return row{}, stopErr
	}
	return compare(res, log)
}

// drive waits for the engine's first token and performs the step, arrivals spread over the length of a request.
func drive(ctx context.Context, s *step.Step, l load, url string) (*loadgen.Result, error) {
	p := loadgen.Plan{
		BaseURL: url, Model: "sim", NumPrompts: perSlot * l.concurrency, InputLen: 128, OutputLen: tokens, IgnoreEOS: true,
		MaxConcurrency: l.concurrency, ConnLimit: l.connLimit,
		Stagger: (ttft + (tokens-1)*l.itl) / time.Duration(l.concurrency),
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, err := loadgen.Canary(ctx, p)
		if err == nil {
			break
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	if l.hog {
		release, err := hog(s.In.String("client-core"))
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return loadgen.Run(ctx, p)
}

// compare matches requests by id and events by their order.
func compare(res *loadgen.Result, log *enginesim.SendLog) (row, error) {
	sent := map[string]*enginesim.Record{}
	for i := range log.Records {
		sent[log.Records[i].ID] = &log.Records[i]
	}
	var got, want figures
	var errs, lags []float64
	for i := range res.Requests {
		r := &res.Requests[i]
		if !r.OK() {
			return row{}, fmt.Errorf("request %s: %s: %s", r.ID, r.Failure, r.Detail)
		}
		rec := sent[r.ID]
		if rec == nil {
			return row{}, fmt.Errorf("request %s is not in the send log", r.ID)
		}
		truth := outputTimes(rec)
		if len(truth) != len(r.Events) {
			return row{}, fmt.Errorf("request %s: %d events came of %d sent", r.ID, len(r.Events), len(truth))
		}
		if r.FirstWave {
			continue
		}
		seen := make([]int64, len(r.Events))
		for k, e := range r.Events {
			seen[k] = e.T
		}
		got.add(r.Sent, seen)
		want.add(rec.Read, truth)
		for k := range seen {
			lags = append(lags, float64(seen[k]-truth[k])/1e3)
		}
		for k := 1; k < len(seen); k++ {
			errs = append(errs, math.Abs(float64(seen[k]-seen[k-1]-truth[k]+truth[k-1]))/1e3)
		}
	}
	errs, lags = stats.Sorted(errs), stats.Sorted(lags)
	c := res.Audit.Client
	return row{
		PeakInFlight: log.Summary.PeakInFlight,
		TTFT:         percent(got.ttft, want.ttft, 50), TPOT: percent(got.tpot, want.tpot, 50), P99ITL: percent(got.itl, want.itl, 99),
		ITLMedian: stats.Percentile(errs, 50), ITLP99: stats.Percentile(errs, 99),
		StampMedian: stats.Percentile(lags, 50), StampP99: stats.Percentile(lags, 99),
		LagP99: c.LagP99Ms, CPU: c.CPUShare, RunDelay: c.RunDelayShare, Coalesced: c.CoalescedShare, Clock: string(res.Clock), Tags: res.Tags,
	}, nil
}

// outputTimes are the times of the writes that carried output, which is one event each here.
func outputTimes(r *enginesim.Record) []int64 {
	var at []int64
	for _, w := range r.Writes {
		if w.Events > 0 {
			at = append(at, w.At)
		}
	}
	return at
}

// figures are samples in milliseconds.
type figures struct{ ttft, tpot, itl []float64 }

func (f *figures) add(start int64, at []int64) {
	f.ttft = append(f.ttft, float64(at[0]-start)/1e6)
	f.tpot = append(f.tpot, float64(at[len(at)-1]-at[0])/1e6/float64(len(at)-1))
	for k := 1; k < len(at); k++ {
		f.itl = append(f.itl, float64(at[k]-at[k-1])/1e6)
	}
}

// percent is by how much a percentile of got is off that of want.
func percent(got, want []float64, p float64) float64 {
	return 100 * (stats.Percentile(stats.Sorted(got), p)/stats.Percentile(stats.Sorted(want), p) - 1)
}
