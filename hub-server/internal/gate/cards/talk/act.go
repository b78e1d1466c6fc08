package talk

import (
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Act is what has to be done for a frame of the client. Whoever has done it says so with the method that stands beside it, or else with Failed.
type Act interface{ act() }

// The acts.
type (
	// Enter opens the conversation that the address names: Entered, NotEntered.
	Enter struct{ Named string }
	// Create opens a conversation (R33). Wanted is the id that the client gives, which may be one of nobody; "" for a new one. Agent is which agent is
	// to answer in one that is made; "" for the person's default. Key is the same when the client asks for the same once more; "" if it cannot. Tools
	// are those that the client carries out there: nil leaves what was declared before, an empty list withdraws it. First is what is said there at once, by
	// a Post that follows: a conversation for what can be said nowhere is not made. Entered.
	Create struct {
		Wanted string
		Agent  string
		Key    string
		Tools  []card.ClientTool
		First  *card.UserMessage
	}
	// Offer declares the tools of a client in the conversation that is open. Nothing is said when it is done.
	Offer struct {
		Session id.Session
		Tools   []card.ClientTool
	}
	// Post sends a message of the person's. Nothing is said when it is done: the trace shows it.
	Post struct {
		Session id.Session
		Message card.UserMessage
	}
	// Answer answers a question of the conversation: Replied if it has been answered with the same before, else nothing.
	Answer struct {
		Session  id.Session
		Response card.PromptResponse
	}
	// Return says what a tool of the client's has come to. Nothing is said when it is done: the trace shows it.
	Return struct {
		Session id.Session
		Result  card.ToolResult
	}
	// Interrupt stops the turn that is running. Nothing is said when it is done.
	Interrupt struct{ Session id.Session }
	// Find looks for the trace of another, or a first, conversation of the connection: Found, NotResumed.
	Find struct{ Resume card.SessionResume }
	// Look brings the trace of the conversation up to date: Resumed, NotResumed.
	Look struct {
		Session id.Session
		Resume  card.SessionResume
	}
)

func (Enter) act()     {}
func (Create) act()    {}
func (Post) act()      {}
func (Answer) act()    {}
func (Offer) act()     {}
func (Return) act()    {}
func (Interrupt) act() {}
func (Find) act()      {}
func (Look) act()      {}
