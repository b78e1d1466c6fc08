package runlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Request asks for one execution of an agent. Whether the person may is the caller's to check.
type Request struct {
	Session     id.Session
	SessionName string
	Agent       fleet.Agent
	Prompt      string // may be empty when there are attachments
	Attachments []wire.Attachment
	Manner      wire.Manner
	Trigger     id.Message // "" when there is no message
	RequestedBy id.User
	TraceID     string // 32 hex
	Regenerates id.Run // the earlier run for the same message, "" for none

	Thinking wire.ThinkingLevel // "" is the agent's to choose
	Compact  bool               // the agent is to make its context smaller and nothing else: there is no prompt
	Alone    bool               // see NewRun
}

// needs is what runs of the agent's profile must be able to do for it.
func (r Request) needs() string {
	switch {
	case r.Compact:
		return string(wire.ControlCompact)
	case r.Thinking != "":
		return wire.ThinkingLevels
	}
	return ""
}

// Edges knows which machines there are. Safe for concurrent use.
type Edges interface {
	// EdgesOf returns the owner's edges that are not revoked, with what they can run.
	EdgesOf(ctx context.Context, owner id.User) ([]fleet.Edge, error)
	// Edge returns one edge; fault.NotFound.
	Edge(ctx context.Context, edge id.Edge) (fleet.Edge, error)
}

// PersonStore knows what a person brings into a conversation. Safe for concurrent use.
type PersonStore interface {
	// ApprovalMode returns how the user wants permissions to be answered there; "" leaves it to the profiles.
	ApprovalMode(ctx context.Context, s id.Session, user id.User) (wire.ApprovalMode, error)
	// ClientTools returns those that the user has declared last in the conversation; none is no error.
	ClientTools(ctx context.Context, s id.Session, user id.User) ([]wire.ClientTool, error)
}

// Dispatcher turns a request into a run that is ready to be stored. Safe for concurrent use.
type Dispatcher struct {
	edges    Edges
	presence fleet.Presence
	signer   *Signer
	people   PersonStore
}

// NewDispatcher returns a Dispatcher.
func NewDispatcher(edges Edges, presence fleet.Presence, signer *Signer, people PersonStore) *Dispatcher {
	return &Dispatcher{edges: edges, presence: presence, signer: signer, people: people}
}

// Prepare picks an edge that is online and can run the agent, and signs the command for it; without one the run will wait. With
// it go the person's approval mode and the tools that their clients carry out there. The result goes into the caller's transaction, which asks
// once more whether the mode is still that. Errors: fault.EmptyPrompt; fault.UnsupportedByRuntime for what no edge can do for the agent.
func (d *Dispatcher) Prepare(ctx context.Context, req Request) (NewRun, error) {
	if strings.TrimSpace(req.Prompt) == "" && len(req.Attachments) == 0 && !req.Compact {
		return NewRun{}, fault.New(fault.EmptyPrompt, "There is nothing to send to %s. Write what it should do.", req.Agent.Name)
	}
	tools, err := d.people.ClientTools(ctx, req.Session, req.RequestedBy)
	if err != nil {
		return NewRun{}, err
	}
	mode, err := d.people.ApprovalMode(ctx, req.Session, req.RequestedBy)
	if err != nil {
		return NewRun{}, err
	}
	nr, err := newRun(req, mode, tools, now())
	if err != nil {
		return NewRun{}, err
	}
	if err := d.able(ctx, nr); err != nil {
		return NewRun{}, err
	}
	return d.place(ctx, nr)
}

// able refuses a run that needs what no edge can do for its agent: it would wait for ever.
func (d *Dispatcher) able(ctx context.Context, n NewRun) error {
	if n.Placement.Needs == "" {
		return nil
	}
	edges, err := d.edges.EdgesOf(ctx, n.Placement.Owner)
	if err != nil {
		return fmt.Errorf("find an edge for %s: %w", n.Agent, err)
	}
	agent := fleet.Agent{Owner: n.Placement.Owner, Edge: n.Placement.Edge, Profile: n.Placement.Profile}
	if slices.ContainsFunc(edges, func(e fleet.Edge) bool { return agent.CanRunOn(e) && e.Can(n.Placement.Profile, n.Placement.Needs) }) {
		return nil
	}
	return Unable(n.AgentName, n.Placement.Needs)
}

// place dispatches a run to an edge that is online, if there is one.
func (d *Dispatcher) place(ctx context.Context, n NewRun) (NewRun, error) {
	edge, err := d.pick(ctx, n.Placement)
	if err != nil {
		return NewRun{}, fmt.Errorf("find an edge for %s: %w", n.Agent, err)
	}
	if edge != "" {
		n = n.dispatchedTo(edge, d.signer)
	}
	n.Frame, err = n.frame()
	return n, err
}

// redirect prepares a waiting run for an edge that has come, with the mode that the person has set by now.
func (d *Dispatcher) redirect(n NewRun, edge id.Edge) (NewRun, error) {
	n, err := n.inMode()
	if err != nil {
		return n, err
	}
	n = n.dispatchedTo(edge, d.signer)
	n.Frame, err = n.frame()
	return n, err
}

