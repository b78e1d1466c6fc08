package sqlstore

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// echo is a fold that tells of each fact what it is, in one line or in two, and nothing of every third place.
type echo struct {
	Rules int
	Trace id.Trace
	Last  card.Seq
	Place int64
}

func echoes(version int) cardlog.Rules {
	return cardlog.Rules{
		Version: version,
		New:     func(trace id.Trace, _ id.Session) cardlog.Fold { return &echo{Rules: version, Trace: trace} },
		Restore: func(state []byte) (cardlog.Fold, error) {
			e := &echo{}
			err := json.Unmarshal(state, e)
			e.Rules = version
			return e, err
		},
	}
}

func (e *echo) Apply(f cards.Fact) (frames []cards.Frame) {
	if f.Place <= e.Place {
		return nil
	}
	e.Place = f.Place
	if f.Place%3 == 0 && f.Event != event.PromptRequested {
		return nil
	}
	what := fmt.Sprintf("%d %s %s %s by %s", f.Place, f.Event, f.Run.ID, f.Payload, f.Run.Agent)
	if f.Message != nil {
		what = fmt.Sprintf("%d %s %t", f.Place, f.Message.Text, f.Message.ByAgent)
	}
	for i := range 1 + f.Place%2 {
		e.Last++
		line, err := json.Marshal([]any{e.Trace, e.Last, e.Rules, what, i})
		if err != nil {
			panic(err)
		}
		frames = append(frames, cards.Frame{Seq: e.Last, Bytes: append(line, '\n')})
	}
	var asked struct {
		Request id.Request `json:"request_id"`
	}
	if f.Event == event.PromptRequested && json.Unmarshal(f.Payload, &asked) == nil {
		frames[0].Request = asked.Request
	}
	return frames
}

func (e *echo) Seq() card.Seq { return e.Last }

func (e *echo) Model() string { return "" }

func (e *echo) Deadline(cards.Presence) (cards.Due, bool) { return cards.Due{}, false }

func (e *echo) Encode() []byte {
	state, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return state
}

// teller is the traces as one hub process has them.
func (r *record) teller(rules cardlog.Rules) *cardlog.Logs {
	return cardlog.New(cardlog.Config{
		Store: NewCards(r.store, r.writer), Rules: rules, Log: slog.New(slog.DiscardHandler), Metrics: cardlog.NewMetrics(telemetry.NewRegistry("hub")),
	})
}

// opened opens a trace that must be there.
func opened(tb testing.TB, l *cardlog.Logs, session id.Session) cardlog.Trace {
	tb.Helper()
	trace, err := l.Open(tb.Context(), session)
	if err != nil {
		tb.Fatal(err)
	}
	return trace
}

// whole reads a trace behind a number to its end, in reads of so many bytes.
func whole(tb testing.TB, l *cardlog.Logs, trace id.Trace, after card.Seq, bytes int) string {
	tb.Helper()
	var all strings.Builder
	for {
		frames, err := l.Read(tb.Context(), trace, after, bytes)
		if err != nil {
			tb.Fatal(err)
		}
		if len(frames) == 0 {
			return all.String()
		}
		for _, f := range frames {
			if after++; f.Seq != after {
				tb.Fatalf("frame %d follows on %d", f.Seq, after-1)
			}
			all.Write(f.Bytes)
		}
	}
}

// lineAfter is what a trace says behind a number, out of all that it says.
func lineAfter(all string, after card.Seq) string {
	for range after {
		_, all, _ = strings.Cut(all, "\n")
	}
	return all
}

// soon waits for a signal.
func soon(tb testing.TB, ready <-chan struct{}) {
	tb.Helper()
	select {
	case <-ready:
	case <-time.After(10 * time.Second):
		tb.Fatal("no signal came")
	}
}
