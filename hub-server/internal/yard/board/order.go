package board

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Act is something that is done to what is at work in a conversation; Acted takes the outcome.
type Act struct {
	Session client.SessionID
	What    Word
	Text    string // of a steer
}

// Word is what is typed for it, behind a slash.
type Word string

// Words that the text takes for orders, when they begin it.
const (
	Steer   Word = "steer" // with what to say behind it
	Compact Word = "compact"
	Abort   Word = "abort"
	Retry   Word = "retry"
)

// order reads an order; false for a text that is none.
func order(session client.SessionID, text string) (Act, bool) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	rest = strings.TrimSpace(rest)
	switch a := (Act{Session: session, What: Word(word), Text: rest}); {
	case !strings.HasPrefix(text, "/"):
	case a.What == Steer && rest != "":
		return a, true
	case (a.What == Compact || a.What == Abort || a.What == Retry) && rest == "":
		return a, true
	}
	return Act{}, false
}

func (a Act) typed() string {
	if a.What == Steer {
		return "/" + string(a.What) + " " + a.Text
	}
	return "/" + string(a.What)
}

// Acted takes what came of an order: a word about what went well, or the error. What was to be said is typed again then.
func (b *Board) Acted(a Act, said string, err error) {
	if err == nil {
		b.Say(said)
		return
	}
	b.Fail("not done", err)
	if r := b.rooms[a.Session]; r != nil && r.draft.text == "" && r.edits == "" {
		r.draft = editing(a.typed())
	}
}
