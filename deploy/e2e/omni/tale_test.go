package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// tale is what a conversation has come to for somebody who follows it, in words that are nobody's: turn after turn, act after act.
type tale struct {
	turns []*turn
}

// turn is a task and what came of it.
type turn struct {
	asked   string // "" where the protocol does not tell it with the rest
	acts    []*act
	outcome string // completed, failed or aborted; "" while it goes on

	calls  []string        // ids, in the order of their beginnings
	denied map[string]bool // by id of a call
}

// act is one thing that an agent does, or that is done to it. Where it stands is where it began.
type act struct {
	who  string // the sub-agent; "" for the agent itself
	does string
	text string
	over bool // what is said next is another message
}

// What agents do. Texts and thoughts are told in pieces.
const (
	says   = "says"
	thinks = "thinks"
	isTold = "is told" // its task, of a sub-agent
	calls  = "calls"
	gets   = "gets"
	may    = "may"
)

// How calls end.
const (
	well    = "well"
	failed  = "failed"
	stopped = "stopped"
)

// Outcomes, in the words of S1.
const (
	completed = "completed"
	aborted   = "aborted"
)

func (t *tale) begin(asked string) {
	t.turns = append(t.turns, &turn{asked: asked, denied: map[string]bool{}})
}

// now is the turn at hand. What comes before there is one belongs to a turn of its own, so that it is seen.
func (t *tale) now() *turn {
	if len(t.turns) == 0 {
		t.begin("")
	}
	return t.turns[len(t.turns)-1]
}

func (t *turn) add(who, does, text string) {
	t.acts = append(t.acts, &act{who: who, does: does, text: text})
}

// last is the newest act of an agent, nil for none.
func (t *turn) last(who string) *act {
	for i := len(t.acts) - 1; i >= 0; i-- {
		if t.acts[i].who == who {
			return t.acts[i]
		}
	}
	return nil
}

// piece is more of what an agent says or thinks. A thought goes on until the agent does something else; a text also ends with its message.
func (t *turn) piece(who, does, text string) {
	if text == "" {
		return
	}
	if a := t.last(who); a != nil && a.does == does && !a.over {
		a.text += text
		return
	}
	t.add(who, does, text)
}

// ended is that an agent's message is over.
func (t *turn) ended(who string) {
	if a := t.last(who); a != nil && a.does == says {
		a.over = true
	}
}

func (t *turn) call(who, id, tool string, input []byte) {
	t.calls = append(t.calls, id)
	t.add(who, calls, fmt.Sprintf("%d: %s %s", t.number(id), tool, compact(input)))
}

// number is which of the turn's calls it is, from 1: their ids differ from protocol to protocol.
func (t *turn) number(id string) int {
	for i := len(t.calls) - 1; i >= 0; i-- {
		if t.calls[i] == id {
			return i + 1
		}
	}
	return 0
}

// decided is what somebody has said of a call.
func (t *turn) decided(who, id string, allowed bool) {
	t.denied[id] = !allowed
	t.add(who, may, fmt.Sprintf("%d: %t", t.number(id), allowed))
}

// returned is what became of a call. Of one that was denied, or stopped with its run, that is all: nobody has said more, or each protocol has its own
// words.
func (t *turn) returned(who, id, how, text string) {
	if t.denied[id] {
		how = "denied"
	}
	if how == stopped || how == "denied" {
		text = ""
	}
	t.add(who, gets, fmt.Sprintf("%d: %s %s", t.number(id), how, text))
}

// String has a line for each act.
func (t *tale) String() string {
	var b strings.Builder
	for i, turn := range t.turns {
		fmt.Fprintf(&b, "turn %d: %s\n", i+1, turn.outcome)
		for _, a := range turn.acts {
			fmt.Fprintf(&b, "  %s %s %q\n", a.who, a.does, a.text)
		}
	}
	return b.String()
}

// compact is a JSON value without white space between its parts.
func compact(value []byte) string {
	var short bytes.Buffer
	if json.Compact(&short, value) != nil {
		return string(value)
	}
	return short.String()
}

// plain is a JSON value as a person reads it.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return compact(value)
}
