package delivery

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// sayings expands rows of messages to what they say now.
type sayings struct {
	mu     sync.Mutex
	says   map[id.Message]string
	reads  int
	during func() // runs between reading and answering
}

func (x *sayings) say(m id.Message, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.says[m] = text
}

func (x *sayings) Expand(_ context.Context, rows []Row) (out []Expansion, err error) {
	for _, row := range rows {
		out = append(out, x.expand(row))
	}
	return out, nil
}

func (x *sayings) expand(row Row) Expansion {
	if row.Kind != KindMessage {
		return inlined(row)
	}
	x.mu.Lock()
	text, during := x.says[row.Message], x.during
	x.reads++
	x.during = nil
	x.mu.Unlock()
	if during != nil {
		during()
	}
	return Expansion{Bodies: []Body{{Type: "message.new", Payload: fmt.Appendf(nil, `{"text":%q}`, text)}}}
}

// reader reads what a user is told from the beginning on, out of memory.
func reader(t *testing.T, tail *Tail, user id.User) func() string {
	t.Helper()
	s, _ := follow(t, tail, user, 0)
	if _, _, ok := s.fromRecent(tail.Position()); !ok && tail.Position() > 0 {
		t.Fatal("not served out of memory: the test shows nothing")
	}
	return func() (told string) {
		for {
			frames, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				told += string(f.Append(nil, 1))
			}
			if len(frames) == 0 && s.Attached() {
				return told
			}
		}
	}
}

func messageRow(to Audience, m id.Message, revision uint64) Row {
	return Row{Audience: to, Kind: KindMessage, Message: m, From: revision, Bytes: 10}
}

func recallRow(to Audience, m id.Message) Row {
	return Row{Audience: to, Kind: KindFrame, FrameType: "message.recall", Payload: []byte(`{}`), Message: m, From: 1}
}

// Whoever was away while a message was recalled or edited is not told what it said before, though others were, a moment ago.
func TestWhatWasTakenBackIsNotToldOutOfMemory(t *testing.T) {
	for name, change := range map[string]func(Audience, id.Message) Row{
		"recalled": recallRow,
		"edited":   func(to Audience, m id.Message) Row { return messageRow(to, m, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			o, me, m := newMemoryOutbox(), id.NewUser(), id.NewMessage()
			x := &sayings{says: map[id.Message]string{m: "secret"}}
			tail := started(t, o, x)
			live := reader(t, tail, me)
			live()
			o.commit(messageRow(ToUser(me), m, 0))
			step(t, tail)
			if told := live(); !strings.Contains(told, "secret") {
				t.Fatalf("live %s", told)
			}
			x.say(m, "changed")
			o.commit(change(ToUser(me), m))
			step(t, tail)
			for range 2 {
				if told := reader(t, tail, me)(); strings.Contains(told, "secret") || !strings.Contains(told, "changed") {
					t.Errorf("told %s", told)
				}
			}
		})
	}
}

// A row that is read while its message is being recalled is not kept as it was read.
func TestWhatIsReadWhileItIsTakenBackIsNotKept(t *testing.T) {
	o, me, m := newMemoryOutbox(), id.NewUser(), id.NewMessage()
	x := &sayings{says: map[id.Message]string{m: "secret"}}
	tail := started(t, o, x)
	o.commit(messageRow(ToUser(me), m, 0))
	step(t, tail) // nobody is there: the row is kept unread
	x.during = func() {
		x.say(m, "changed")
		o.commit(recallRow(ToUser(me), m))
		step(t, tail)
	}
	reader(t, tail, me)()
	if told := reader(t, tail, me)(); strings.Contains(told, "secret") {
		t.Errorf("told %s", told)
	}
	if x.reads < 2 {
		t.Errorf("read %d times", x.reads)
	}
}
