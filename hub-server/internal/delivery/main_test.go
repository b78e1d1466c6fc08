package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testEpoch wire.Epoch = "0123456789abcdef"

// memoryOutbox is the outbox of package sqlstore in a few lines: the truth that tests compare with.
type memoryOutbox struct {
	mu        sync.Mutex
	epoch     wire.Epoch
	floor     Position
	rows      []Row // rows[i] has position i+1
	intervals map[membership][]interval
	hide      Position // a row that reads skip, as if its transaction were not visible yet
	fail      error
}

type membership struct {
	session id.Session
	user    id.User
}

// interval is [from, to); to is 0 while it lasts.
type interval struct{ from, to Position }

func (i interval) holds(p Position) bool { return i.from <= p && (i.to == 0 || p < i.to) }

func newMemoryOutbox() *memoryOutbox {
	return &memoryOutbox{epoch: testEpoch, intervals: map[membership][]interval{}}
}

func (o *memoryOutbox) commit(rows ...Row) Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range rows {
		r.Position = Position(len(o.rows)) + 1
		o.rows = append(o.rows, r)
		key := membership{r.Session, r.ChangeUser}
		switch r.Change {
		case Joined:
			o.intervals[key] = append(o.intervals[key], interval{from: r.Position})
		case Left:
			last := len(o.intervals[key]) - 1
			o.intervals[key][last].to = r.Position
		}
	}
	return Position(len(o.rows))
}

func (o *memoryOutbox) Bounds(context.Context) (Bounds, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Bounds{Epoch: o.epoch, Floor: o.floor, Head: Position(len(o.rows))}, o.fail
}

func (o *memoryOutbox) Rows(_ context.Context, after Position, limit int) ([]Row, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []Row
	for _, r := range o.rows[after:] {
		if r.Position != o.hide && r.Position > o.floor && len(found) < limit {
			found = append(found, r)
		}
	}
	return found, o.fail
}

func (o *memoryOutbox) RowsFor(_ context.Context, user id.User, after, upTo Position, limit int) ([]Row, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if after < o.floor {
		return nil, ErrTrimmed
	}
	var found []Row
	for _, r := range o.rows[after:upTo] {
		if len(found) < limit && o.theirs(user, r) {
			found = append(found, r)
		}
	}
	return found, o.fail
}

func (o *memoryOutbox) theirs(user id.User, r Row) bool {
	if u, ok := r.Audience.User(); ok {
		return u == user
	}
	s, _ := r.Audience.Session()
	spans := o.intervals[membership{s, user}]
	belongs := slices.ContainsFunc(spans, func(i interval) bool { return i.to == 0 })
	return belongs && slices.ContainsFunc(spans, func(i interval) bool { return i.holds(r.Position) })
}

func (o *memoryOutbox) Backlog(ctx context.Context, user id.User, after, upTo Position, limit int) (Backlog, error) {
	rows, err := o.RowsFor(ctx, user, after, upTo, limit)
	b := Backlog{Rows: len(rows)}
	for _, r := range rows {
		b.Bytes += int64(len(r.Payload))
	}
	return b, err
}

func (o *memoryOutbox) SessionsOf(_ context.Context, user id.User, at Position) ([]id.Session, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var in []id.Session
	for m, spans := range o.intervals {
		if m.user == user && slices.ContainsFunc(spans, func(i interval) bool { return i.holds(at) }) {
			in = append(in, m.session)
		}
	}
	return in, o.fail
}

// wasMember says whether a user was in a session at a position.
func (o *memoryOutbox) wasMember(user id.User, s id.Session, p Position) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.intervals[membership{s, user}], func(i interval) bool { return i.holds(p) })
}

// inline expands rows that carry their frame.
type inline struct{ fail func(Row) error }

func (x inline) Expand(_ context.Context, rows []Row) (out []Expansion, err error) {
	for _, row := range rows {
		if x.fail != nil {
			if err := x.fail(row); err != nil {
				return out, err
			}
		}
		out = append(out, inlined(row))
	}
	return out, nil
}

// inlined is what a row says that carries its frame.
func inlined(row Row) Expansion {
	return Expansion{Bodies: []Body{{Type: event.FrameType(row.FrameType), Payload: row.Payload}}}
}

// memoryMarks is the mark store of package sqlstore.
type memoryMarks struct {
	mu    sync.Mutex
	saved map[id.Device]DeviceMark
	saves int
	fail  error
}

func newMemoryMarks() *memoryMarks { return &memoryMarks{saved: map[id.Device]DeviceMark{}} }

func (m *memoryMarks) DeviceMark(_ context.Context, user id.User, device id.Device) (Mark, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mark, ok := m.saved[device]
	return mark.Mark, ok && mark.User == user, m.fail
}

func (m *memoryMarks) SaveDeviceMarks(_ context.Context, marks []DeviceMark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.saves++
	for _, mark := range marks {
		if old, ok := m.saved[mark.Device]; !ok || old.Epoch != mark.Epoch || old.Position < mark.Position {
			m.saved[mark.Device] = mark
		}
	}
	return nil
}

// mark returns the written mark of a device.
func (m *memoryMarks) mark(device id.Device) Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saved[device].Position
}

func newTestTail(o Outbox, x Expander) *Tail { return newNarrowTail(o, x, 0) }

// newNarrowTail has queues for so many bytes.
func newNarrowTail(o Outbox, x Expander, queue int) *Tail {
	return NewTail(Config{
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("hub"), Outbox: o, Expand: x,
		Epoch: func() wire.Epoch { return testEpoch }, QueueBytes: queue,
	})
}

// note is a row with a numbered inline frame.
func note(to Audience, n int) Row {
	return Row{Audience: to, Kind: KindFrame, FrameType: "message.new", Payload: fmt.Appendf(nil, `{"n":%d}`, n)}
}

func joined(s id.Session, u id.User) Row {
	r := note(ToSession(s), 0)
	r.FrameType, r.Session, r.Change, r.ChangeUser = "session.member_joined", s, Joined, u
	return r
}

func left(s id.Session, u id.User) Row {
	r := joined(s, u)
	r.FrameType, r.Change = "session.member_left", Left
	return r
}

var errStore = errors.New("store is away")
