package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// CardTool is a tool that this client carries out for the agents of the conversation (S0 session.create). It belongs to the user: what another device
// declares later takes its place, and a call is seen by all devices. The first result counts.
type CardTool struct {
	card.ClientTool
	// Run carries a call out, in a goroutine of its own. It is called once for each call, and once more only if Follow ended before it returned. Its
	// context ends when nobody waits for the result any more, or with Follow, which waits for it. An error makes the call a failed one.
	Run func(ctx context.Context, call CardCall) (CardResult, error)
}

// CardCall is a call of a tool of this client.
type CardCall struct {
	ID    string // of its card
	Name  string
	Input json.RawMessage // an object
	Run   id.Run          // the run that calls
}

// CardResult is what a call has come to.
type CardResult struct {
	Output   any            // anything that JSON can say; a text is shown as it is
	Metadata map[string]any // how to show it: render_hint, language, file_path, or what else there is to say
}

// errNoInput fails a call whose input is too large for a card: it is nowhere that a client may read.
var errNoInput = errors.New("the input is too large to be given to a client")

// ErrCallCancelled is what CardTool.Run returns when the person has called it off.
var ErrCallCancelled = errors.New("the call was called off")

// cardCalls are the calls that this client carries out.
type cardCalls struct {
	tools map[string]CardTool
	out   *outgoing
	parts *supervise.Group // of one Follow, which owns it

	mu   sync.Mutex
	open map[string]*cardCall // by card
}

// cardCall is a call that was begun and whose card is open.
type cardCall struct {
	stop    context.CancelFunc
	result  *card.ToolResult // nil while it is being carried out
	eventID string
}

func newCardCalls(tools []CardTool, out *outgoing) *cardCalls {
	c := &cardCalls{tools: map[string]CardTool{}, out: out, open: map[string]*cardCall{}}
	for _, tool := range tools {
		c.tools[tool.Name] = tool
	}
	return c
}

// begin lets calls be carried out until end, which waits for them.
func (c *cardCalls) begin(ctx context.Context) { c.parts = supervise.NewGroup(ctx) }

func (c *cardCalls) end() {
	c.mu.Lock()
	for _, call := range c.open {
		call.stop()
	}
	c.mu.Unlock()
	_ = c.parts.Wait() //nolint:errcheck // no call fails
}

// look carries out what a card asks this client for, or stops it when nobody waits for it any more.
func (c *cardCalls) look(ctx context.Context, at *Card) {
	if at == nil || at.Kind != card.Tool || word(at.Payload["target"]) != "client" {
		return
	}
	tool, mine := c.tools[word(at.Payload["name"])]
	if !mine || tool.Run == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[at.ID]
	switch {
	case at.Status != CardOpen && known != nil:
		known.stop()
		delete(c.open, at.ID)
	case at.Status == CardOpen && known == nil:
		c.start(ctx, tool, CardCall{ID: at.ID, Name: tool.Name, Input: at.Payload["input"], Run: at.Run})
	}
}

func (c *cardCalls) start(ctx context.Context, tool CardTool, call CardCall) {
	ctx, stop := context.WithCancel(ctx)
	running := &cardCall{stop: stop, eventID: string(id.NewEvent())}
	c.open[call.ID] = running
	c.parts.Go(func(context.Context) error {
		defer stop()
		result := tool.carry(ctx, call)
		if c.returned(call.ID, running, result, ctx.Err() != nil) {
			// A link that is down is no matter: the result is sent when the next one is up.
			_ = c.out.send(context.WithoutCancel(ctx), result, running.eventID) //nolint:errcheck // see above
		}
		return nil
	})
}

// returned keeps a result until its card is closed; false if nobody waits for it any more.
func (c *cardCalls) returned(cardID string, running *cardCall, result card.ToolResult, stopped bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[cardID] != running {
		return false
	}
	if stopped {
		delete(c.open, cardID)
		return false
	}
	running.result = &result
	return true
}

// again begins the calls that are open in a forest that is up to date, and sends the results once more that may not have arrived.
func (c *cardCalls) again(ctx context.Context, f *CardForest) error {
	if len(c.tools) == 0 {
		return nil
	}
	for _, cardID := range f.order {
		at := f.cards[cardID]
		if at.Status == CardOpen {
			if err := c.repeat(ctx, cardID); err != nil {
				return err
			}
		}
		c.look(ctx, at)
	}
	return nil
}

// repeat sends a result; nothing if there is none.
func (c *cardCalls) repeat(ctx context.Context, cardID string) error {
	c.mu.Lock()
	known := c.open[cardID]
	if known == nil || known.result == nil {
		c.mu.Unlock()
		return nil
	}
	result := *known.result
	c.mu.Unlock()
	return c.out.write(ctx, result, known.eventID)
}

// carry carries a call out and puts what it has come to into the words of the protocol.
func (t CardTool) carry(ctx context.Context, call CardCall) card.ToolResult {
	result, err := t.result(ctx, call)
	if err == nil {
		return result
	}
	if errors.Is(err, ErrCallCancelled) {
		return card.ToolResult{ToolUseID: call.ID, Status: string(card.Cancelled)}
	}
	return card.ToolResult{ToolUseID: call.ID, Status: string(card.Failed), Error: &card.ErrorInfo{
		Type: card.DependencyFail, Code: string(fault.ClientToolFailed), Message: err.Error(),
	}}
}

func (t CardTool) result(ctx context.Context, call CardCall) (card.ToolResult, error) {
	result := card.ToolResult{ToolUseID: call.ID, Status: string(card.OK)}
	if len(call.Input) == 0 {
		return result, errNoInput
	}
	said, err := t.Run(ctx, call)
	if err != nil {
		return result, err
	}
	result.Metadata = said.Metadata
	if result.Output, err = event.Encode(said.Output); err != nil {
		return result, err
	}
	return result, result.Response().Check()
}

// word is a JSON text, "" for anything else.
func word(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) //nolint:errcheck // see above
	return s
}
