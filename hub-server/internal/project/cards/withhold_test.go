package cards_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What is left of the frames of a conversation when one of its messages is taken back: all but what it said, wherever that was shown.
func TestOfAMessageThatIsTakenBackOnlyWhatItSaidIsWithheld(t *testing.T) {
	const gone, turn, child = "msg_01890000-0000-7000-8000-00000000000a", "run_000000000000000a", "run_000000000000000b"
	at := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)
	other := cards.Run{ID: "run_000000000000000c", Agent: "scout", Trigger: "msg_2", Asked: "said by another"}
	asked := cards.Run{ID: turn, Agent: "scout", Trigger: gone, Asked: "said"}
	facts := []cards.Fact{
		{Message: &cards.Message{ID: gone, Text: "said"}},
		{Message: &cards.Message{ID: gone, Text: "said"}}, // whose card gets another id
		{Message: &cards.Message{ID: gone + "b", Text: "said by another"}},
		{Run: other, Event: event.RunStarted, Payload: []byte(`{}`)},
		{Run: asked, Event: event.RunStarted, Payload: []byte(`{}`)},
		{Run: asked, Event: event.MessageDelta, Payload: []byte(`{"message_id":"` + gone + `","content_index":0,"delta":"said by an agent"}`)},
		{Run: asked, Event: event.TaskStarted, Payload: []byte(`{"agent_id":"sub_a","name":"sub","task_prompt":"said by an agent"}`)},
		{Run: cards.Run{ID: child, Parent: turn, Agent: "helper", Trigger: gone, Asked: "said"}, Event: event.RunStarted, Payload: []byte(`{}`)},
	}
	s, w := cards.New(trace, session, card.English), cards.Withdrawn{Message: gone, Runs: []id.Run{turn, child}}
	var withheld int
	for i, f := range facts {
		f.Place, f.At, f.Recorded = int64(i+1), at, at
		for _, frame := range s.Apply(f) {
			less, held, err := w.Withhold(frame.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(string(frame.Bytes), `"said"`)
			if held != said {
				t.Errorf("withheld %t of\n%s", held, frame.Bytes)
			}
			if !held {
				continue
			}
			withheld++
			before, err := card.Decode(frame.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			after, err := card.Decode(less)
			if err != nil || after.Envelope != before.Envelope || after.Type != before.Type || strings.Contains(string(less), "said") {
				t.Errorf("of\n%sis left\n%s%v", frame.Bytes, less, err)
			}
			if _, again, err := w.Withhold(less); again || err != nil {
				t.Errorf("withheld once more, %v:\n%s", err, less)
			}
		}
	}
	if withheld != 4 {
		t.Errorf("%d frames were withheld", withheld)
	}
}
