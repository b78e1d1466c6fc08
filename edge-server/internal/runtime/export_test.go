package runtime

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Outlet is an outlet to tests.
type Outlet struct{ o *outlet }

// NewOutlet returns an outlet into to.
func NewOutlet(secrets *redact.Redactor, to func(run.AgentEvent) error) Outlet {
	return Outlet{newOutlet(secrets, to)}
}

// Emit is what an agent says next.
func (o Outlet) Emit(e run.AgentEvent) { o.o.emit(e) }

// StartFailed is what a run says of a start that failed.
var StartFailed = startFailed
