package frames

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// material is what some rows are about, as far as it is there. Few of them need more: that is read when it is needed.
type material struct {
	record   Record
	headers  map[id.Run]Header
	messages map[id.Message]chat.Message
	events   map[id.Run][]runlog.StoredEvent // in their order, maybe with holes
	prompts  map[id.Request]prompt.Prompt
	owners   map[id.Edge]id.User
}

func (m *material) addMessages(all []chat.Message) {
	m.messages = make(map[id.Message]chat.Message, len(all))
	for _, one := range all {
		m.messages[one.ID] = one
	}
}

func (m *material) addPrompts(all []prompt.Prompt) {
	m.prompts = make(map[id.Request]prompt.Prompt, len(all))
	for _, one := range all {
		m.prompts[one.ID] = one
	}
}

func (m *material) addEvents(all []runlog.StoredEvent) {
	m.events = map[id.Run][]runlog.StoredEvent{}
	for _, one := range all {
		m.events[one.Run] = append(m.events[one.Run], one)
	}
	for _, log := range m.events {
		slices.SortFunc(log, func(a, b runlog.StoredEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	}
}

// expandAll expands rows; with an error, those before the one that it is about.
func (m *material) expandAll(ctx context.Context, rows []delivery.Row) ([]delivery.Expansion, error) {
	out := make([]delivery.Expansion, 0, len(rows))
	for i := range rows {
		one, err := m.expand(ctx, &rows[i])
		if err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (m *material) expand(ctx context.Context, row *delivery.Row) (out delivery.Expansion, err error) {
	switch row.Kind {
	case delivery.KindFrame:
		out.Bodies = []delivery.Body{{Type: event.FrameType(row.FrameType), Payload: row.Payload}}
	case delivery.KindMessage:
		out.Bodies, err = m.message(row.Message)
	case delivery.KindRun:
		out, err = m.run(ctx, row)
	case delivery.KindPrompt:
		out.Bodies, err = m.prompt(row)
	default:
		err = fmt.Errorf("row of kind %q: this hub is too old to read it", row.Kind)
	}
	return out, err
}

func (m *material) message(message id.Message) ([]delivery.Body, error) {
	found, ok := m.messages[message]
	if !ok {
		return nil, nil
	}
	payload, err := chat.Frame(found)
	return []delivery.Body{{Type: frameMessageNew, Payload: payload}}, err
}

// prompt tells what an event has made of a question.
func (m *material) prompt(row *delivery.Row) ([]delivery.Body, error) {
	asked, ok := m.prompts[row.Prompt]
	events := m.stretch(stretchOf(row))
	if !ok || asked.Run != row.Run || len(events) == 0 {
		return nil, nil
	}
	payload, err := prompt.Notification(asked, events[0])
	return []delivery.Body{{Type: frameNotificationNew, Payload: payload}}, err
}

func (m *material) run(ctx context.Context, row *delivery.Row) (out delivery.Expansion, err error) {
	header, ok := m.headers[row.Run]
	if !ok {
		return out, nil
	}
	for _, e := range m.stretch(stretchOf(row)) {
		if err := m.add(ctx, &out, header, e); err != nil {
			return delivery.Expansion{}, err
		}
	}
	return out, nil
}

// stretch returns the events of a stretch if all of them are there: who is owed some of them and not all is owed none.
func (m *material) stretch(s Stretch) []runlog.StoredEvent {
	log := m.events[s.Run]
	first, found := slices.BinarySearchFunc(log, s.From, bySeq)
	last, ended := slices.BinarySearchFunc(log, s.To, bySeq)
	if !found || !ended || last-first != int(s.To-s.From) { //nolint:gosec // a row has few events
		return nil
	}
	return log[first : last+1]
}

func bySeq(e runlog.StoredEvent, seq runlog.EventSeq) int { return cmp.Compare(e.Seq, seq) }

// add puts an event's frames behind those that are there, twice once people see different things.
func (m *material) add(ctx context.Context, out *delivery.Expansion, h Header, e runlog.StoredEvent) error {
	bodies, err := m.bodies(ctx, h, e)
	if err != nil {
		return err
	}
	shown, changed := e.ForStrangers()
	if changed && out.Others == nil {
		if out.Owner, err = m.owner(ctx, e.Edge); err != nil {
			return err
		}
		out.Others = append([]delivery.Body{}, out.Bodies...)
	}
	out.Bodies = append(out.Bodies, bodies...)
	if out.Others == nil {
		return nil
	}
	if changed {
		if bodies, err = m.bodies(ctx, h, shown); err != nil {
			return err
		}
	}
	out.Others = append(out.Others, bodies...)
	return nil
}

func (m *material) bodies(ctx context.Context, h Header, e runlog.StoredEvent) ([]delivery.Body, error) {
	first, err := Stream(h, e)
	if err != nil {
		return nil, err
	}
	var by id.User
	if e.Type == event.RunCancelled && !e.Late {
		if by, err = m.record.CancelledBy(ctx, h.Run); err != nil {
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
func (m *material) owner(ctx context.Context, e id.Edge) (id.User, error) {
	if known, ok := m.owners[e]; ok {
		return known, nil
	}
	edge, err := m.record.Edge(ctx, e)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return "", fmt.Errorf("read edge: %w", err)
	}
	m.owners[e] = edge.Owner
	return edge.Owner, nil
}
