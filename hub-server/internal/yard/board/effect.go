package board

import "github.com/switchyard-dev/switchyard/hub-server/client"

// Effect is something that the board wants done: one of the types below. What comes of it is told to the board.
type Effect any

// Effects.
type (
	// Quit ends the program.
	Quit struct{}
	// List asks for all conversations; Listed takes them.
	List struct{}
	// Fetch asks for a page of messages in front of a number, with Before 0 for the newest and for the runs under way; Page takes it.
	Fetch struct {
		Session client.SessionID
		Before  client.SeqID
	}
	// Send sends a message; Sent takes the outcome. With an ID it is one that was sent before, and perhaps arrived.
	Send struct {
		ID      client.ClientMsgID
		Session client.SessionID
		Text    string
		ReplyTo client.MessageID
	}
	// Edit lets a message say something else.
	Edit struct {
		Message client.MessageID
		Text    string
	}
	// Recall takes a message back.
	Recall struct{ Message client.MessageID }
	// React adds a reaction to a message, or takes it away.
	React struct {
		Message  client.MessageID
		Reaction string
		Off      bool
	}
	// Pin pins a message, or removes the pin.
	Pin struct {
		Message client.MessageID
		Off     bool
	}
	// MarkRead moves the read mark of a conversation; Marked takes an error.
	MarkRead struct {
		Session client.SessionID
		Seq     client.SeqID
	}
	// Answer answers a question; Answered takes an error.
	Answer struct {
		Run     client.RunID
		Request client.RequestID
		Input   client.PromptAnswerInput
	}
	// Search looks for messages, with a Session in that one alone; Found takes them.
	Search struct {
		Session client.SessionID
		Words   string
	}
	// Cancel stops a run.
	Cancel struct{ Run client.RunID }
)
