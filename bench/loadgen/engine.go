package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatehouse-ci/gatehouse/pkg/serving/enginesim"
)

// engine is a running engine-sim on a core of its own.
type engine struct {
	url string
	cmd *exec.Cmd
	log string
}

// startEngine starts it; dir takes the send log.
func startEngine(ctx context.Context, binary, core, dir string, ttft, itl time.Duration) (*engine, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	e := &engine{url: fmt.Sprintf("http://127.0.0.1:%d", port), log: filepath.Join(dir, "sent.jsonl")}
	e.cmd = exec.CommandContext(ctx, "taskset", "-c", core, binary, "serve", "sim", "--port", fmt.Sprint(port), "--control-port", "0",
		"--ttft", ttft.String(), "--itl", itl.String(), "--send-log", e.log)
	e.cmd.Cancel = func() error { return e.cmd.Process.Signal(syscall.SIGTERM) }
	return e, e.cmd.Start()
}

// stop ends it in good order and reads what it really sent.
func (e *engine) stop() (*enginesim.SendLog, error) {
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, fmt.Errorf("stopping engine-sim: %w", err)
	}
	if err := e.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("waiting for engine-sim: %w", err)
	}
	f, err := os.Open(e.log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	log, err := enginesim.ReadSendLog(f)
	if err == nil && log.Summary == nil {
		err = errors.New("the send log has no summary")
	}
	return log, err
}

// freePort asks the kernel for one.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// hog keeps a core busy until the returned function is called.
func hog(core string) (func(), error) {
	cmd := exec.Command("taskset", "-c", core, "sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}
