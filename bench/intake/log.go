package main

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"

	"github.com/gatehouse-ci/gatehouse/pkg/fixture/rawlog"
)

const manifestText = `{
  "schema_version": 1,
  "status": "fixture_required",
  "policy": {"covered_gate_requires": ["A log of any size is taken in flat memory."]},
  "required_backends": ["vulkan"],
  "fixtures": [{
    "id": "big", "backend": "vulkan", "hardware": "any", "source": ".gitignore", "command": "cat ../big.log",
    "metrics": [{"name": "step_ms", "unit": "ms", "comparison": "<=", "max": null}],
    "result_artifact": "bench-results/backend-latency/big.json", "threshold_state": "pending_fixture_result"
  }],
  "missing_fixture_slots": []
}
`

// writeLog writes a log of a benchmark's lines, a metric last. This process stays small: what it starts
// counts its memory as their own.
func writeLog(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	line := make([]byte, 0, 100)
	for i, n := int64(0), int64(0); n < size && err == nil; i++ {
		line = append(strconv.AppendInt(append(line[:0], "step "...), i, 10), " took "...)
		line = append(strconv.AppendInt(line, i*7919%9973, 10), " us on device 3\n"...)
		_, err = w.Write(line)
		n += int64(len(line))
	}
	_, lastErr := w.WriteString(rawlog.DefaultPrefix + " step_ms 12.5 ms\n")
	return errors.Join(err, lastErr, w.Flush(), f.Close())
}

// pack zips a folder with little effort.
func pack(archive, dir string) error {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	return errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), f.Close())
}

// maxrssUnit is how many of what the kernel counts peak memory in make one MiB.
func maxrssUnit() float64 {
	if runtime.GOOS == "darwin" {
		return 1 << 20
	}
	return 1 << 10
}
