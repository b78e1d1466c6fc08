package runtime

import (
	"strings"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Variables of an agent to which tools of clients are offered, for the programs that it starts: where they can be had, and what opens the way.
const (
	MCPURLVariable   = "SWITCHYARD_MCP_URL"
	MCPTokenVariable = "SWITCHYARD_MCP_TOKEN"
)

// offer is what an agent is told of the tools that clients carry out.
type offer struct {
	calls   *calls
	tools   []wire.ClientTool // that it may call in lines
	at      *bridge.MCP
	env     map[string]string
	secrets []string
}

// offer offers the tools of a job to agents of a runtime that knows of them: by MCP, and in lines to those that may ask, whose stdin stays open.
// Whoever takes it ends its calls.
func (e *Executor) offer(p profile.Profile, job admission.Job) offer {
	o := offer{env: map[string]string{}}
	offered := job.ClientTools
	if p.Runtime != profile.Events {
		offered = nil
	}
	if p.Permission {
		o.tools = offered
	}
	o.calls = newCalls(offered)
	if len(offered) == 0 || e.opts.Tools == nil {
		return o
	}
	at, withdraw := e.opts.Tools.Offer(job.Run, offered, o.calls.Call)
	token := strings.TrimPrefix(at.Headers["Authorization"], "Bearer ")
	o.at, o.calls.withdraw = &at, withdraw
	o.env[MCPURLVariable], o.env[MCPTokenVariable] = at.URL, token
	o.secrets = []string{token}
	return o
}
