package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// scanStep is the time between two scans in these tests: as much as a watchdog takes for one without a pause.
const scanStep = 5 * time.Second

// vigil is a conversation with an agent that two hubs watch, by a clock of its own.
type vigil struct {
	*asker
	logs  *cardlog.Logs
	dogs  []*cardlog.Watchdog
	trace id.Trace
	now   time.Time
	since time.Time // the edge is here
	dated int64     // places
}

func newVigil(t *testing.T, r *record) *vigil {
	t.Helper()
	v := &vigil{asker: newAsker(t, r), logs: r.teller(cardlog.Cards(card.English)), now: time.Now().Truncate(time.Second)}
	v.since = v.now
	for range 2 {
		dog := cardlog.NewWatchdog(r.teller(cardlog.Cards(card.English)), NewTimers(r.store, r.writer), r.Runs, slog.New(slog.DiscardHandler))
		v.dogs = append(v.dogs, dog)
	}
	v.date()
	v.trace = opened(t, v.logs, v.n.Session).ID
	v.scan()
	return v
}

// says commits an event at the time of the test.
func (v *vigil) says(wireType event.WireType, payload string) {
	v.t.Helper()
	v.j.write(v.t, v.n.ID, wireType, json.RawMessage(payload))
	v.j.flush(v.t, v.record)
	v.date()
	opened(v.t, v.logs, v.n.Session)
}

// date gives what was committed since the last call the time of the test.
func (v *vigil) date() {
	v.t.Helper()
	do(v.t, v.writer, nil, func(ctx context.Context, tx *Tx) error {
		const set = `UPDATE run_events SET recorded_at = $3, occurred_at = $3 WHERE run_id = $1 AND place > $2`
		_, err := tx.Exec(ctx, set, string(v.n.ID), v.dated, micros(v.now))
		return err
	})
	v.dated = v.head()
}

func (v *vigil) head() int64 {
	k := &talk{record: v.record, session: v.n.Session}
	return k.head(v.t)
}

// scan lets all hubs look at once.
func (v *vigil) scan() {
	v.t.Helper()
	if err := errors.Join(together(len(v.dogs), func(i int) error { return v.dogs[i].Scan(v.t.Context(), v.now) })...); err != nil {
		v.t.Fatal(err)
	}
	v.dated = v.head()
}

// pass lets time pass under the eyes of the hubs.
func (v *vigil) pass(d time.Duration) {
	v.t.Helper()
	for end := v.now.Add(d); v.now.Before(end); {
		v.now = v.now.Add(scanStep)
		v.scan()
	}
}

// be lets the edge come or go.
func (v *vigil) be(here bool) {
	v.fleet.set(v.j.edge, here)
	if v.scan(); here {
		v.since = v.now
	}
}

func (v *vigil) frames() (all []card.Event) {
	v.t.Helper()
	opened(v.t, v.logs, v.n.Session)
	for line := range strings.Lines(whole(v.t, v.logs, v.trace, 0, 1<<20)) {
		var e card.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			v.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// orphans are the cards that were given up, in their order.
func (v *vigil) orphans() (all []string) {
	v.t.Helper()
	for _, e := range v.frames() {
		if isOrphan(e) {
			all = append(all, string(e.Envelope.CardKind))
		}
	}
	return all
}

func isOrphan(e card.Event) bool {
	return e.Type == card.Close && strings.Contains(string(e.Payload), string(card.OrphanTimeout))
}

func (v *vigil) expect(when string, want ...string) {
	v.t.Helper()
	if got := v.orphans(); strings.Join(got, " ") != strings.Join(want, " ") {
		v.t.Errorf("%s, %v were given up, want %v", when, got, want)
	}
}

const toolBegins = `{"tool_call_id":"t%d","tool_name":"Bash","arguments":{}}`

func TestACardOfWhichNothingIsHeardIsGivenUpOnceAndAsAFact(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		v := newVigil(t, r)
		v.says(wireToolCall, fmt.Sprintf(toolBegins, 1))
		v.pass(115 * time.Second)
		v.expect("before its time")
		v.pass(10 * time.Second)
		v.expect("after 125 s", "tool")
		v.pass(470 * time.Second)
		v.expect("after 595 s", "tool")
		v.pass(10 * time.Second)
		v.expect("after 605 s", "tool", "turn")
		facts := 0
		for _, e := range v.logOf(t, v.n.ID) {
			if e.Type == event.RunCardOrphaned {
				facts++
			}
		}
		if facts != 2 {
			t.Errorf("the log has %d of them", facts)
		}
		v.pass(2000 * time.Second)
		v.expect("for ever", "tool", "turn")
		if n := r.count(t, `SELECT COUNT(*) FROM timers WHERE kind = 'cards.orphans'`); n > 0 {
			t.Error("it still looks")
		}
		v.says(wireToolCall, fmt.Sprintf(toolBegins, 2))
		v.pass(130 * time.Second)
		v.expect("the next tool", "tool", "turn", "tool")
	})
}

