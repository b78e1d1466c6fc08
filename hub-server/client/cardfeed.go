package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// defaultAttempts is after how many connections in a row that have brought nothing a feed of cards is given up (S0 §15 asks for a limit).
const defaultAttempts = 10

// ErrNoCards ends a feed of cards: the conversation is not there for this user, or not any more.
var ErrNoCards = errors.New("no cards of this conversation can be had")

// CardOptions say what a CardFeed follows.
type CardOptions struct {
	Session  SessionID   // "": a new conversation, which reconnects go on with
	Agent    AgentID     // who answers in a conversation that is made; "": the user's default agent
	Tools    []CardTool  // that this client carries out; nil leaves those that were declared before, an empty list withdraws them
	Forest   *CardForest // to go on with; nil: an empty one, that grows from the beginning of the trace
	Attempts int         // connections in a row that may bring nothing; 0: 10, below 0: no limit
}

// CardFeed follows the cards of one conversation on /v1/ws (S0). It reconnects by itself, asks for what it has missed, and drops what it has had.
// Follow is called by one goroutine at a time; Send is safe for concurrent use while it runs.
type CardFeed struct {
	client  *Client
	options CardOptions
	forest  *CardForest
	out     outgoing
	calls   *cardCalls
	create  string // the event_id of session.create
	refused string // the token of a connection whose login the hub has ended
}

// CardUpdate is one thing that a CardFeed tells. The forest has taken it.
type CardUpdate struct {
	Event   *card.Event // nil when the link went down
	Verdict Verdict     // of the forest: Applied or Ignored; Missed for a question that comes before its turn
	Link    Link        // a change of the connection, or ""; with LinkUp, Event is session.event(opened)
	Err     error       // with LinkDown: why
	Failed  *CardFailure
}

// CardFailure says that the hub has not taken a frame of this client (S0 §15).
type CardFailure struct {
	EventID string // of the frame; "" where the hub does not say
	Error   card.ErrorInfo
	Again   bool // it is sent again by itself; else the person is to be told, in the words of Error.UserMessage
}

// Cards returns a feed. Nothing is sent before Follow.
func (c *Client) Cards(options CardOptions) *CardFeed {
	f := &CardFeed{client: c, options: options, forest: options.Forest, create: string(id.NewEvent())}
	if f.forest == nil {
		f.forest = NewCardForest()
	}
	f.calls = newCardCalls(options.Tools, &f.out)
	f.options.Attempts = cmp.Or(f.options.Attempts, defaultAttempts)
	return f
}

// Forest is what has become of the cards. Between the updates of Follow it belongs to the caller.
func (f *CardFeed) Forest() *CardForest { return f.forest }

// Follow tells what happens for as long as the caller iterates. It ends with an error when going on is no use: ErrLoggedOut, ErrNoCards, the end of
// ctx, or what the last of too many connections in vain has brought. It can be called again, and goes on where it was.
func (f *CardFeed) Follow(ctx context.Context) iter.Seq2[CardUpdate, error] {
	return func(yield func(CardUpdate, error) bool) {
		backoff := firstBackoff
		f.calls.begin(ctx)
		defer f.calls.end()
		for failures := 1; ; failures++ {
			l := &cardLink{feed: f, yield: yield}
			err := l.once(ctx)
			if l.stopped {
				return
			}
			if l.fruitful || !l.up.IsZero() && time.Since(l.up) >= lastBackoff {
				failures, backoff = 1, firstBackoff
			}
			if fatal := f.fatal(ctx, err, failures); fatal != nil {
				yield(CardUpdate{}, fatal)
				return
			}
			if !l.emit(CardUpdate{Link: LinkDown, Err: err}) {
				return
			}
			if errors.Is(err, errSlept) {
				continue
			}
			if err := pause(ctx, max(jitter(backoff), later(askedPause(err)))); err != nil {
				yield(CardUpdate{}, err)
				return
			}
			backoff = min(backoff*2, lastBackoff)
		}
	}
}

// fatal returns what ends the feed after so many failures in a row, or nil if connecting again may help.
func (f *CardFeed) fatal(ctx context.Context, err error, failures int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case errors.Is(err, ErrLoggedOut), errors.Is(err, ErrNoCards), errors.Is(err, ErrKicked):
		return err
	case websocket.CloseStatus(err) == websocket.StatusPolicyViolation:
		return fmt.Errorf("%w: %w", ErrNoCards, err)
	case f.options.Attempts > 0 && failures >= f.options.Attempts:
		return fmt.Errorf("gave up after %d connections: %w", failures, err)
	}
	return nil
}
