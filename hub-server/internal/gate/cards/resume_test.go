package cards

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// talked is a scene with a turn that has said a lot, and is going on.
func talked(w *town, pieces int) (s *scene, trace cardlog.Trace, say func(pieces int)) {
	s = newScene(w)
	c := s.hub.joined(s.ada, s.session)
	run := s.asked(c, "hi")
	message := s.begins(s.edge, run)
	said := 0
	say = func(n int) {
		var parts []string
		for range n {
			said++
			parts = append(parts, fmt.Sprintf("piece %d é < ", said))
		}
		s.says(s.edge, run, message, parts...)
	}
	say(pieces)
	trace, err := s.hub.Traces.Open(w.t.Context(), s.session)
	s.must(err)
	return s, trace, say
}

// stored is the trace as it is in the store.
func (s *scene) stored(trace cardlog.Trace) []string {
	s.t.Helper()
	var lines []string
	for {
		frames, err := s.hub.Traces.Read(s.t.Context(), trace.ID, card.Seq(len(lines)), 1<<20)
		s.must(err)
		if len(frames) == 0 {
			return lines
		}
		for _, f := range frames {
			lines = append(lines, string(f.Bytes))
		}
	}
}

func (c *client) resume(trace cardlog.Trace, last int) {
	c.t.Helper()
	c.say(`{"type":"session.resume","trace_id":%q,"last_seq":%d}`, trace.ID, last)
}

// numbered reads until it has so many numbered events.
func (c *client) numbered(n int) []string {
	c.t.Helper()
	for len(c.lines) < n {
		c.next()
	}
	return c.lines
}

func TestPrefixAndResumeAreTheWholeByteForByteWhereverItIsCut(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s, trace, say := talked(w, 120)
		other := w.hub()
		for cycle := range 25 {
			if cycle%5 == 4 {
				say(3) // the client goes on to live while this comes
			}
			now, err := s.hub.Traces.Open(t.Context(), s.session)
			s.must(err)
			whole := s.stored(trace)
			last := rand.IntN(len(whole) + 1)
			at := []*hub{s.hub, other}[cycle%2]
			c := at.dial(s.ada, []string{"", "?session_id=" + string(s.session)}[cycle%3%2])
			c.resume(trace, last)
			c.until("resumed", func(e card.Event) bool { return strings.HasPrefix(c.kind(e), "resumed") })
			if got := c.kind(c.had[len(c.had)-1]); got != fmt.Sprintf("resumed %d %d", last+1, now.Head) {
				t.Fatalf("answered %s with a trace of %d", got, now.Head)
			}
			c.lines = nil
			if got := strings.Join(c.numbered(len(whole)-last), ""); got != strings.Join(whole[last:], "") {
				t.Fatalf("cut at %d of %d, told\n%s", last, len(whole), got)
			}
			cut := rand.IntN(len(whole) + 1) // and once more on the same connection
			c.resume(trace, cut)
			c.told(fmt.Sprintf("resumed %d %d", cut+1, now.Head))
			c.lines = nil
			say(2)
			whole = s.stored(trace)
			if got := strings.Join(c.numbered(len(whole)-cut), ""); got != strings.Join(whole[cut:], "") {
				t.Fatalf("cut at %d of %d, told\n%s", cut, len(whole), got)
			}
			c.socket.CloseNow()
		}
	})
}

func TestResumeSaysWhyItCannotGoOn(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s, trace, _ := talked(w, 3)
		bob := w.person("bob")
		_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		c := s.hub.dial(bob, "")
		c.resume(trace, 0)
		c.told("opened")
		c.told(fmt.Sprintf("resumed 1 %d", trace.Head))
		s.must(s.hub.Sessions.RemoveMember(t.Context(), s.ada.Principal, s.session, bob.member()))
		c.told("error invalid_input session_not_found")
		later := s.hub.dial(bob, "")
		later.resume(trace, 0)
		later.told("resume_failed unknown_trace")
		named := s.hub.dial(bob, "?session_id="+string(s.session))
		named.told("error invalid_input session_not_found")
		named.resume(trace, 0)
		named.told("resume_failed session_not_found")
		trimmed := w.hub(func(h *Server) { h.Traces = floored{h.Traces, 2} })
		late := trimmed.joined(s.ada, s.session)
		late.resume(trace, 1)
		late.told("resume_failed events_expired")
		whole := s.stored(trace)
		for _, last := range []int{2, 0} { // a client that has nothing gets all that there is
			late.resume(trace, last)
			late.told(fmt.Sprintf("resumed 3 %d", trace.Head))
			late.lines = nil
			if got := strings.Join(late.numbered(len(whole)-2), ""); got != strings.Join(whole[2:], "") {
				t.Errorf("behind %d is told\n%s", last, got)
			}
		}
	})
}

// floored is traces whose first frames have left.
type floored struct {
	Traces
	floor card.Seq
}

func (f floored) Open(ctx ctx, s session) (cardlog.Trace, error) {
	t, err := f.Traces.Open(ctx, s)
	t.Floor = f.floor
	return t, err
}

func TestCursorsOfMessagesLeaveOutWhatTheClientHas(t *testing.T) {
	s, trace, _ := talked(sole(t), 10)
	whole := s.stored(trace)
	var message string
	var appends []card.Seq
	for _, line := range whole {
		e, err := card.Decode([]byte(line))
		s.must(err)
		if e.Type == card.Append {
			message = e.Envelope.CardID
			appends = append(appends, e.Envelope.Seq)
		}
	}
	c := s.hub.joined(s.ada, s.session)
	known, err := json.Marshal(map[string]card.Seq{message: appends[3]})
	s.must(err)
	c.say(`{"type":"session.resume","trace_id":%q,"last_seq":0,"message_cursors":%s}`, trace.ID, known)
	c.told(fmt.Sprintf("resumed 1 %d", trace.Head))
	c.lines = nil
	got := c.numbered(len(whole) - 4)
	var want []string
	for i, line := range whole {
		if seq := card.Seq(i + 1); seq > appends[3] || seq < appends[0] {
			want = append(want, line)
		}
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}
