package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Marks implements delivery.MarkStore.
type Marks struct {
	store  *Store
	writer *Writer
}

// NewMarks returns the device marks of a store.
func NewMarks(s *Store, w *Writer) *Marks { return &Marks{store: s, writer: w} }

// DeviceMark implements delivery.MarkStore.
func (m *Marks) DeviceMark(ctx context.Context, user id.User, device id.Device) (delivery.Mark, bool, error) {
	var mark delivery.Mark
	const query = `SELECT epoch, pos FROM device_marks WHERE device_id = $1 AND user_id = $2`
	err := m.store.queryRowPrepared(ctx, query, string(device), string(user)).Scan(&mark.Epoch, &mark.Position)
	if errors.Is(err, sql.ErrNoRows) {
		return delivery.Mark{}, false, nil
	}
	if err != nil {
		return delivery.Mark{}, false, fmt.Errorf("read device mark: %w", err)
	}
	return mark, true, nil
}

// SaveDeviceMarks implements delivery.MarkStore. A device that changed hands starts anew.
func (m *Marks) SaveDeviceMarks(ctx context.Context, marks []delivery.DeviceMark) error {
	const upsert = `
INSERT INTO device_marks (device_id, user_id, epoch, pos) VALUES ($1, $2, $3, $4)
ON CONFLICT (device_id) DO UPDATE SET user_id = excluded.user_id, epoch = excluded.epoch, pos = excluded.pos
 WHERE device_marks.epoch <> excluded.epoch OR device_marks.user_id <> excluded.user_id OR device_marks.pos < excluded.pos`
	// One order for all hubs, so that two of them never wait for each other in a circle.
	marks = slices.SortedFunc(slices.Values(marks), func(a, b delivery.DeviceMark) int { return cmp.Compare(a.Device, b.Device) })
	return m.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		for _, mark := range marks {
			_, err := tx.Exec(ctx, upsert, string(mark.Device), string(mark.User), string(mark.Epoch), int64(mark.Position))
			if err != nil {
				return fmt.Errorf("save device mark: %w", err)
			}
		}
		return nil
	})
}
