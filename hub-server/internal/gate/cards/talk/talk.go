// Package talk is what a client and the hub say to each other on one connection of /v1/ws (S0 §2, §7 to §9): who speaks first, what may be said
// when, and which frame comes next. It asks nobody and waits for nothing: what has to be done is an Act, and whoever has done it says what came of it.
package talk

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// phase is how far a connection has come.
type phase uint8

const (
	waiting phase = iota // for the conversation that it is about
	open
	over
)

// Talk is one connection. Not safe for concurrent use. A client is heard frame by frame: the Act for one is done, and what came of it said, before
// the next is heard.
type Talk struct {
	lang  card.Language
	named string // the conversation that the address names, "" for none
	lost  bool   // … which is none of the person's

	phase phase
	at    card.Opening
	about Subject // as the client was last told

	then  Heard // what is heard once the conversation is open
	said  said
	place place
}

// Subject is what is told of a conversation besides its cards. Unknown is empty.
type Subject struct {
	Title   string
	Members []string // by name, in the order of joining
	Model   string
}

func (s Subject) equal(other Subject) bool {
	return s.Title == other.Title && s.Model == other.Model && slices.Equal(s.Members, other.Members)
}

// New returns the talk of a connection whose address names a conversation, or "". lang is that of sentences for people.
func New(named string, lang card.Language) *Talk { return &Talk{named: named, lang: lang} }

// Start is what happens before the client says anything: a conversation that its address names is opened at once (R5).
func (t *Talk) Start() Act {
	if t.named == "" {
		return nil
	}
	return Enter{Named: t.named}
}

// Entry is a conversation as it is entered.
type Entry struct {
	At      card.Opening
	About   Subject
	Head    card.Seq      // of its trace
	Pending []cards.Frame // the questions that wait for a person, the oldest first
}

// capabilities are what this hub can do: true only where it is true (S0 §1.3). Tools of clients are kept and given to every agent that can call any.
var capabilities = card.Capabilities{
	Streaming: true, Tools: true, ClientTools: true, SubAgents: true, Tasks: true, Teams: true, PlanReview: true, Artifacts: true, Recovery: true,
}

// Entered opens the conversation: opened comes first, then every question that waits, in the bytes in which it was asked, then what is live from the
// head on (S0 §2.4.2). It returns what the client had asked for besides.
func (t *Talk) Entered(now time.Time, e Entry) Act {
	t.phase, t.at, t.about = open, e.At, e.About
	t.tell(now, card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion, Model: e.About.Model, Capabilities: capabilities})
	for _, f := range e.Pending {
		if f.Seq <= e.Head { // later ones come with what is live
			t.said.add(f.Bytes)
		}
	}
	t.place.begin(e.Head)
	then := t.then
	t.then = Heard{}
	if then.Frame == nil {
		return nil
	}
	return t.hear(now, then)
}

// NotEntered says that the conversation of the address is not there, or not this person's: they may create one.
func (t *Talk) NotEntered(now time.Time) {
	t.lost, t.then = true, Heard{}
	t.fail(now, Heard{}, noSession("There is no conversation of that session_id for you. Send session.create, or a user.message."))
}

// Changed tells what of the conversation has become otherwise; nothing if nothing has.
func (t *Talk) Changed(now time.Time, s Subject) {
	if t.phase != open || t.about.equal(s) {
		return
	}
	inner := card.UpdatedInner{Title: s.Title, Members: s.Members, Model: s.Model}
	if s.Title == t.about.Title {
		inner.Title = ""
	}
	if slices.Equal(s.Members, t.about.Members) {
		inner.Members = nil
	}
	if s.Model == t.about.Model {
		inner.Model = ""
	}
	t.about = s
	t.tell(now, card.Updated, inner)
}

// Left ends it: the person is not in the conversation any more. Nothing of it is said from now on but that.
func (t *Talk) Left(now time.Time) {
	if t.phase == over {
		return
	}
	t.phase = over
	t.said.drop()
	t.fail(now, Heard{}, noSession("You are not in this conversation any more."))
}

// Over says that the client is to be told nothing more once all is said.
func (t *Talk) Over() bool { return t.phase == over }

// Session is the open conversation, "" if there is none.
func (t *Talk) Session() id.Session {
	if t.phase != open {
		return ""
	}
	return t.at.Session
}

// Model is the model that the client was told of, "" for none.
func (t *Talk) Model() string { return t.about.Model }

// At is where the connection is.
func (t *Talk) At() card.Opening { return t.at }
