package sqlstore

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Whatever a hub reads at once, however far its checkpoints are apart, and wherever somebody begins: the same facts are the same bytes.
func TestEveryHubTellsTheSameMessagesFromEveryPlace(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chanceOf(t).part(0)
		k.goOn(t, 60, random)
		all := told(t, r.fresh(), k.session, omnilog.FromTheBeginning, 1<<20)
		if len(all) < 100 {
			t.Fatalf("only %d messages", len(all))
		}
		head := k.head(t)
		for every, page := range map[int]omnilog.Page{
			7: {Facts: 1, Bytes: 1}, 1: {Facts: 16, Bytes: 100}, 50: {Facts: 7, Bytes: 1 << 20}, 1 << 20: {Facts: 1024, Bytes: 1 << 20},
		} {
			hub := folder(r.store, r.writer, every, page)
			for range 6 {
				place := random.Int64N(head + 1)
				what := fmt.Sprintf("checkpoints each %d, pages of %+v, behind %d", every, page, place)
				sameLines(t, what, told(t, hub, k.session, place, 1+random.IntN(1<<12)), behind(all, place))
			}
			history(t, hub, k.session, random, all)
		}
	})
}

// history reads a conversation in parts of random sizes in both directions.
func history(t *testing.T, hub *omnilog.Logs, session id.Session, random *rand.Rand, all []string) {
	t.Helper()
	want := complete(all)
	var got []string
	for after, more := int64(0), true; more; {
		h, err := hub.After(t.Context(), session, after, 1+random.IntN(20))
		if err != nil {
			t.Fatal(err)
		}
		got, after, more = append(got, linesOf(h.Items)...), h.UpTo, h.More
	}
	sameLines(t, "history forward", got, want)
	got = nil
	for before, more := omnilog.AtTheEnd, true; more; {
		limit := 1 + random.IntN(20)
		h, err := hub.Before(t.Context(), session, before, limit)
		if err != nil || len(h.Items) > limit {
			t.Fatalf("%d messages, want at most %d, %v", len(h.Items), limit, err)
		}
		got, more = append(linesOf(h.Items), got...), h.More
		if len(h.Items) > 0 {
			before = h.Items[0].Position
		}
	}
	sameLines(t, "history backward", got, want)
}

// A part of the history ends where much has been read for it, and the next goes on there: a message may be of many fragments.
func TestAPartOfTheHistoryEndsWhereMuchWasRead(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chanceOf(t).part(0)
		k.goOn(t, 60, random)
		want := complete(told(t, r.fresh(), k.session, omnilog.FromTheBeginning, 1<<20))
		hub := omnilog.New(omnilog.Config{
			Store: NewOmni(r.store, r.writer), Log: slog.New(slog.DiscardHandler), Metrics: omnilog.NewMetrics(telemetry.NewRegistry("hub")),
			Every: 5, Places: 10, Page: omnilog.Page{Facts: 5, Bytes: 1 << 20},
		})
		if _, err := hub.View(t.Context(), k.session); err != nil {
			t.Fatal(err)
		}
		hub.Seen([]delivery.Row{{Kind: delivery.KindMessage, Session: k.session, From: 1}}) // nothing is in memory
		var got []string
		parts := 0
		for after, more := omnilog.FromTheBeginning, true; more; parts++ {
			h, err := hub.After(t.Context(), k.session, after, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			got, after, more = append(got, linesOf(h.Items)...), h.UpTo, h.More
		}
		sameLines(t, "forward", got, want)
		if most := int(k.head(t)); parts < 3 || parts > most {
			t.Errorf("forward in %d parts, of %d places", parts, most)
		}
		got, parts = nil, 0
		for before, more := omnilog.AtTheEnd, true; more; parts++ {
			h, err := hub.Before(t.Context(), k.session, before, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if got, more = append(linesOf(h.Items), got...), h.More; len(h.Items) > 0 {
				before = h.Items[0].Position
			}
		}
		sameLines(t, "backward", got, want)
		if parts < 3 {
			t.Errorf("backward in %d parts", parts)
		}
	})
}

// Two hubs of one store tell the same as it goes on, to readers who are at the end and to one who is slow.
func TestReadersAtTwoHubsGetWhatComes(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chanceOf(t).part(0)
		hubs := []*omnilog.Logs{folder(r.store, r.writer, 20, omnilog.Page{}), folder(r.store, r.writer, 30, omnilog.Page{})}
		var readers []*omnilog.Reader
		for _, hub := range []int{0, 0, 1} {
			reader, _, err := hubs[hub].FollowNow(t.Context(), k.session)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			readers = append(readers, reader)
		}
		got := make([][]string, 3)
		for round := range 20 {
			k.goOn(t, 5, random)
			rows, err := r.store.Rows(t.Context(), 0, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for _, hub := range hubs {
				hub.Seen(rows)
			}
			for i, reader := range readers {
				soon(t, reader.Ready())
				if i != 1 || round == 19 {
					got[i] = append(got[i], rest(t, reader, 1+random.IntN(1000))...)
				}
				hubs[i/2].Seen(rows) // the signal that was taken is given again
			}
		}
		all := told(t, r.fresh(), k.session, 0, 1<<20)
		for i := range readers {
			sameLines(t, fmt.Sprintf("reader %d", i), got[i], all)
		}
	})
}