func TestNobodyIsLateWhileAPersonIsAskedOrTheEdgeIsAway(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		v := newVigil(t, r)
		v.says(wireToolCall, fmt.Sprintf(toolBegins, 1))
		request := v.inquire(event.PromptQuestion, `{"question":"Which one?","options":[{"label":"a"}]}`, 0)
		v.date()
		opened(t, v.logs, v.n.Session)
		v.pass(3000 * time.Second)
		for _, kind := range v.orphans() {
			if kind == "turn" {
				t.Error("the turn was given up while a person is asked")
			}
		}
		before := v.orphans()
		if _, err := v.reply(wire.Answer{RequestID: request, Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["a"]}`)}); err != nil {
			t.Fatal(err)
		}
		v.date()
		opened(t, v.logs, v.n.Session)
		v.pass(110 * time.Second)
		v.expect("shortly after the answer", before...)
		v.be(false)
		v.pass(3000 * time.Second)
		v.expect("while its edge was away", before...)
		v.be(true)
		v.pass(100 * time.Second)
		v.expect("shortly after it came back", before...)
		v.pass(600 * time.Second)
		if got := v.orphans(); len(got) != 2 || got[1] != "turn" {
			t.Errorf("in the end %v were given up", got)
		}
	})
}

func TestNothingIsGivenUpOfARunThatHasEnded(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		v := newVigil(t, r)
		v.says(wireToolCall, fmt.Sprintf(toolBegins, 1))
		v.j.write(t, v.n.ID, wireFinished, json.RawMessage(`{}`)) // nobody looks when it is committed
		v.j.flush(t, r)
		v.pass(3000 * time.Second)
		v.expect("of a run that has ended")
	})
}

// patience is for how long cards of a kind may be silent (facts 0.3).
var patience = map[card.Kind]time.Duration{card.Tool: 120 * time.Second, card.Message: 300 * time.Second, card.Turn: 600 * time.Second}

// Whatever an agent does and its edge suffers, a card is given up once and only once nothing was heard of it or below it for as long as its kind may be
// silent, and none is forgotten.
func TestExactlyTheSilentCardsAreGivenUp(t *testing.T) {
	s := openAt(t, migratedFile(t))
	r := newRecord(t, s, startWriter(t, s))
	rapid.Check(t, func(rt *rapid.T) {
		r.fleet.owner = id.NewUser()
		v := newVigil(t, r)
		defer r.fleet.set(v.j.edge, false) // the next run goes to the next edge
		here, next, open := true, 0, []int(nil)
		var messages []id.Message
		for range rapid.IntRange(3, 10).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"tool", "done", "message", "words", "time", "time", "edge"}).Draw(rt, "step") {
			case "tool":
				next++
				open = append(open, next)
				v.says(wireToolCall, fmt.Sprintf(toolBegins, next))
			case "done":
				if len(open) > 0 {
					v.says("run.agent.tool_result", fmt.Sprintf(`{"tool_call_id":"t%d","result":"x"}`, open[0]))
					open = open[1:]
				}
			case "message":
				messages = append(messages, id.NewMessage())
				v.says(wireBegun, fmt.Sprintf(`{"message_id":%q,"role":"assistant"}`, messages[len(messages)-1]))
			case "words":
				if len(messages) > 0 {
					v.says(wireDelta, fmt.Sprintf(`{"message_id":%q,"delta":"x"}`, messages[len(messages)-1]))
				}
			case "time":
				v.pass(time.Duration(rapid.IntRange(1, 40).Draw(rt, "scans")) * scanStep)
			case "edge":
				here = !here
				v.be(here)
			}
		}
		v.check(rt, here)
	})
}

// check holds the orphans of a trace to what its frames say of silence.
func (v *vigil) check(rt *rapid.T, here bool) {
	type known struct {
		kind   card.Kind
		parent string
		heard  time.Time
		open   bool
		given  bool
	}
	cards := map[string]*known{}
	for _, e := range v.frames() {
		at := e.Envelope
		if e.Type == card.Add {
			cards[at.CardID] = &known{kind: at.CardKind, parent: at.ParentCardID, open: true}
		}
		c := cards[at.CardID]
		if c == nil {
			continue
		}
		if isOrphan(e) {
			if silent := at.Timestamp.Sub(c.heard); silent < patience[c.kind] || c.given {
				rt.Fatalf("%s was given up after %s (before: %t)", at.CardID, silent, c.given)
			}
			c.open, c.given = false, true
			continue
		}
		c.open = c.open && e.Type != card.Close
		for up := c; up != nil; up = cards[up.parent] {
			up.heard = at.Timestamp
		}
	}
	for name, c := range cards {
		heard := c.heard
		if v.since.After(heard) {
			heard = v.since
		}
		if here && c.open && patience[c.kind] > 0 && v.now.Sub(heard) > patience[c.kind]+3*scanStep {
			rt.Fatalf("%s is silent for %s and stands", name, v.now.Sub(heard))
		}
	}
}
