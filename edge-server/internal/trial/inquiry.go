package trial

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// inquiry is what waits for the approver: a prompt, or a permission if that has no kind.
type inquiry struct {
	permission bridge.PermissionRequest
	prompt     runtime.Ask
}

const tooMany = "Too many requests wait for an answer."

// decide lets the approver decide. The time of a prompt begins when it is shown.
func (t *talk) decide(ctx context.Context, i inquiry, approver Approver) {
	if i.prompt.Kind == "" {
		t.answer(i.permission, approver.Approve(ctx, i.permission))
		return
	}
	if i.prompt.TimeoutMS > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(i.prompt.TimeoutMS)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	t.settle(i.prompt, approver.Answer(ctx, i.prompt))
}

func (t *talk) settle(asked runtime.Ask, a runtime.Answer) {
	line, err := agentline.Response{RequestID: asked.ID, Decision: a.Decision, Response: a.Response, Reason: a.Message}.Encode()
	if err != nil {
		t.witness.Unused("", err.Error())
		return
	}
	t.witness.Settled(asked, a)
	t.send(line)
}
