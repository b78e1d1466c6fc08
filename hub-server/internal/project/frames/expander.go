package frames

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const knownRuns = 4096 // headers kept in memory; they are small and never change

// Record is what rows of the outbox refer to. Safe for concurrent use.
type Record interface {
	// Run returns a run; fault.NotFound.
	Run(ctx context.Context, run id.Run) (runlog.Run, error)
	// Events returns up to limit events of a run after a number, and the number of the newest one; fault.NotFound, fault.EventsExpired.
	Events(ctx context.Context, run id.Run, after runlog.EventSeq, limit int) ([]runlog.StoredEvent, runlog.EventSeq, error)
	// CancelledBy returns who asked for a run to stop, "" if nobody did.
	CancelledBy(ctx context.Context, run id.Run) (id.User, error)
	// Message returns a message; fault.NotFound.
	Message(ctx context.Context, message id.Message) (chat.Message, error)
	// Edge returns an edge; fault.NotFound.
	Edge(ctx context.Context, edge id.Edge) (fleet.Edge, error)
	// Prompt returns a question of the run; fault.NotFound.
	Prompt(ctx context.Context, run id.Run, request id.Request) (prompt.Prompt, error)
}

// Expander implements delivery.Expander over the record. Safe for concurrent use.
type Expander struct {
	record Record

	ahead ahead

	mu   sync.Mutex
	runs map[id.Run]Header
}

// NewExpander returns an Expander.
func NewExpander(r Record) *Expander { return &Expander{record: r, runs: map[id.Run]Header{}} }

// Expand implements delivery.Expander. What retention has removed expands to nothing.
func (x *Expander) Expand(ctx context.Context, row delivery.Row) (delivery.Expansion, error) {
	var out delivery.Expansion
	var err error
	switch row.Kind {
	case delivery.KindFrame:
		out.Bodies = []delivery.Body{{Type: event.FrameType(row.FrameType), Payload: row.Payload}}
	case delivery.KindMessage:
		out.Bodies, err = x.message(ctx, row.Message)
	case delivery.KindRun:
		out, err = x.run(ctx, row)
	case delivery.KindPrompt:
		out.Bodies, err = x.prompt(ctx, row)
	default:
		return out, fmt.Errorf("row of kind %q: this hub is too old to read it", row.Kind)
	}
	if code := fault.CodeOf(err); code == fault.NotFound || code == fault.EventsExpired {
		return delivery.Expansion{}, nil
	}
	return out, err
}

func (x *Expander) message(ctx context.Context, m id.Message) ([]delivery.Body, error) {
	message, err := x.record.Message(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	payload, err := chat.Frame(message)
	return []delivery.Body{{Type: frameMessageNew, Payload: payload}}, err
}

// prompt tells what an event has made of a question.
func (x *Expander) prompt(ctx context.Context, row delivery.Row) ([]delivery.Body, error) {
	asked, err := x.record.Prompt(ctx, row.Run, row.Prompt)
	if err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}
	events, err := x.events(ctx, row)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	payload, err := prompt.Notification(asked, events[0])
	return []delivery.Body{{Type: frameNotificationNew, Payload: payload}}, err
}

func (x *Expander) run(ctx context.Context, row delivery.Row) (delivery.Expansion, error) {
	header, err := x.header(ctx, row.Run)
	if err != nil {
		return delivery.Expansion{}, err
	}
	events, err := x.events(ctx, row)
	if err != nil {
		return delivery.Expansion{}, fmt.Errorf("read events: %w", err)
	}
	var out delivery.Expansion
	for _, e := range events {
		if err := x.add(ctx, &out, header, e); err != nil {
			return delivery.Expansion{}, err
		}
	}
	return out, nil
}

// events reads the events of a row, and those behind them in passing.
func (x *Expander) events(ctx context.Context, row delivery.Row) ([]runlog.StoredEvent, error) {
	from, to := runlog.EventSeq(row.From), runlog.EventSeq(row.To)
	if kept, ok := x.ahead.take(row.Run, from, to); ok {
		return kept, nil
	}
	asked := int(to - from + 1) //nolint:gosec // a row has few events
	events, _, err := x.record.Events(ctx, row.Run, from-1, max(asked, aheadEvents))
	if err != nil {
		return nil, err
	}
	x.ahead.keep(row.Run, events)
	return events[:min(asked, len(events))], nil
}

// add puts an event's frames behind those that are there, twice once people see different things.
func (x *Expander) add(ctx context.Context, out *delivery.Expansion, h Header, e runlog.StoredEvent) error {
	bodies, err := x.bodies(ctx, h, e)
	if err != nil {
		return err
	}
	shown, changed := e.ForStrangers()
	if changed && out.Others == nil {
		if out.Owner, err = x.owner(ctx, e.Edge); err != nil {
			return err
		}
		out.Others = append([]delivery.Body{}, out.Bodies...)
	}
	out.Bodies = append(out.Bodies, bodies...)
	if out.Others == nil {
		return nil
	}
	if changed {
		if bodies, err = x.bodies(ctx, h, shown); err != nil {
			return err
		}
	}
	out.Others = append(out.Others, bodies...)
	return nil
}

func (x *Expander) bodies(ctx context.Context, h Header, e runlog.StoredEvent) ([]delivery.Body, error) {
	first, err := Stream(h, e)
	if err != nil {
		return nil, err
	}
	var by id.User
	if e.Type == event.RunCancelled && !e.Late {
		if by, err = x.record.CancelledBy(ctx, h.Run); err != nil {
			return nil, fmt.Errorf("read who cancelled: %w", err)
		}
	}
	second, ended, err := Outcome(h, e, by)
	if err != nil || !ended {
		return []delivery.Body{first}, err
	}
	return []delivery.Body{first, second}, nil
}

// owner returns who owns an edge; nobody for one that is gone: then all see what strangers see.
func (x *Expander) owner(ctx context.Context, e id.Edge) (id.User, error) {
	edge, err := x.record.Edge(ctx, e)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return "", fmt.Errorf("read edge: %w", err)
	}
	return edge.Owner, nil
}

func (x *Expander) header(ctx context.Context, run id.Run) (Header, error) {
	x.mu.Lock()
	h, ok := x.runs[run]
	x.mu.Unlock()
	if ok {
		return h, nil
	}
	r, err := x.record.Run(ctx, run)
	if err != nil {
		return Header{}, fmt.Errorf("read run: %w", err)
	}
	h = Header{Run: r.ID, Session: r.Session, Agent: r.Agent, TraceID: r.TraceID}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.runs) >= knownRuns {
		clear(x.runs)
	}
	x.runs[run] = h
	return h, nil
}
