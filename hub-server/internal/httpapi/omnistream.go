package httpapi

import (
	"errors"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const ping = ": ping\n\n"

// omniStream is one reader of a conversation.
type omniStream struct {
	feed
	policy  *policy
	session id.Session
	epoch   wire.Epoch
	reader  *omnilog.Reader
	brought bool // as the view says

	told  int    // version of the task that was told
	title string // that was told, or was there before
	named int    // how often the conversation may have got another, when it was read
}

// stream implements streamOmniMessages.
func (c conversation) stream(w http.ResponseWriter, r *http.Request) {
	if err := c.follow(w, r); err != nil {
		c.problems.answer(w, r, err)
	}
}

// follow replays and then goes on live. It returns an error only as long as nothing is written.
func (c conversation) follow(w http.ResponseWriter, r *http.Request) (err error) {
	ctx, who := r.Context(), caller(r.Context())
	s := &omniStream{
		feed:   feed{Deps: c.Deps, metrics: c.metrics, ctx: ctx, w: w, out: http.NewResponseController(w), who: who, keepAlive: ping},
		policy: c.policy, session: id.Session(r.PathValue("session_id")), epoch: c.Epoch(),
	}
	asked, err := cursorAsked(r)
	if err != nil {
		return err
	}
	if err := s.follows("", s.session); err != nil {
		return err
	}
	defer s.follower.Close()
	view, lost, err := s.open(asked)
	if err != nil {
		return omniProblem(err, s.epoch)
	}
	defer s.reader.Close()
	s.brought = view.Brought
	if err := s.policy.member(ctx, who.User, s.session); err != nil {
		return err
	}
	if err := s.readTitle(); err != nil {
		return err
	}
	s.head([]byte("retry: 1000\n\n"))
	if lost != "" {
		s.lose(lost)
	}
	s.place(s.reader.After())
	c.metrics.conversations.Inc()
	defer c.metrics.conversations.Dec()
	return s.close(s.serve(view), "session", s.session, "after", s.reader.After())
}

// cursorAsked is where a client goes on, nil for one that has read nothing. What a browser sends by itself when it comes back counts before the address
// that it was given first.
func cursorAsked(r *http.Request) (*string, error) {
	header, err := once(r.Header.Values(resumeHeader), resumeHeader)
	if err != nil || header != nil && *header != "" {
		return header, err
	}
	return once(r.URL.Query()["after"], "after")
}

// open begins to read where the client says. Lost says why it cannot go on from there: then it goes on from now.
func (s *omniStream) open(asked *string) (view omnilog.View, lost resync, err error) {
	after := omnilog.FromTheBeginning
	switch {
	case asked == nil:
		s.reader, view, err = s.Omni.FollowNow(s.ctx, s.session)
		return view, "", err
	case *asked != fromTheStart:
		cursor, err := omnilog.ParseCursor(*asked)
		if err != nil {
			return view, "", err
		}
		if cursor.Epoch != s.epoch {
			s.reader, view, err = s.Omni.FollowNow(s.ctx, s.session)
			return view, lostEpoch, err
		}
		after = cursor.Place
	}
	s.reader, view, err = s.Omni.Follow(s.ctx, s.session, after)
	if errors.Is(err, omnilog.ErrTrimmed) {
		s.reader, view, err = s.Omni.FollowNow(s.ctx, s.session)
		return view, lostTrimmed, err
	}
	return view, "", err
}

// serve replays up to a view, says how the conversation stood there, and goes on from there. It returns when the reader must go.
func (s *omniStream) serve(view omnilog.View) error {
	clocks := s.Pace.clocks(s.Pace.Ping)
	defer clocks.stop()
	if s.reader.After() == view.Place {
		s.snapshot(view)
	}
	for {
		more, err := s.advance(view)
		if err != nil {
			return err
		}
		if len(s.buf) > 0 {
			clocks.spoken()
		}
		if err := s.flush(); err != nil {
			return err
		}
		if more {
			continue
		}
		polled, err := s.wait(clocks, s.reader.Ready())
		if err != nil {
			return err
		}
		if polled {
			s.reader.Look()
		}
	}
}

// advance tells what comes next: up to the view the messages alone, behind it also what changes.
func (s *omniStream) advance(view omnilog.View) (more bool, err error) {
	before := s.reader.After()
	entries, more, err := s.reader.Read(s.ctx, writeAt)
	if err != nil {
		return false, s.broken(err)
	}
	if s.Epoch() != s.epoch {
		s.lose(lostEpoch)
		return false, errors.Join(s.flush(), errStale)
	}
	if err := s.mayRead(entries); err != nil {
		return false, err
	}
	for len(entries) > 0 && entries[0].Place <= view.Place {
		if err := s.tell(entries[0]); err != nil {
			return false, err
		}
		entries = entries[1:]
	}
	if before < view.Place && s.reader.After() >= view.Place {
		s.snapshot(view)
	}
	if s.reader.After() < view.Place {
		return more, nil
	}
	return more, s.live(entries)
}

// live tells entries as they come, each with what it changes, and the title if there is another.
func (s *omniStream) live(entries []omnilog.Entry) error {
	for _, e := range entries {
		if err := s.tell(e); err != nil {
			return err
		}
		for _, a := range e.Asked {
			s.event(approvalOf(a))
		}
	}
	s.stands()
	if s.reader.Named() == s.named {
		return nil
	}
	before := s.title
	switch err := s.readTitle(); {
	case fault.CodeOf(err) == fault.NotFound:
		return errEnded
	case err != nil:
		return err
	}
	if s.title != before {
		s.event(titleEvent{serverEvent{"session_title"}, s.title})
	}
	return nil
}

// mayRead says behind a read whether the reader may still have it: whoever was removed before something was committed is not sent it (SEC13).
func (s *omniStream) mayRead(entries []omnilog.Entry) error {
	if len(entries) == 0 && !s.follower.Left() {
		return nil
	}
	err := s.policy.member(s.ctx, s.who.User, s.session)
	if fault.CodeOf(err) == fault.NotFound {
		return errEnded
	}
	return err
}

// broken is an error of a read as the end of the stream. A reader that was too slow is told when it comes back.
func (s *omniStream) broken(err error) error {
	switch {
	case s.ctx.Err() != nil:
		return errGone
	case errors.Is(err, omnilog.ErrTrimmed):
		return errLeft
	}
	return err
}

// tell writes the messages of a fact. Only the last has the id: whoever is cut off before has none of them.
func (s *omniStream) tell(e omnilog.Entry) error {
	seer := sight{edges: s.Edges, user: s.who.User, brought: s.brought}
	for i, m := range e.Messages {
		m, err := seer.message(s.ctx, e.Edges[i], m)
		if err != nil {
			return err
		}
		if i == len(e.Messages)-1 {
			s.id(e.Place)
		}
		s.buf = append(s.buf, "data: "...)
		s.buf = append(s.buf, m.Bytes()...)
		s.buf = append(s.buf, "\n\n"...)
		if err := s.gathered(); err != nil {
			return err
		}
	}
	return nil
}

// place says how far the client is, without a message.
func (s *omniStream) place(place int64) {
	s.id(place)
	s.buf = append(s.buf, '\n')
}

func (s *omniStream) id(place int64) {
	s.buf = append(s.buf, "id: "...)
	s.buf = omnilog.Cursor{Epoch: s.epoch, Place: place}.Append(s.buf)
	s.buf = append(s.buf, '\n')
}

// readTitle reads what the conversation is called. The count comes first: whoever renames it meanwhile is noticed.
func (s *omniStream) readTitle() error {
	s.named = s.reader.Named()
	found, err := s.Sessions.Get(s.ctx, s.who.User, s.session)
	s.title = found.Name
	return hide(err)
}
