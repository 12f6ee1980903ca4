package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/bundle"
	"github.com/gatehouse-ci/gatehouse/pkg/fixture/rawlog"
)

// logSize is the size of the log that both subjects read, in bytes.
const logSize = 64 << 20

// logText is what a benchmark prints: many lines, one of them a metric.
func logText() []byte {
	var b bytes.Buffer
	b.Grow(logSize + 100)
	for i := 0; b.Len() < logSize; i++ {
		fmt.Fprintf(&b, "step %d took %d.%03d ms on device %d\n", i, i*7919%97, i*104729%1000, i%8)
	}
	b.WriteString(rawlog.DefaultPrefix + " a 1.5 ms\n")
	return b.Bytes()
}

// logIngest hashes, copies and parses a log.
func logIngest(dir string) (bench, error) {
	log, copied := filepath.Join(dir, "log"), filepath.Join(dir, "copy")
	text := logText()
	if err := os.WriteFile(log, text, 0o644); err != nil {
		return bench{}, err
	}
	once := func() ([]float64, error) {
		in, err := os.Open(log)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		out, err := os.Create(copied)
		if err != nil {
			return nil, err
		}
		defer out.Close()
		start := time.Now()
		l, err := rawlog.Read(in, out, rawlog.DefaultPrefix)
		took := since(start)
		if err == nil && (len(l.Metrics) != 1 || l.Size != int64(len(text))) {
			err = fmt.Errorf("read %d bytes and %d metrics of a log of %d bytes and one metric", l.Size, len(l.Metrics), len(text))
		}
		return []float64{took, float64(len(text)) / (1 << 20) / took * 1e3}, err
	}
	return bench{[]string{"log_ingest_64mib_ms", "log_ingest_rate"}, []string{"ms", "MiB/s"}, once}, nil
}

// zipImport opens an archive of many members and streams a packed log out of it.
func zipImport(dir string) (bench, error) {
	const members, logName = 10_000, "bench-results/backend-latency/raw/a.log"
	file := filepath.Join(dir, "a.zip")
	out, err := os.Create(file)
	if err != nil {
		return bench{}, err
	}
	defer out.Close()
	text := logText()
	w := zip.NewWriter(out)
	for i := range members {
		if _, err := w.Create(fmt.Sprintf("bench-results/backend-latency/raw/run-%05d.log", i)); err != nil {
			return bench{}, err
		}
	}
	m, err := w.Create(logName)
	if err != nil {
		return bench{}, err
	}
	if _, err := m.Write(text); err != nil {
		return bench{}, err
	}
	if err := w.Close(); err != nil {
		return bench{}, err
	}
	once := func() ([]float64, error) {
		start := time.Now()
		b, err := bundle.Open(file, bundle.DefaultLimits)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		opened := since(start)
		member, _ := b.Find(logName)
		start = time.Now()
		r, err := b.Reader(member)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		n, err := io.Copy(io.Discard, r)
		if err == nil && n != int64(len(text)) {
			err = fmt.Errorf("read %d bytes of %d", n, len(text))
		}
		return []float64{opened, since(start)}, err
	}
	return bench{[]string{"zip_open_10000_members_ms", "zip_read_64mib_ms"}, []string{"ms", "ms"}, once}, nil
}
