package gitrepo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Blobs reads objects one after the other through one git process.
type Blobs struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Blobs starts reading. Close ends it.
func (b Branch) Blobs(ctx context.Context) (*Blobs, error) {
	cmd := exec.CommandContext(ctx, "git", "cat-file", "--batch")
	cmd.Dir = b.repo.dir
	cmd.Env = append(environment(cmd), "LC_ALL=C")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	return &Blobs{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

// Read returns the bytes of an object of at most limit bytes.
func (b *Blobs) Read(object string, limit int64) ([]byte, error) {
	if _, err := io.WriteString(b.in, object+"\n"); err != nil {
		return nil, fmt.Errorf("asking git cat-file: %w", err)
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("reading from git cat-file: %w", err)
	}
	var name, kind string
	var size int64
	if n, _ := fmt.Sscanf(head, "%s %s %d", &name, &kind, &size); n != 3 || kind != "blob" {
		return nil, fmt.Errorf("git cat-file: %s", strings.TrimSpace(head))
	}
	if size > limit {
		return nil, fmt.Errorf("the file has %d bytes, more than the limit of %d", size, limit)
	}
	data := make([]byte, size+1) // a newline follows the object
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, fmt.Errorf("reading from git cat-file: %w", err)
	}
	return data[:size], nil
}

// Close ends the process.
func (b *Blobs) Close() error {
	b.in.Close()
	io.Copy(io.Discard, b.out)
	return b.cmd.Wait()
}
