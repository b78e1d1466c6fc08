package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// conversation serves a conversation as OmniMessages (S1): its history in pages, and live as server-sent events. It is written by hand because messages are
// passed on byte for byte, and a stream is no answer that is there before it is sent.
type conversation struct {
	Deps
	policy   *policy
	metrics  *metrics
	problems problems
}

const (
	omniPage     = 200
	omniPageMost = 1000
	fromTheStart = "0" // in place of a cursor
)

// historyAsked is what a request for a part of the history says.
type historyAsked struct {
	after, before *string
	limit         int
}

func readHistoryAsked(query url.Values) (asked historyAsked, err error) {
	if asked.after, err = once(query["after"], "after"); err != nil {
		return asked, err
	}
	if asked.before, err = once(query["before"], "before"); err != nil {
		return asked, err
	}
	limit, err := number(query, "limit")
	if err != nil {
		return asked, err
	}
	if asked.limit, err = pageLimit(limit, omniPage, omniPageMost); err != nil {
		return asked, err
	}
	if asked.after != nil && asked.before != nil {
		return asked, fault.New(fault.InvalidRequest, "Ask for what is after one place, or before another, but not for both.")
	}
	return asked, nil
}

// history implements listOmniMessages.
func (c conversation) history(w http.ResponseWriter, r *http.Request) {
	body, err := c.part(r.Context(), id.Session(r.PathValue("session_id")), r.URL.Query())
	if err == nil {
		err = writeJSON(w, body)
	}
	if err != nil {
		c.problems.answer(w, r, err)
	}
}

func (c conversation) part(ctx context.Context, session id.Session, query url.Values) ([]byte, error) {
	asked, err := readHistoryAsked(query)
	if err != nil {
		return nil, err
	}
	epoch := c.Epoch()
	h, err := c.read(ctx, session, asked, epoch)
	if err != nil {
		return nil, omniProblem(err, epoch)
	}
	// Behind the read: whoever was removed before something was committed does not get it (SEC13).
	if err := c.policy.member(ctx, caller(ctx).User, session); err != nil {
		return nil, err
	}
	seer := c.sightOf(ctx)
	seer.brought = h.View.Brought
	body := []byte(`{"messages":[`)
	for i, item := range h.Items {
		if i > 0 {
			body = append(body, ',')
		}
		m, err := seer.message(ctx, item.Edge, item.Message)
		if err != nil {
			return nil, err
		}
		body = append(body, `{"position":"`...)
		body = append(body, item.Text(epoch)...)
		body = append(body, `","message":`...)
		body = append(append(body, m.Bytes()...), '}')
	}
	body = append(body, ']')
	if asked.before == nil {
		body = appendCursor(append(body, `,"cursor":`...), epoch, h.UpTo)
	}
	body = strconv.AppendBool(append(body, `,"more":`...), h.More)
	if h.View.Floor > 0 {
		body = appendCursor(append(body, `,"floor":`...), epoch, h.View.Floor)
	}
	if asked.before == nil && asked.after == nil {
		body = appendLive(body, epoch, h.View)
	}
	return append(body, '}'), nil
}

func appendCursor(dst []byte, epoch wire.Epoch, place int64) []byte {
	dst = append(dst, '"')
	dst = omnilog.Cursor{Epoch: epoch, Place: place}.Append(dst)
	return append(dst, '"')
}

// appendLive appends what is open where the history ends.
func appendLive(dst []byte, epoch wire.Epoch, view omnilog.View) []byte {
	dst = appendCursor(append(dst, `,"live":{"cursor":`...), epoch, view.Place)
	dst = append(dst, `,"fragments":[`...)
	for i, m := range view.Open {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, m.Bytes()...)
	}
	return append(dst, "]}"...)
}

func (c conversation) read(ctx context.Context, session id.Session, asked historyAsked, epoch wire.Epoch) (h omnilog.History, err error) {
	switch {
	case asked.before != nil:
		of, position, err := omnilog.ParsePosition(*asked.before)
		if err == nil && of != epoch {
			err = canonical.Stale(epoch, "conversation")
		}
		if err != nil {
			return h, err
		}
		return c.Omni.Before(ctx, session, position, asked.limit)
	case asked.after == nil:
		return c.Omni.Before(ctx, session, omnilog.AtTheEnd, asked.limit)
	case *asked.after == fromTheStart:
		return c.Omni.After(ctx, session, omnilog.FromTheBeginning, asked.limit)
	}
	cursor, err := omnilog.ParseCursor(*asked.after)
	if err == nil && cursor.Epoch != epoch {
		err = canonical.Stale(epoch, "conversation")
	}
	if err != nil {
		return h, err
	}
	return c.Omni.After(ctx, session, cursor.Place, asked.limit)
}

// omniProblem is an error of a reading as a client gets it.
func omniProblem(err error, epoch wire.Epoch) error {
	switch {
	case errors.Is(err, omnilog.ErrAhead):
		return fault.Wrap(err, fault.CursorAhead, "The conversation has not come to that place.")
	case errors.Is(err, omnilog.ErrTrimmed):
		return canonical.Trimmed(epoch)
	case errors.Is(err, omnilog.ErrUnknown):
		return notThere()
	}
	return err
}

// message is what the person may see of a message: the paths in it only if the edge is theirs whose machine has them (ruling R18).
// Those in a trace that was brought are of no edge.
func (s sight) message(ctx context.Context, edge id.Edge, m omni.Message) (omni.Message, error) {
	if s.brought && edge == "" || !omnilog.HasPaths(m) {
		return m, nil
	}
	if edge != "" {
		if owner, err := s.owns(ctx, edge); err != nil || owner {
			return m, err
		}
	}
	return omnilog.WithoutPaths(m)
}
