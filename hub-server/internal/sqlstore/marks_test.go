package sqlstore

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestDeviceMarksMoveForwardWithinAnEpochOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		m := NewMarks(s, w)
		user, device := id.NewUser(), id.NewDevice()
		save := func(u id.User, epoch wire.Epoch, p delivery.Position) {
			t.Helper()
			marks := []delivery.DeviceMark{
				{User: u, Device: device, Mark: delivery.Mark{Epoch: epoch, Position: p}},
				{User: user, Device: id.NewDevice(), Mark: delivery.Mark{Epoch: epoch, Position: 1}},
			}
			if err := m.SaveDeviceMarks(t.Context(), marks); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(u id.User, want delivery.Mark, known bool) {
			t.Helper()
			got, ok, err := m.DeviceMark(t.Context(), u, device)
			if err != nil || ok != known || got != want {
				t.Errorf("mark %+v, %v, error %v, want %+v, %v", got, ok, err, want, known)
			}
		}
		expect(user, delivery.Mark{}, false)
		save(user, "one", 5)
		save(user, "one", 3)
		expect(user, delivery.Mark{Epoch: "one", Position: 5}, true)
		save(user, "two", 2)
		expect(user, delivery.Mark{Epoch: "two", Position: 2}, true)
		expect(id.NewUser(), delivery.Mark{}, false)
		next := id.NewUser()
		save(next, "two", 1)
		expect(next, delivery.Mark{Epoch: "two", Position: 1}, true)
		expect(user, delivery.Mark{}, false)
	})
}