// pick returns "" when no edge that could execute the run is online.
func (d *Dispatcher) pick(ctx context.Context, p Placement) (id.Edge, error) {
	edges, err := d.edges.EdgesOf(ctx, p.Owner)
	if err != nil {
		return "", err
	}
	for _, e := range edges {
		if p.Fits(e) && d.presence.Online(e.ID) {
			return e.ID, nil
		}
	}
	return "", nil
}

// inMode returns the run with the mode of its placement in what the edge is told.
func (n NewRun) inMode() (NewRun, error) {
	var order wire.Dispatch
	if err := json.Unmarshal(n.Dispatch, &order); err != nil {
		return n, fmt.Errorf("read dispatch: %w", err)
	}
	if order.ApprovalMode == n.Placement.Mode {
		return n, nil
	}
	order.ApprovalMode = n.Placement.Mode
	var err error
	n.Dispatch, err = encodeDispatch(order)
	return n, err
}

func newRun(req Request, mode wire.ApprovalMode, tools []wire.ClientTool, at time.Time) (NewRun, error) {
	a := req.Agent
	runID := id.NewRun()
	dispatch, err := encodeDispatch(wire.Dispatch{
		TaskID: runID, SessionID: req.Session, AgentID: a.ID, AgentName: a.Name, Profile: a.Profile, Runtime: a.Runtime,
		Prompt: req.Prompt, SessionName: req.SessionName, TriggerID: req.Trigger, TriggerUserID: req.RequestedBy,
		TraceID: req.TraceID, CreatedAt: at, Attachments: req.Attachments, Manner: req.Manner, ClientTools: tools,
		ApprovalMode: mode, Compact: req.Compact, ThinkingLevel: req.Thinking,
	})
	if err != nil {
		return NewRun{}, err
	}
	return NewRun{
		Run: Run{
			ID: runID, Root: runID, Session: req.Session, Agent: a.ID, AgentName: a.Name, AgentChecksum: agentChecksum(a),
			Trigger: req.Trigger, RequestedBy: req.RequestedBy, TraceID: req.TraceID, Regenerates: req.Regenerates,
			State: run.StateWaitingEdge, CreatedAt: at,
		},
		Placement: Placement{
			By: req.RequestedBy, Owner: a.Owner, Edge: a.Edge, Profile: a.Profile, Runtime: a.Runtime, Mode: mode, Needs: req.needs(),
		},
		Dispatch: dispatch, Alone: req.Alone,
	}, nil
}

// maxDispatch leaves room in a control message for the command around the body.
const maxDispatch = wire.MaxControlSize - 4<<10

func encodeDispatch(d wire.Dispatch) (json.RawMessage, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode dispatch: %w", err)
	}
	if len(body) > maxDispatch {
		return nil, fault.New(fault.TooLarge, "The text and its attachments are too large together. Send the rest as a file.")
	}
	return body, nil
}

// dispatchedTo returns the run with a start command for edge, under a lease above all earlier ones.
func (n NewRun) dispatchedTo(edge id.Edge, signer *Signer) NewRun {
	n.Edge, n.State = edge, run.StateDispatched
	n.Lease++
	c := signer.Command(edge, wire.Command{
		DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: n.ID, Lease: n.Lease, Body: n.Dispatch,
	})
	n.Command = &c
	return n
}

// agentChecksum identifies the configuration that a run was started with.
func agentChecksum(a fleet.Agent) string {
	h := sha256.New()
	text(h, "agent.v1", string(a.ID), a.Name, a.Profile, a.Runtime, string(a.Edge), a.PermissionMode)
	return hex.EncodeToString(h.Sum(nil))
}

// frame is the payload of agent.dispatch (S3). It goes to everyone in the conversation, and not everyone there may read what an
// edge is told: the prompt stays empty.
func (n NewRun) frame() ([]byte, error) {
	traceID, err := event.FormatTraceID(n.TraceID)
	if err != nil {
		return nil, fmt.Errorf("encode agent.dispatch: %w", err)
	}
	payload := struct {
		TaskID        id.Run      `json:"task_id"`
		DeliveryID    id.Delivery `json:"delivery_id,omitempty"`
		AgentInstance id.Agent    `json:"agent_instance_id"`
		AgentType     string      `json:"agent_type"`
		EdgeID        id.Edge     `json:"edge_id,omitempty"`
		SessionID     id.Session  `json:"session_id"`
		TriggerID     id.Message  `json:"trigger_message_id"`
		TriggerUserID id.User     `json:"trigger_user_id"`
		Prompt        string      `json:"prompt"`
		DisplayName   string      `json:"display_name"`
		TraceID       string      `json:"trace_id"`
	}{
		TaskID: n.ID, AgentInstance: n.Agent, AgentType: n.Placement.Runtime, EdgeID: n.Edge, SessionID: n.Session,
		TriggerID: n.Trigger, TriggerUserID: n.RequestedBy, DisplayName: n.AgentName, TraceID: traceID,
	}
	if n.Command != nil {
		payload.DeliveryID = n.Command.DeliveryID
	}
	return event.Encode(payload)
}
