package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ToolServer offers tools of clients to agents that do not call them in a line. Safe for concurrent use.
type ToolServer interface {
	// Offer serves the tools of a run until withdraw is called. What at says is secret, good for this run alone, and for nothing after it.
	// Each call is one of call, which may take as long as the client does.
	Offer(run id.Run, tools []wire.ClientTool, call ClientCall) (at bridge.MCP, withdraw func())
}

// ClientCall calls a client's tool and waits for it. The end of ctx ends the waiting, not the call: the client may be carrying it out. Safe for
// concurrent use.
type ClientCall func(ctx context.Context, tool string, args json.RawMessage) event.ClientToolResponse

// MaxCalls is how many calls of one run may wait for clients at once; one more fails.
const MaxCalls = 16

// calls connects the tools that clients carry out with the talk of one turn.
type calls struct {
	offered  []wire.ClientTool
	withdraw func()
	playing  chan struct{} // closed once there is a talk
	over     chan struct{} // closed once nothing is called or answered any more
	talk     *talk

	mu      sync.Mutex // orders later and end
	answers sync.WaitGroup
}

func newCalls(tools []wire.ClientTool) *calls {
	return &calls{offered: tools, withdraw: func() {}, playing: make(chan struct{}), over: make(chan struct{})}
}

// play begins the turn.
func (c *calls) play(t *talk) {
	c.talk = t
	close(c.playing)
}

// Call is a ClientCall. One that comes before the turn has begun waits for that.
func (c *calls) Call(ctx context.Context, tool string, args json.RawMessage) event.ClientToolResponse {
	select {
	case <-c.playing:
	case <-c.over:
		return Failed(fault.RunEnded, runOver)
	case <-ctx.Done():
		return Failed(fault.Cancelled, hungUp)
	}
	result := make(chan event.ClientToolResponse, 1)
	c.talk.visit(Ask{Kind: event.PromptClientTool, Tool: tool, Input: args, reply: func(r event.ClientToolResponse) { result <- r }})
	select {
	case r := <-result:
		return r
	case <-c.over:
		return Failed(fault.RunEnded, runOver)
	case <-ctx.Done():
		return Failed(fault.Cancelled, hungUp)
	}
}

const (
	runOver = "The run has ended."
	hungUp  = "The agent waits no longer for this call."
)

// later does something that may have to wait for the journal, beside whoever brings an answer. It is not done once the turn is over.
func (c *calls) later(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended() {
		c.answers.Go(do)
	}
}

func (c *calls) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// end releases all who wait, once, and returns when nobody comes any more.
func (c *calls) end() {
	c.withdraw()
	c.mu.Lock()
	close(c.over)
	c.mu.Unlock()
	c.answers.Wait()
}

// newCallID is the id of a call whose agent gave it none.
func newCallID() string { return "call_" + strings.TrimPrefix(string(id.NewEvent()), "evt_") }

// Failed is the end of a call that did not come to a client, or of which a client said nothing that can be used.
func Failed(code fault.Code, message string) event.ClientToolResponse {
	return event.ClientToolResponse{Status: event.ClientToolFailed, Error: &event.ErrorObj{Code: code, Message: message}}
}

// response is what a call has come to. It takes what cannot be read for a failure: the hub has taken the answer already.
func response(a wire.Answer) event.ClientToolResponse {
	var said event.ClientToolResponse
	switch err := json.Unmarshal(a.Response, &said); {
	case a.Decision == event.NoAnswer:
		return Failed(fault.Timeout, "The client did not answer in time.")
	case err != nil:
		return Failed(fault.ClientToolFailed, "The answer of the client cannot be read.")
	case a.Decision == event.Allow:
		said.Status, said.Error = event.ClientToolOK, nil
		return said
	case said.Status == event.ClientToolCancelled:
		return event.ClientToolResponse{
			Status: event.ClientToolCancelled, Error: &event.ErrorObj{Code: fault.Cancelled, Message: "The client called it off."}, Metadata: said.Metadata,
		}
	}
	why := event.ErrorObj{}
	if said.Error != nil {
		why = *said.Error
	}
	why.Code = cmp.Or(why.Code, fault.ClientToolFailed)
	why.Message = cmp.Or(why.Message, "The client could not carry it out.")
	return event.ClientToolResponse{Status: event.ClientToolFailed, Error: &why, Metadata: said.Metadata}
}
