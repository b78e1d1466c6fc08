package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cardtree"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/tui"
	"github.com/switchyard-dev/switchyard/shared/card"
)

type cardsCmd struct {
	Session string   `required:"true" placeholder:"NAME" help:"The conversation: its name, or the beginning of its id."`
	Once    bool     `help:"Print the cards as they stand, and end."`
	Tool    []string `sep:"none" placeholder:"NAME=COMMAND" help:"Offer agents a command of yours: it gets a call's arguments as JSON on standard input, and its output is the result. May be given more than once."`
	NoTools bool     `help:"Withdraw the tools that you have offered in the conversation."`
}

// Help is shown below the usage.
func (cardsCmd) Help() string {
	return `Shows turns, and below each what was said, the tools, sub-agents, plans and their steps, as they come: ✓ done, ✗ failed, ■ cancelled, … under way,
? waits for you, with the command that answers. On a terminal it is drawn in place: ↑↓ PgUp PgDn scroll, End goes along again, q or Ctrl-C quits. Elsewhere
each thing that ends is one line; with --json each event of the hub is. A lost connection is made again, and nothing is missed.

With --tool, agents of yours in the conversation may run a command here while this runs, and nothing else: sh runs it as you. It stays offered until others take
its place, or --no-tools; a call that nobody carries out fails when its time is over.

Examples:
  yard cards --session demo
  yard cards --session demo --once
  yard cards --session demo --tool 'open_url=jq -r .url | xargs xdg-open'
  yard --json cards --session demo | jq -r .type`
}

// Run follows until Ctrl-C, or shows what there is.
func (c cardsCmd) Run(s *session) error {
	return s.withDevice(func(l *line) error {
		found, err := l.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		names := newBook(l.API())
		names.session(found)
		tools, err := c.tools()
		if err != nil {
			return err
		}
		options := client.CardOptions{Session: found.ID, Attempts: -1, Tools: tools}
		if c.Once {
			const enough = 3 // who asks once does not wait for a hub to come back
			options.Attempts = enough
		}
		feed := l.as.Cards(options)
		switch {
		case c.Once:
			return s.cardsOnce(feed)
		case !s.json && screen.IsTerminal(s.Out):
			in := s.In
			if !screen.IsTerminal(in) {
				in = nil
			}
			return tui.Cards(s.ctx, tui.CardOptions{Feed: feed, Name: names.Session(found.ID), Style: s.style, In: in, Out: s.Out})
		}
		return s.followCards(feed, &cardVoice{s: s, l: l, name: names.Session(found.ID), teller: cardtree.Teller{Style: s.style}})
	})
}

// cardsOnce prints what there is.
func (s *session) cardsOnce(feed *client.CardFeed) error {
	upTo := cardHead{early: map[card.Seq]bool{}}
	for u, err := range feed.Follow(s.ctx) {
		if err != nil {
			return err
		}
		if u.Event == nil {
			continue
		}
		if s.json {
			if err := s.rawCard(u.Event); err != nil {
				return err
			}
		}
		if upTo.reached(feed.Forest(), u.Event) {
			break
		}
	}
	if s.json {
		return nil
	}
	tree := cardtree.Tree{Style: s.style, Width: screen.Columns(s.Out), Now: time.Now()}
	lines := tree.Lines(feed.Forest())
	if len(lines) == 0 {
		return s.say("no cards yet")
	}
	for _, line := range lines {
		if err := s.say("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// cardHead is how far a trace went when it was asked for.
type cardHead struct {
	known bool
	seq   card.Seq
	early map[card.Seq]bool // questions that came before their turn, when nothing more is told of them
}

// reached notes what the hub says of it, and says whether the forest has come as far.
func (h *cardHead) reached(f *client.CardForest, e *card.Event) bool {
	var told struct {
		Kind  card.SessionKind  `json:"kind"`
		Inner card.ResumedInner `json:"inner"`
	}
	if e.Type == card.SessionEvent && json.Unmarshal(e.Payload, &told) == nil {
		switch told.Kind {
		case card.Resumed:
			h.known, h.seq = true, told.Inner.ToSeq
		case card.ResumeFailed:
			return true // nothing of it is kept
		}
	}
	if e.Type == card.PromptUser {
		h.early[e.Envelope.Seq] = true
	}
	at := f.Last()
	for h.early[at+1] {
		at++
	}
	return h.known && at >= h.seq
}

// rawCard prints an event as the hub has sent it.
func (s *session) rawCard(e *card.Event) error {
	raw, err := e.Encode()
	if err != nil {
		return fmt.Errorf("print event: %w", err)
	}
	_, err = s.Out.Write(raw)
	return err
}

// followCards prints what ends, or with --json everything.
func (s *session) followCards(feed *client.CardFeed, v *cardVoice) error {
	for u, err := range feed.Follow(s.ctx) {
		if s.ctx.Err() != nil {
			return nil // Ctrl-C is how one leaves
		}
		if err == nil {
			err = v.update(feed.Forest(), u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cardVoice tells updates where nothing can be drawn again.
type cardVoice struct {
	s      *session
	l      *line
	name   string
	teller cardtree.Teller
	before bool // a link was up before
	down   bool // the link is down, and that was told
}

func (v *cardVoice) update(f *client.CardForest, u client.CardUpdate) error {
	if u.Link != "" {
		if err := v.link(u); err != nil {
			return err
		}
	}
	switch {
	case u.Event == nil:
		return nil
	case v.s.json:
		return v.s.rawCard(u.Event)
	case u.Failed != nil && !u.Failed.Again:
		return v.notice(u.Failed.Error.UserMessage)
	}
	if text := v.teller.Tell(f, *u.Event); text != "" {
		return v.s.say("%s", text)
	}
	return nil
}

func (v *cardVoice) link(u client.CardUpdate) error {
	if v.s.json {
		told := linkLine{Link: u.Link, Device: v.l.device.Name}
		if u.Err != nil {
			told.Error = u.Err.Error()
		}
		return v.s.encode(v.s.Out, told)
	}
	if u.Link == client.LinkDown {
		if v.down {
			return nil
		}
		v.down = true
		return v.notice(v.lost(u.Err))
	}
	again := v.before
	v.before, v.down = true, false
	if again {
		return v.notice("connected again; nothing was missed")
	}
	return v.notice("connected to " + v.l.login.Hub + " as " + v.l.login.Credentials.Username + "; the cards of " + v.name)
}

func (v *cardVoice) lost(err error) string {
	if !v.before && errors.Is(err, client.ErrUnreachable) {
		return v.l.login.Hub + " cannot be reached; trying again until it can, Ctrl-C gives up"
	}
	return cardtree.Lost(err)
}

func (v *cardVoice) notice(text string) error {
	return v.s.say("%s%s", v.s.style.Yellow("● "), v.s.style.Dim(screen.Clean(text)))
}
