package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

type testEdges []fleet.Edge

func (e testEdges) EdgesOf(context.Context, id.User) ([]fleet.Edge, error) { return e, nil }
func (e testEdges) Edge(context.Context, id.Edge) (fleet.Edge, error)      { return e[0], nil }

type onlineEdges map[id.Edge]bool

func (o onlineEdges) Online(e id.Edge) bool { return o[e] }

func TestARunGoesToAnEdgeThatIsHereAndMayExecuteIt(t *testing.T) {
	owner, operator := id.NewUser(), id.NewUser()
	edge := func(name string, e fleet.Edge) fleet.Edge {
		e.ID, e.Owner = id.Edge(name), owner
		return e
	}
	scout := []wire.Profile{{Name: "scout", Runtime: "events"}}
	edges := testEdges{
		edge("without the profile", fleet.Edge{}),
		edge("away", fleet.Edge{Profiles: scout}),
		edge("refused", fleet.Edge{Profiles: scout, Refused: fault.EdgeRefused}),
		edge("good", fleet.Edge{Profiles: scout}),
		edge("pinned", fleet.Edge{Profiles: scout, Operators: []id.User{operator}}),
	}
	online := onlineEdges{"without the profile": true, "refused": true, "good": true, "pinned": true}
	d := NewDispatcher(edges, online, testSigner(t, 'k'), noTools{})
	for name, c := range map[string]struct {
		by    id.User
		agent fleet.Agent
		want  id.Edge
	}{
		"any":          {owner, fleet.Agent{Owner: owner, Profile: "scout"}, "good"},
		"pinned":       {owner, fleet.Agent{Owner: owner, Profile: "scout", Edge: "pinned"}, "pinned"},
		"pinned, away": {owner, fleet.Agent{Owner: owner, Profile: "scout", Edge: "away"}, ""},
		"unknown":      {owner, fleet.Agent{Owner: owner, Profile: "other"}, ""},
		"operator":     {operator, fleet.Agent{Owner: owner, Profile: "scout"}, "pinned"},
		"stranger":     {id.NewUser(), fleet.Agent{Owner: owner, Profile: "scout"}, ""},
	} {
		n, err := d.Prepare(t.Context(), Request{Agent: c.agent, RequestedBy: c.by, Prompt: "go", TraceID: strings.Repeat("a", 32)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n.Edge != c.want || (n.Command == nil) != (c.want == "") {
			t.Errorf("%s: edge is %q, want %q", name, n.Edge, c.want)
		}
		if want := map[bool]run.State{true: run.StateWaitingEdge, false: run.StateDispatched}[c.want == ""]; n.State != want {
			t.Errorf("%s: state is %s, want %s", name, n.State, want)
		}
	}
}

// noTools are people who bring nothing: their clients carry nothing out, and the profiles say what is allowed.
type noTools struct{}

func (noTools) ApprovalMode(context.Context, id.Session, id.User) (wire.ApprovalMode, error) {
	return "", nil
}

func (noTools) ClientTools(context.Context, id.Session, id.User) ([]wire.ClientTool, error) {
	return nil, nil
}

func TestTheDispatchFrameDoesNotTellThePrompt(t *testing.T) {
	edge := fleet.Edge{ID: id.NewEdge(), Owner: id.NewUser(), Profiles: []wire.Profile{{Name: "scout"}}}
	d := NewDispatcher(testEdges{edge}, onlineEdges{edge.ID: true}, testSigner(t, 'k'), noTools{})
	n, err := d.Prepare(t.Context(), Request{
		Session: id.NewSession(), Agent: fleet.Agent{ID: id.NewAgent(), Name: "scout", Owner: edge.Owner, Profile: "scout", Runtime: "events"},
		Prompt: "a private thing", Trigger: id.NewMessage(), RequestedBy: edge.Owner, TraceID: strings.Repeat("a", 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(n.Frame), "private") || !strings.Contains(string(n.Dispatch), "private") {
		t.Errorf("frame is %s, dispatch is %s", n.Frame, n.Dispatch)
	}
	var frame map[string]any
	if err := json.Unmarshal(n.Frame, &frame); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"task_id": string(n.ID), "delivery_id": string(n.Command.DeliveryID), "agent_instance_id": string(n.Agent), "agent_type": "events",
		"edge_id": string(edge.ID), "session_id": string(n.Session), "trigger_message_id": string(n.Trigger),
		"trigger_user_id": string(edge.Owner), "prompt": "", "display_name": "scout", "trace_id": "trace_" + strings.Repeat("a", 32),
	}
	for key, value := range want {
		if frame[key] != value {
			t.Errorf("%s is %v, want %v", key, frame[key], value)
		}
	}
	if len(frame) != len(want) {
		t.Errorf("frame is %v", frame)
	}
}

func TestAnOrderThatFitsNoCommandIsRefusedBeforeItIsStored(t *testing.T) {
	d := NewDispatcher(testEdges{}, onlineEdges{}, testSigner(t, 'k'), noTools{})
	large := []wire.Attachment{{Kind: "file", URL: "data:," + strings.Repeat("x", maxDispatch)}}
	_, err := d.Prepare(t.Context(), Request{Prompt: "look", Attachments: large, TraceID: strings.Repeat("a", 32)})
	if fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("half a megabyte: %v", err)
	}
	n, err := d.Prepare(t.Context(), Request{Attachments: []wire.Attachment{{Kind: "file", URL: "data:,x"}}, TraceID: strings.Repeat("a", 32)})
	if err != nil || !strings.Contains(string(n.Dispatch), `"attachments":[{"kind":"file","url":"data:,x"}]`) {
		t.Errorf("attachments alone: %s, %v", n.Dispatch, err)
	}
}

func TestAnEmptyPromptIsRefused(t *testing.T) {
	d := NewDispatcher(testEdges{}, onlineEdges{}, testSigner(t, 'k'), noTools{})
	for _, prompt := range []string{"", " \n\t"} {
		if _, err := d.Prepare(t.Context(), Request{Prompt: prompt, TraceID: strings.Repeat("a", 32)}); !errors.Is(err, fault.New(fault.EmptyPrompt, "")) {
			t.Errorf("prompt %q: %v", prompt, err)
		}
	}
}
