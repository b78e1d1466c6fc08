package sqlstore

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// A message that is taken back after it was read, and before what it said is stored in frames, is not told.
func TestAMessageThatIsTakenBackWhileItIsBeingToldIsNotTold(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		store := &meddled{Store: NewCards(w.store, w.chat.writer)}
		hub := cardlog.New(cardlog.Config{
			Store: store, Rules: cardlog.Cards(card.English), Log: slog.New(slog.DiscardHandler), Metrics: cardlog.NewMetrics(telemetry.NewRegistry("hub")),
		})
		watcher := hub.Watch(s.ID)
		defer watcher.Close()
		opened(t, hub, s.ID)
		stays, gone := w.post(s.ID, ada.ID), w.post(s.ID, ada.ID)
		store.before = func(context.Context) error { return w.recall(gone, ada) }
		trace := opened(t, hub, s.ID)
		told := whole(t, hub, trace.ID, 0, 1<<20)
		if strings.Contains(told, string(gone.ID)) || !strings.Contains(told, string(stays.ID)) || !strings.Contains(told, "<hi>") {
			t.Errorf("told is\n%s", told)
		}
	})
}
