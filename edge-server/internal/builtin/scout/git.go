package scout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

const (
	maxOutput = 4 << 20 // bytes of one answer of git
	waitDelay = 2 * time.Second
)

var errTooMuch = errors.New("git says more than scout wants to read")

// git runs git in the workspace. The repository is only read, and nothing that its configuration names is executed.
type git struct {
	dir string
	env []string
}

func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	safe := []string{
		"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
		"-c", "log.showSignature=false", "-c", "color.ui=false",
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = g.dir
	cmd.Env = slices.Concat(g.env, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"})
	cmd.WaitDelay = waitDelay
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &capped{to: &stdout, left: maxOutput, full: func() { cancel(errTooMuch) }}
	cmd.Stderr = &capped{to: &stderr, left: maxOutput, full: func() {}}
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(context.Cause(ctx), errTooMuch):
		return stdout.Bytes(), nil
	case stderr.Len() > 0:
		return nil, fmt.Errorf("%w: %s", err, firstLine(stderr.String()))
	}
	return nil, err
}

// capped takes the first bytes and reports once that there are more.
type capped struct {
	to   io.Writer
	left int
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	n := len(p)
	if n > c.left {
		p = p[:c.left]
		c.full()
	}
	c.left -= len(p)
	if _, err := c.to.Write(p); err != nil {
		return 0, err
	}
	return n, nil
}
