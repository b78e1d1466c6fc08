// Package truth is the agent's own account of what it said, kept beside the system under test: the test agent writes every item to a
// book before it prints it, and a test compares the book with the run's log. Nothing of the product stands between agent and book.
package truth

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
)

// Kind is what an item is about.
type Kind string

// Kinds of item. Began opens the account of one run; its Text is the prompt.
const (
	Began    Kind = "began"
	Text     Kind = "text"
	Thought  Kind = "thought"
	Call     Kind = "call"
	Result   Kind = "result"
	Failure  Kind = "failure"
	Artifact Kind = "artifact"
)

// Item is one thing an agent said, and one line of a book.
type Item struct {
	Process int64           `json:"process"` // tells the accounts of one book apart
	Kind    Kind            `json:"kind"`
	Text    string          `json:"text,omitempty"`  // prompt, text, thought, tool name, error message, or checksum of an artifact
	Code    string          `json:"code,omitempty"`  // of a failure
	Value   json.RawMessage `json:"value,omitempty"` // arguments of a call, result of a tool
}

// chain continues c by the item.
func (i Item) chain(c *contentchain.Chain) error {
	switch i.Kind {
	case Text:
		c.Text(i.Text)
	case Thought:
		c.Thought(i.Text)
	case Call:
		return c.Call(i.Text, i.Value)
	case Result:
		return c.Result(i.Value)
	case Failure:
		c.Failure(i.Code, i.Text)
	case Artifact:
		c.Artifact(i.Text)
	case Began:
	}
	return nil
}
