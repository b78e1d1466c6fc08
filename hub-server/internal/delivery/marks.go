package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// How long device marks gather before they are written, and how long the last write at the end may take.
const (
	markGather = 250 * time.Millisecond
	markFinish = 5 * time.Second
	markRows   = 100 // of one transaction: messages are committed in between
)

// DeviceMark is how far one device has been served. It belongs to the device of that user only.
type DeviceMark struct {
	User   id.User
	Device id.Device
	Mark
}

// MarkStore keeps device marks. Safe for concurrent use.
type MarkStore interface {
	// DeviceMark returns the mark of the user's device, false if there is none.
	DeviceMark(ctx context.Context, user id.User, device id.Device) (Mark, bool, error)

	// SaveDeviceMarks keeps marks in one transaction. Within an epoch a mark only moves forward.
	SaveDeviceMarks(ctx context.Context, marks []DeviceMark) error
}

// Marks keeps a position per device for clients that send no cursor (architecture 8). Moves are written in batches, so a crash
// replays a short overlap. It promises delivery to the socket, not to the application. Safe for concurrent use.
type Marks struct {
	log   *slog.Logger
	store MarkStore
	epoch func() wire.Epoch
	wake  chan struct{}

	mu    sync.Mutex
	moved map[id.Device]DeviceMark // not written yet
}

// NewMarks returns marks of a store, whose epoch may be remade; Run writes them.
func NewMarks(log *slog.Logger, store MarkStore, epoch func() wire.Epoch) *Marks {
	return &Marks{log: log, store: store, epoch: epoch, wake: make(chan struct{}, 1), moved: map[id.Device]DeviceMark{}}
}

// Move notes that a device has been served everything up to p. It never goes back.
func (m *Marks) Move(user id.User, device id.Device, p Position) {
	epoch := m.epoch()
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.moved[device]; ok && old.User == user && old.Epoch == epoch && old.Position >= p {
		return
	}
	m.moved[device] = DeviceMark{User: user, Device: device, Mark: Mark{epoch, p}}
	signal(m.wake)
}

// Last returns the newest mark of the user's device, written or not.
func (m *Marks) Last(ctx context.Context, user id.User, device id.Device) (Mark, bool, error) {
	m.mu.Lock()
	moved, ok := m.moved[device]
	m.mu.Unlock()
	if ok && moved.User == user {
		return moved.Mark, true, nil
	}
	return m.store.DeviceMark(ctx, user, device)
}

// Run writes moves until ctx ends, and what is left then.
func (m *Marks) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return m.finish(ctx)
		case <-m.wake:
		}
		select {
		case <-ctx.Done():
			return m.finish(ctx)
		case <-time.After(markGather):
		}
		if err := m.Flush(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("device marks not written, will retry", "error", err)
			signal(m.wake)
		}
	}
}

func (m *Marks) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markFinish)
	defer cancel()
	return m.Flush(ctx)
}

// Flush writes all moves, as Run does now and then. Until that has succeeded they stay where Last finds them.
func (m *Marks) Flush(ctx context.Context) error {
	m.mu.Lock()
	batch := make([]DeviceMark, 0, len(m.moved))
	for _, mark := range m.moved {
		batch = append(batch, mark)
	}
	m.mu.Unlock()
	for part := range slices.Chunk(batch, markRows) {
		if err := m.store.SaveDeviceMarks(ctx, part); err != nil {
			return fmt.Errorf("save device marks: %w", err)
		}
		m.saved(part)
	}
	return nil
}

// saved forgets moves that are written, unless they have gone on meanwhile.
func (m *Marks) saved(marks []DeviceMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mark := range marks {
		if m.moved[mark.Device] == mark {
			delete(m.moved, mark.Device)
		}
	}
}

// signal wakes whoever waits on c, or the next one who will. c has room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
