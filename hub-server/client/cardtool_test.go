package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// call is the card of a call of a client's tool.
func (h *cardHub) call(id, tool string) (card.Ref, card.Event) {
	ref := card.Ref{ID: id, Kind: card.Tool}
	return ref, h.main().Add(ref, card.ToolPayload{Name: tool, Target: "client", Input: json.RawMessage(`{"a":1.0}`), Phase: card.Executing}, nil)
}

// results are what a tool of a test is asked for, and what it says.
type results struct {
	calls []string
	free  chan CardResult // nil: it says at once what it was asked for
	ended bool
}

func (r *results) run(ctx context.Context, call CardCall) (CardResult, error) {
	r.calls = append(r.calls, fmt.Sprintf("%s %s %s %s", call.ID, call.Name, call.Input, call.Run))
	switch {
	case strings.HasPrefix(call.ID, "bad"):
		return CardResult{}, errors.New("no such page")
	case strings.HasPrefix(call.ID, "off"):
		return CardResult{}, fmt.Errorf("not now: %w", ErrCallCancelled)
	case strings.HasPrefix(call.ID, "odd"):
		return CardResult{Output: func() {}}, nil
	case r.free == nil:
		return CardResult{Output: "<seen>", Metadata: map[string]any{"render_hint": "url"}}, nil
	}
	select {
	case said := <-r.free:
		return said, nil
	case <-ctx.Done():
		r.ended = true
		return CardResult{}, ctx.Err()
	}
}

func toolsOf(r *results) []CardTool {
	return []CardTool{{ClientTool: card.ClientTool{Name: "pick", TimeoutMS: 7}, Run: r.run}, {ClientTool: card.ClientTool{Name: "idle"}}}
}

func TestCallsAreCarriedOutOnceTheTraceIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		r := &results{}
		f := h.follow(CardOptions{Session: "sess_1", Tools: toolsOf(r)})
		over := make(chan struct{})
		go func() {
			defer close(over)
			hub := <-h.sockets
			h.expect("session.create {SessionID:sess_1 AgentID: Capabilities:{Streaming:false Tools:false ClientTools:true")
			hub.tell(card.Opened, card.OpenedInner{})
			h.expect("session.resume")
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 4})
			past, event := h.call("past", "pick")
			hub.event(event)
			_, event = h.call("open", "pick")
			hub.event(event)
			hub.event(h.main().Close(past, card.End{Status: card.OK}))
			_, event = h.call("other", "elsewhere")
			hub.event(event)
			h.expect(`tool.result {ToolUseID:open Status:ok Output:[34 60 115 101 101 110 62 34] Error:<nil> Metadata:map[render_hint:url]}`)
			for _, live := range []string{"live", "bad", "off", "odd"} {
				_, event = h.call(live, "pick")
				hub.event(event)
				h.expect("tool.result {ToolUseID:" + live + " Status:" + map[string]string{"live": "ok", "bad": "failed", "off": "cancelled", "odd": "failed"}[live])
			}
			hub.event(h.main().Add(card.Ref{ID: "large", Kind: card.Tool}, card.ToolPayload{
				Name: "pick", Target: "client", Metadata: map[string]any{"input_blob": map[string]any{"sha256": "aa", "size": 1 << 20}},
			}, nil))
			h.expect("tool.result {ToolUseID:large Status:failed")
			_, event = h.call("idle", "idle")
			hub.event(event)
			hub.event(h.main().Set(card.Ref{ID: "live", Kind: card.Tool}, card.ToolPayload{Phase: card.Executing}))
			hub.event(h.text("end"))
		}()
		f.event("opened")
		f.event("resumed")
		for range 12 {
			f.next()
		}
		synctest.Wait()
		<-over
		if got := strings.Join(r.calls, ", "); !strings.HasPrefix(got, `open pick {"a":1.0} run_0123456789abcdef, live pick`) || len(r.calls) != 5 {
			t.Errorf("carried out: %s", got)
		}
	})
}

func TestAResultIsSentAgainUntilItCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		r := &results{free: make(chan CardResult)}
		f := h.follow(CardOptions{Session: "sess_1", Tools: toolsOf(r)})
		call, event := h.call("c1", "pick")
		over := make(chan struct{})
		go func() {
			defer close(over)
			hub := h.accept(0)
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 0})
			hub.event(event)
			synctest.Wait() // the tool is at work
			hub.socket.CloseNow()
			r.free <- CardResult{Output: 7} // while the link is down
			for range 2 {                   // nobody knows whether the first one has arrived
				hub = h.accept(1)
				hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 2, ToSeq: 1})
				h.expect("tool.result {ToolUseID:c1 Status:ok Output:[55]")
				hub.socket.CloseNow()
			}
			hub = h.accept(1)
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 2, ToSeq: 2})
			hub.event(h.main().Close(call, card.End{Status: card.OK}))
			hub.event(h.text("end"))
		}()
		for range 3 {
			f.event("opened")
			f.event("resumed")
			if f.feed.Forest().Last() == 0 {
				f.event("card.add")
			}
			f.down()
		}
		f.event("opened")
		f.event("resumed")
		f.event("card.close")
		f.event("card.append")
		<-over
		synctest.Wait()
		if len(h.said) != 0 || len(r.calls) != 1 {
			t.Errorf("said %d frames more; carried out %v", len(h.said), r.calls)
		}
	})
}

func TestACallIsStoppedWhenNobodyWaitsForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		r := &results{free: make(chan CardResult)}
		f := h.follow(CardOptions{Session: "sess_1", Tools: toolsOf(r)})
		go func() {
			hub := h.accept(0)
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 0})
			call, event := h.call("c1", "pick")
			hub.event(event)
			synctest.Wait()
			hub.event(h.main().Close(call, card.End{Status: card.Failed}))
			hub.event(h.text("end"))
		}()
		f.event("opened")
		f.event("resumed")
		f.event("card.add")
		f.event("card.close")
		f.event("card.append")
		synctest.Wait()
		if len(h.said) != 0 || !r.ended || len(r.calls) != 1 {
			t.Errorf("said %d frames; stopped: %v; %v", len(h.said), r.ended, r.calls)
		}
	})
}

func TestNoToolsAreWithdrawnOnlyByAnEmptyList(t *testing.T) {
	for _, c := range []struct {
		tools []CardTool
		want  string
	}{{nil, `{}`}, {[]CardTool{}, `{"tools":[]}`}, {toolsOf(&results{}), `{"tools":[{"name":"pick","timeout_ms":7},{"name":"idle"}]}`}} {
		f := (&Client{}).Cards(CardOptions{Tools: c.tools})
		got, err := json.Marshal(card.SessionCreate{Tools: f.declared()})
		if err != nil || string(got) != c.want {
			t.Errorf("%v is declared as %s, %v", c.tools, got, err)
		}
	}
}
