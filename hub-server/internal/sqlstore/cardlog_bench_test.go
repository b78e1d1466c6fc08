package sqlstore

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const benchEvents = 100_000

// chatty is a conversation of so many events: messages of 40 deltas.
func chatty(b *testing.B, r *record, events int) *chatter {
	b.Helper()
	j, n := launched(b, r)
	v := &chatter{record: r, j: j, session: n.Session, run: n.ID}
	v.j.write(b, n.ID, wireStarted, struct{}{})
	for v.j.flush(b, r); len(j.rows) < events; {
		v.talk(b, 500)
	}
	return v
}

// chatter is an agent that has much to say.
type chatter struct {
	*record
	j       *journal
	session id.Session
	run     id.Run
	message id.Message
	deltas  int
}

// talk commits about so many events.
func (v *chatter) talk(b *testing.B, events int) {
	b.Helper()
	for range events {
		if v.deltas%40 == 0 {
			v.message = id.NewMessage()
			v.j.write(b, v.run, wireBegun, event.MessageStartedPayload{MessageID: v.message, Role: "assistant"})
		}
		v.deltas++
		v.j.write(b, v.run, wireDelta, event.DeltaPayload{MessageID: v.message, Delta: strings.Repeat("word ", 12)})
		if v.deltas%40 == 0 {
			text := strings.Repeat("word ", 12*40)
			v.j.write(b, v.run, wireSaid, event.MessageCompletedPayload{MessageID: v.message, Content: text, ContentChecksum: event.TextChecksum(text)})
		}
	}
	v.j.flush(b, v.record)
}

// BenchmarkCardsOpen measures how long somebody waits for the first frame of a long conversation: of one that was told up to a moment ago, by a hub
// that knows nothing of it.
func BenchmarkCardsOpen(b *testing.B) {
	for name, address := range addresses() {
		b.Run(name, func(b *testing.B) {
			s := openAt(b, address(b))
			startCheckpointer(b, s)
			v := chatty(b, newRecord(b, s, startWriter(b, s)), benchEvents)
			at := opened(b, v.teller(cardlog.Cards(card.English)), v.session).Head
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				v.talk(b, 100)
				b.StartTimer()
				hub := v.teller(cardlog.Cards(card.English))
				trace := opened(b, hub, v.session)
				frames, err := hub.Read(b.Context(), trace.ID, at, 1)
				if err != nil || len(frames) == 0 {
					b.Fatalf("read %v, %v", frames, err)
				}
				at = trace.Head
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/open")
		})
	}
}

// BenchmarkCardsLive measures what it costs to tell an event that was committed a moment ago, the disk sync included: while events come in frames as a
// busy edge packs them, and of one that comes alone.
func BenchmarkCardsLive(b *testing.B) {
	for name, address := range addresses() {
		b.Run(name+"/busy", func(b *testing.B) { live(b, openAt(b, address(b)), 950) }) // a page
		b.Run(name+"/alone", func(b *testing.B) { live(b, openAt(b, address(b)), 1) })
	}
}

func live(b *testing.B, s *Store, together int) {
	b.Helper()
	startCheckpointer(b, s)
	v := chatty(b, newRecord(b, s, startWriter(b, s)), 1000)
	hub := v.teller(cardlog.Cards(card.English))
	watcher := hub.Watch(v.session)
	defer watcher.Close()
	trace := opened(b, hub, v.session)
	events, at := 0, trace.Head
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		before := len(v.j.rows)
		v.talk(b, together)
		events += len(v.j.rows) - before
		b.StartTimer()
		trace = opened(b, hub, v.session)
		frames, err := hub.Read(b.Context(), trace.ID, at, 1<<20)
		if err != nil || len(frames) == 0 {
			b.Fatalf("read %v, %v", frames, err)
		}
		at = trace.Head
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