func TestPlacesThatAreNotThere(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		k := newTalk(t, r)
		k.goOn(t, 5, chanceOf(t).part(0))
		hub := r.fresh()
		if _, _, err := hub.Follow(t.Context(), k.session, k.head(t)+1); !errors.Is(err, omnilog.ErrAhead) {
			t.Errorf("beyond the head: %v", err)
		}
		if _, err := hub.After(t.Context(), k.session, k.head(t)+1, 1); !errors.Is(err, omnilog.ErrAhead) {
			t.Errorf("history beyond the head: %v", err)
		}
		if _, err := hub.Before(t.Context(), k.session, omnilog.Position{Place: k.head(t) + 1}, 1); !errors.Is(err, omnilog.ErrAhead) {
			t.Errorf("history before what is beyond the head: %v", err)
		}
		if _, err := hub.View(t.Context(), id.NewSession()); !errors.Is(err, omnilog.ErrUnknown) {
			t.Errorf("of no conversation: %v", err)
		}
		empty := r.conversation(t)
		if h, err := hub.Before(t.Context(), empty, omnilog.AtTheEnd, 5); err != nil || len(h.Items) > 0 || h.More || h.UpTo != 0 {
			t.Errorf("of an empty one: %+v, %v", h, err)
		}
	})
}

// What was read of a message before it was taken back, or changed, is read nowhere afterwards: not from the memory of a hub, and not from a checkpoint that has it.
func TestWhatAMessageSaidIsNotToldWhenItSaysSomethingElse(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		hub := folder(w.store, w.chat.writer, 1, omnilog.Page{Facts: 1, Bytes: 1})
		say := func(text string) chat.Message {
			p := w.posting(s.ID, ada.ID)
			p.Message.Content = []byte(`{"text":"` + text + `"}`)
			m, _, err := w.chat.Post(t.Context(), p)
			w.must(err)
			return m
		}
		first, gone, last := say("first"), say("gone"), say("last")
		reader, view, err := hub.Follow(t.Context(), s.ID, 0)
		w.must(err)
		defer reader.Close()
		w.must(hub.Keep(t.Context(), s.ID, 2))
		floor := w.checkpointAt(s.ID, 2)
		w.must(NewOmni(w.store, w.chat.writer).Raise(t.Context(), floor.Checkpoint)) // the floor's cannot be made again
		w.must(w.recall(gone, ada))
		w.must(w.edit(first, ada, `{"text":"1st"}`))
		w.must(w.edit(last, ada, `{"text":"latest"}`))
		rows, err := w.store.Rows(t.Context(), 0, 1<<20)
		w.must(err)
		hub.Seen(rows)
		for name, l := range map[string]*omnilog.Logs{"the same hub": hub, "another hub": folder(w.store, w.chat.writer, 1, omnilog.Page{})} {
			for _, place := range []int64{2, view.Place} {
				begin, err := NewOmni(w.store, w.chat.writer).Checkpoint(t.Context(), s.ID, place, omnilog.Rules)
				w.must(err)
				if state := string(begin.State); strings.Contains(state, "gone") || strings.Contains(state, "first") || strings.Contains(state, `"last"`) {
					t.Errorf("%s: the checkpoint of place %d has %s", name, place, state)
				}
			}
			w.must(w.overflow(s.ID, ada.ID))
			told := strings.Join(told(t, l, s.ID, 2, 1), "\n")
			if strings.Contains(told, "gone") || strings.Contains(told, `"first"`) || !strings.Contains(told, `"1st"`) || !strings.Contains(told, `"latest"`) {
				t.Errorf("%s tells\n%.2000s", name, told)
			}
		}
	})
}

// checkpointAt is the checkpoint of exactly a place.
func (w *town) checkpointAt(session id.Session, place int64) omnilog.Begin {
	w.t.Helper()
	begin, err := NewOmni(w.store, w.chat.writer).Checkpoint(w.t.Context(), session, place, omnilog.Rules)
	w.must(err)
	if begin.Place != place {
		w.t.Fatalf("the checkpoint is of place %d, want %d", begin.Place, place)
	}
	return begin
}

// overflow says so much that nothing waits for an agent any more.
func (w *town) overflow(session id.Session, by id.User) error {
	for range 65 {
		if _, _, err := w.chat.Post(w.t.Context(), w.posting(session, by)); err != nil {
			return err
		}
	}
	return nil
}

// A text, arguments and a result come whole that are too large for a row.
func TestMessagesHaveWhatIsKeptBesideTheLogWhole(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, struct{}{})
		blob := func(text string) *event.BlobRef {
			return &event.BlobRef{SHA256: string(r.put(t, j.edge, []byte(text))), Size: int64(len(text))}
		}
		text, arguments, result := strings.Repeat("word ", 200_000), `{"x":"`+strings.Repeat("a", 100_000)+`"}`, strings.Repeat("<result>", 400_000)
		j.write(t, n.ID, wireSaid, event.MessageCompletedPayload{MessageID: id.NewMessage(), ContentBlob: blob(text), ContentChecksum: event.TextChecksum(text)})
		j.write(t, n.ID, "run.agent.tool_call", event.ToolStartedPayload{ToolCallID: "a", ToolName: "bash", Arguments: []byte(`{}`), ArgumentsBlob: blob(arguments)})
		j.write(t, n.ID, "run.agent.tool_result", event.ToolCompletedPayload{ToolCallID: "a", ResultBlob: blob(result), ResultChecksum: event.TextChecksum(result)})
		j.flush(t, r)
		types := typesOf(r.logOf(t, n.ID))
		if !slices.Contains(types, event.ToolStarted) || !slices.Contains(types, event.ToolCompleted) {
			t.Fatalf("the log is %v", types)
		}
		all := told(t, r.fresh(), n.Session, 0, 1)
		for i, want := range []string{text, strings.ReplaceAll(arguments, `"`, `\"`), result} {
			if !slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, want) }) {
				t.Errorf("nothing has text %d whole", i)
			}
		}
		sameLines(t, "a second time", told(t, folder(r.store, r.writer, 1, omnilog.Page{Facts: 2, Bytes: 1}), n.Session, 0, 1), all)
	})
}
