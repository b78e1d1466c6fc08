package scout

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// toolbox is what scout looks at the workspace with. Each use shows in the log: the call before it happens, the result after.
type toolbox struct {
	w     *agentline.Writer
	git   git
	root  *os.Root // nil when the workspace cannot be entered
	calls int
}

func newToolbox(w *agentline.Writer, dir string, env []string) *toolbox {
	t := &toolbox{w: w, git: git{dir: dir, env: env}}
	if root, err := os.OpenRoot(dir); err == nil {
		t.root = root
	}
	return t
}

func (t *toolbox) close() {
	if t.root != nil {
		t.root.Close()
	}
}

const toolFailed fault.Code = "tool_failed"

// use calls a tool. An error is shown in the log and returned: scout goes on without what it asked for.
func use[R any](ctx context.Context, t *toolbox, name string, args any, do func(context.Context) (R, error)) (R, error) {
	t.calls++
	id := strconv.Itoa(t.calls)
	t.w.ToolCall(id, name, args)
	result, err := do(ctx)
	if err != nil {
		t.w.ToolFailed(id, name, event.ErrorObj{Code: toolFailed, Message: firstLine(err.Error())})
		return result, err
	}
	t.w.ToolResult(id, name, result)
	return result, nil
}

// stop returns the error that ends the turn: nobody listens, or ctx has ended. A tool that failed does not.
func (t *toolbox) stop(ctx context.Context) error { return errors.Join(t.w.Err(), ctx.Err()) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
