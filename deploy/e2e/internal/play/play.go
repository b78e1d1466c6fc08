// Package play is a part that a test writes and the test agent plays: what it says, thinks, calls, asks and leaves undone, act by act.
package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Act is one thing that an agent does. Which fields count its Kind says.
type Act struct {
	Kind Kind   `json:"do"`
	Who  string `json:"who,omitempty"`  // the sub-agent that does it; "" for the agent itself
	Text string `json:"text,omitempty"` // words: a piece of a message, a thought, a task, an output, why it failed
	Call string `json:"call,omitempty"` // the id of a call
	Tool string `json:"tool,omitempty"`
	// Value is the input of a call.
	Value json.RawMessage `json:"value,omitempty"`
	// Fidelity is what a provider has attached to what ends here, or to a call: an object, in a string so that it stays as it is.
	Fidelity string `json:"fidelity,omitempty"`
}

// Kind is which act it is.
type Kind string

// The acts.
const (
	Say    Kind = "say"    // Text, as a piece of the message at hand
	End    Kind = "end"    // of the message at hand
	Think  Kind = "think"  // Text, as part of the message at hand
	Muse   Kind = "muse"   // Text, by itself
	Rest   Kind = "rest"   // of the thought at hand
	Call   Kind = "call"   // Call, Tool, Value
	Return Kind = "return" // Call, Tool, Text
	Break  Kind = "break"  // Call, Tool, Text: the call has failed
	Ask    Kind = "ask"    // Call, Tool, Value: whether the call may be; the next Return of a call that may not be is its failure
	Begin  Kind = "begin"  // Who, Text: a sub-agent begins with a task, for Call
	Finish Kind = "finish" // Who, Text: it is done
	Fail   Kind = "fail"   // Text: the run fails
	Wait   Kind = "wait"   // Text is said, and then nothing is done until somebody stops the run
)

// Part is what an agent is asked to play.
type Part []Act

// Waits returns what is said last in a part that ends when somebody stops it.
func (p Part) Waits() (words string, waits bool) {
	if len(p) == 0 || p[len(p)-1].Kind != Wait {
		return "", false
	}
	return p[len(p)-1].Text, true
}

// word begins the message that asks for a part.
const word = "Play "

// String is the message that asks an agent for the part.
func (p Part) String() string {
	acts, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("play: %v", err)) // the author of a part sees to its values
	}
	return word + string(acts)
}

// ErrNoPart says that a message asks for none.
var ErrNoPart = errors.New("the message asks for no part")

// Parse reads what String wrote.
func Parse(message string) (Part, error) {
	_, acts, found := strings.Cut(message, word)
	if !found {
		return nil, ErrNoPart
	}
	var p Part
	if err := json.Unmarshal([]byte(acts), &p); err != nil {
		return nil, errors.Join(ErrNoPart, err)
	}
	return p, nil
}
