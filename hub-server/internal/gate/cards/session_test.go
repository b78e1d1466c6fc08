package cards

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// scene is a hub on which ada talks to an agent of hers.
type scene struct {
	*town
	hub     *hub
	ada     person
	edge    id.Edge
	session id.Session
}

func newScene(w *town) *scene {
	s := &scene{town: w, ada: w.person("ada")}
	s.edge = s.ada.edge("scout", "other")
	s.hub = w.hub()
	s.session = s.group(s.ada, s.ada.agent("scout"))
	return s
}

// group opens a conversation of a person with others.
func (s *scene) group(of person, others ...chat.MemberID) id.Session {
	s.t.Helper()
	made, err := s.hub.Sessions.OpenGroup(s.t.Context(), of.Principal, chat.NewGroup{Name: "demo", Members: others}, s.attempt(of))
	s.must(err)
	return made.ID
}

func (s *scene) attempt(of person) account.Attempt {
	return account.Attempt{User: of.User, Route: "POST /x", Key: string(id.NewEvent())}
}

// run is the only run of the conversation that is not over.
func (s *scene) run(session id.Session) id.Run {
	s.t.Helper()
	runs, err := s.chats.OpenRuns(s.t.Context(), session)
	if err != nil || len(runs) != 1 {
		s.t.Fatalf("open runs are %v, error %v", runs, err)
	}
	return runs[0]
}

// asked sends a message and waits for its run.
func (s *scene) asked(c *client, text string) id.Run {
	s.t.Helper()
	c.say(`{"type":"user.message","event_id":%q,"content":[{"type":"text","text":%q}]}`, id.NewEvent(), text)
	c.settle()
	return s.run(s.session)
}

// settle waits until everything that was said before has been done: frames are heard one after the other.
func (c *client) settle() {
	c.t.Helper()
	c.say(`{"type":"ping"}`)
	c.until("pong", func(e card.Event) bool { return e.Type == "pong" })
}

func TestAMessageStartsARunWhoseCardsComeToEveryConnection(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		first, second := s.hub.joined(s.ada, s.session), s.hub.joined(s.ada, s.session)
		elsewhere := w.hub().joined(s.ada, s.session)
		run := s.asked(first, "hi")
		message := s.begins(s.edge, run)
		s.says(s.edge, run, message, "Hel", "lo <b>")
		for _, c := range []*client{first, second, elsewhere} {
			c.text("Hello <b>")
		}
		s.tells(s.edge, run, "run.finished", object{})
		closed := func(e card.Event) bool { return e.Type == card.Close && e.Envelope.CardKind == card.Turn }
		for _, c := range []*client{first, second, elsewhere} {
			c.until("the end of the turn", closed)
			for i, line := range c.lines {
				if !strings.Contains(line, fmt.Sprintf(`"seq":%d,`, i+1)) {
					t.Errorf("event %d is %s", i+1, line)
				}
			}
			if !slices.Equal(c.lines, first.lines) {
				t.Errorf("two connections are told\n%v\n%v", c.lines, first.lines)
			}
		}
	})
}

func TestConversationsAreFoundOrMadeForWhoAsks(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		theirs := s.group(bob)
		created := func(c *client, frame string) id.Session {
			c.say("%s", frame)
			return c.told("opened").Envelope.SessionID
		}
		if got := created(s.hub.dial(s.ada, ""), fmt.Sprintf(`{"type":"session.create","session_id":%q}`, s.session)); got != s.session {
			t.Errorf("one's own is opened as %s", got)
		}
		// R33: whatever the id, of nobody or of somebody else, it is the private conversation with the default agent.
		private := created(s.hub.dial(s.ada, ""), `{"type":"session.create","session_id":"mine"}`)
		for _, other := range []string{string(theirs), string(id.NewSession()), "mine"} {
			if got := created(s.hub.dial(s.ada, ""), fmt.Sprintf(`{"type":"session.create","session_id":%q}`, other)); got != private {
				t.Errorf("%s opens %s, want %s", other, got, private)
			}
		}
		found, err := s.hub.Sessions.Get(t.Context(), s.ada.User, private)
		if err != nil || found.Type != chat.Private || !slices.ContainsFunc(found.Members, func(m chat.Member) bool { return m.ID == s.ada.agent("scout") }) {
			t.Errorf("it is %+v, error %v", found, err)
		}
		anew := created(s.hub.dial(s.ada, ""), `{"type":"session.create","event_id":"e1"}`)
		if again := created(s.hub.dial(s.ada, ""), `{"type":"session.create","event_id":"e1"}`); again != anew || anew == private {
			t.Errorf("the same asked again opens %s, before %s", again, anew)
		}
		c := s.hub.dial(s.ada, "")
		c.say(`{"type":"user.message","event_id":"m1","agent_id":%q,"content":{"text":"Hi"}}`, s.ada.agent("other"))
		began := c.told("opened").Envelope.SessionID
		c.settle()
		if r, err := w.record.Runs.Get(t.Context(), s.run(began)); err != nil || chat.OfAgent(r.Agent) != s.ada.agent("other") {
			t.Errorf("the first message starts %+v, error %v", r, err)
		}
		nobody := s.hub.dial(bob, "")
		nobody.say(`{"type":"session.create"}`)
		nobody.told("error invalid_input agent_unknown")
	})
}

func TestBadInputIsAnsweredAndTheConnectionLives(t *testing.T) {
	s := newScene(sole(t))
	stranger := s.group(s.person("bob"))
	foreign, err := s.hub.Traces.Open(t.Context(), stranger)
	s.must(err)
	own, err := s.hub.Traces.Open(t.Context(), s.session)
	s.must(err)
	const invalid = "error invalid_input invalid_request"
	deep := strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)
	text := func(s string) []byte { return []byte(s) }
	for name, c := range map[string]struct {
		frame  []byte
		binary bool
		open   string // the answer where a conversation is open
		first  string // … and before, if that is another one
	}{
		"no JSON":                   {frame: text(`{"type":`), open: "error invalid_input invalid_json"},
		"nothing":                   {frame: text(``), open: "error invalid_input invalid_json"},
		"an array":                  {frame: text(`[]`), open: "error invalid_input invalid_json"},
		"deep":                      {frame: text(`{"type":"user.message","content":` + deep + `}`), open: "error invalid_input invalid_json"},
		"binary":                    {frame: text(`{"type":"ping"}`), binary: true, open: invalid},
		"oversized":                 {frame: text(`{"type":"user.message","text":"` + strings.Repeat("x", maxFrame) + `"}`), open: "error invalid_input too_large"},
		"no type":                   {frame: text(`{}`), open: invalid},
		"unknown type":              {frame: text(`{"type":"session.destroy"}`), open: invalid},
		"type of another kind":      {frame: text(`{"type":7}`), open: invalid},
		"what the server says":      {frame: text(`{"type":"card.add"}`), open: invalid},
		"a second session.create":   {frame: text(`{"type":"session.create"}`), open: invalid, first: "opened"},
		"message without content":   {frame: text(`{"type":"user.message"}`), open: invalid},
		"message of another shape":  {frame: text(`{"type":"user.message","content":7}`), open: invalid},
		"blank message":             {frame: text(`{"type":"user.message","text":"  "}`), open: "error invalid_input empty_prompt"},
		"long message":              {frame: text(`{"type":"user.message","text":"` + strings.Repeat("x", 65<<10) + `"}`), open: "error invalid_input too_large"},
		"unknown block":             {frame: text(`{"type":"user.message","content":[{"type":"poem"}]}`), open: invalid},
		"unknown mode":              {frame: text(`{"type":"user.message","text":"x","coordinator_mode":"chaos"}`), open: invalid},
		"path":                      {frame: text(`{"type":"user.message","content":[{"type":"image","source":{"type":"path","path":"/etc/passwd"}}]}`), open: invalid},
		"url":                       {frame: text(`{"type":"user.message","content":[{"type":"file","source":{"type":"url","url":"http://127.0.0.1/"}}]}`), open: invalid},
		"upload of nobody":          {frame: text(`{"type":"user.message","content":[{"type":"file","source":{"type":"upload","attachment_id":"` + string(id.NewAttachment()) + `"}}]}`), open: "error invalid_input not_found"},
		"agent that is not there":   {frame: text(`{"type":"user.message","text":"x","agent_id":"` + string(id.NewAgent()) + `"}`), open: "error invalid_input agent_unknown", first: "error invalid_input not_found"},
		"user.inject":               {frame: text(`{"type":"user.inject","trace_id":"` + string(own.ID) + `","text":"x"}`), open: invalid},
		"tool.result of no call":    {frame: text(`{"type":"tool.result","tool_use_id":"t","status":"ok","output":"x"}`), open: "error invalid_input not_found", first: invalid},
		"answer to nothing":         {frame: text(`{"type":"prompt.user_response","request_id":"` + string(id.NewRequest()) + `","decision":"approved"}`), open: "error invalid_input not_found", first: invalid},
		"answer to no request":      {frame: text(`{"type":"prompt.user_response","request_id":"7","decision":"approved"}`), open: "error invalid_input not_found", first: invalid},
		"interrupt of another":      {frame: text(`{"type":"session.interrupt","trace_id":"` + string(foreign.ID) + `"}`), open: invalid},
		"resume of a foreign trace": {frame: text(`{"type":"session.resume","trace_id":"` + string(foreign.ID) + `","last_seq":0}`), open: "resume_failed unknown_trace"},
		"resume of no trace":        {frame: text(`{"type":"session.resume","trace_id":"tr_1","last_seq":0}`), open: "resume_failed unknown_trace"},
		"resume before the start":   {frame: text(`{"type":"session.resume","trace_id":"` + string(own.ID) + `","last_seq":-1}`), open: invalid},
		"resume in the future":      {frame: text(`{"type":"session.resume","trace_id":"` + string(own.ID) + `","last_seq":99}`), open: invalid, first: "opened"},
		"resume at no number":       {frame: text(`{"type":"session.resume","trace_id":"` + string(own.ID) + `","last_seq":"x"}`), open: invalid},
	} {
		t.Run(name, func(t *testing.T) {
			kind := websocket.MessageText
			if c.binary {
				kind = websocket.MessageBinary
			}
			one := s.hub.joined(s.ada, s.session)
			one.write(kind, c.frame)
			one.told(c.open)
			one.settle()
			if c.first == "" {
				c.first = c.open
			}
			before := s.hub.dial(s.ada, "")
			before.write(kind, c.frame)
			before.told(c.first)
			before.settle()
		})
	}
}

func TestAFirstMessageThatCanBeSaidNowhereOpensNoConversation(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		kept, err := s.hub.Files.Keep(t.Context(), w.person("bob").User, "theirs.txt", "text/plain", strings.NewReader("theirs"))
		s.must(err)
		count := func() int {
			all, _, err := s.hub.Sessions.List(t.Context(), s.ada.User, chat.Filter{Limit: 100})
			s.must(err)
			return len(all)
		}
		before := count()
		c := s.hub.dial(s.ada, "")
		file := func(name string) string {
			return fmt.Sprintf(`{"type":"text","text":"look"},{"type":"file","source":{"type":"upload","attachment_id":%q}}`, name)
		}
		for content, want := range map[string]string{
			file(string(id.NewAttachment())): "error invalid_input not_found",
			file(string(kept.ID)):            "error invalid_input not_found",
			file("not_an_id"):                "error invalid_input not_found",
			`{"type":"text","text":"  "}`:    "error invalid_input empty_prompt",
			`{"type":"text","text":"` + strings.Repeat("x", chat.MaxContent+1) + `"}`: "error invalid_input too_large",
		} {
			c.say(`{"type":"user.message","event_id":"m1","content":[%s]}`, content)
			c.told(want)
			c.settle()
		}
		if now := count(); now != before {
			t.Errorf("there are %d conversations more", now-before)
		}
		c.say(`{"type":"user.message","event_id":"m1","text":%q}`, strings.Repeat("x", chat.MaxContent))
		c.told("opened")
		c.settle()
		if now := count(); now != before+1 {
			t.Errorf("the first message that can be said makes %d conversations", now-before)
		}
	})
}

func TestTheSameEventIDIsTheSameMessageAndNeverSilentlyAnotherOne(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		first, second := s.hub.joined(s.ada, s.session), s.hub.joined(s.ada, s.session)
		for _, c := range []*client{first, second, first} {
			c.say(`{"type":"user.message","event_id":"c1","text":"hi","coordinator_mode":"plan","plan_confirmation":"required"}`)
			c.settle()
		}
		order, err := sqlstore.NewRunlog(w.store, w.writer, "hub").Dispatched(t.Context(), s.run(s.session))
		if err != nil || !strings.Contains(string(order.Dispatch), `"prompt":"hi"`) ||
			!strings.Contains(string(order.Dispatch), `"coordinator_mode":"plan","plan_confirmation":"required"`) {
			t.Errorf("the agent is told %s, error %v", order.Dispatch, err)
		}
		second.say(`{"type":"user.message","event_id":"c1","text":"something else"}`)
		second.told("error invalid_input idempotency_conflict")
		page, err := s.hub.Messages.After(t.Context(), s.ada.User, s.session, 0, 10)
		if err != nil || len(page.Messages) != 1 {
			t.Fatalf("messages are %+v, error %v", page.Messages, err)
		}
		var content map[string]string
		if err := json.Unmarshal(page.Messages[0].Content, &content); err != nil || content["coordinator_mode"] != "plan" || content["plan_confirmation"] != "required" {
			t.Errorf("it is kept as %s, error %v", page.Messages[0].Content, err)
		}
	})
}

func TestFilesGoThroughTheStoreOfUploads(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		mine, err := s.hub.Files.Keep(t.Context(), s.ada.User, "plan.txt", "text/plain", strings.NewReader("plan"))
		s.must(err)
		theirs, err := s.hub.Files.Keep(t.Context(), bob.User, "theirs.txt", "text/plain", strings.NewReader("theirs"))
		s.must(err)
		c := s.hub.joined(s.ada, s.session)
		c.say(`{"type":"user.message","content":[{"type":"text","text":"look"},{"type":"file","source":{"type":"upload","attachment_id":%q}},
			{"type":"image","source":{"type":"base64","data":"aGk=","media_type":"image/png","filename":"x.png"}}]}`, mine.ID)
		c.settle()
		c.say(`{"type":"user.message","content":[{"type":"file","source":{"type":"upload","attachment_id":%q}}]}`, theirs.ID)
		c.told("error invalid_input not_found")
		page, err := s.hub.Messages.After(context.Background(), s.ada.User, s.session, 0, 10)
		if err != nil || len(page.Messages) != 1 {
			t.Fatalf("messages are %+v, error %v", page.Messages, err)
		}
		got := page.Messages[0].Attachments
		if len(got) != 2 || got[0].Filename != "plan.txt" || got[0].Kind != "file" || got[1].Filename != "x.png" || got[1].Kind != "image" || got[1].Size != 2 {
			t.Errorf("its attachments are %+v", got)
		}
	})
}

func TestUpdatedTellsOfTitleAndMembersAsTheyChange(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		c := w.hub().joined(s.ada, s.session) // another hub than the one that changes it
		name := "renamed"
		_, err := s.hub.Sessions.ChangeInfo(t.Context(), s.ada.Principal, s.session, chat.InfoChange{Name: &name})
		s.must(err)
		if e := c.told("updated"); string(e.Payload) != `{"kind":"updated","inner":{"title":"renamed"}}` {
			t.Errorf("told %s", e.Payload)
		}
		_, err = s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		if e := c.told("updated"); string(e.Payload) != `{"kind":"updated","inner":{"members":["ada","scout","bob"]}}` {
			t.Errorf("told %s", e.Payload)
		}
	})
}

func TestTheModelIsToldOnceAnAgentHasNamedIt(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		c := w.hub().joined(s.ada, s.session)
		run := s.asked(c, "hi")
		message := w.begins(s.edge, run)
		w.tells(s.edge, run, "run.agent.session_init", object{"agent_session_id": "s", "model": "small-1"})
		if e := c.told("updated"); string(e.Payload) != `{"kind":"updated","inner":{"model":"small-1"}}` {
			t.Errorf("told %s", e.Payload)
		}
		w.tells(s.edge, run, "run.agent.result", object{"usage": object{"input_tokens": 7, "model": "small-2"}})
		if e := c.told("updated"); string(e.Payload) != `{"kind":"updated","inner":{"model":"small-2"}}` {
			t.Errorf("told %s", e.Payload)
		}
		w.says(s.edge, run, message, "Hello.")
		later := w.hub().dial(s.ada, "?session_id="+string(s.session))
		if e := later.told("opened"); !strings.Contains(string(e.Payload), `"model":"small-2"`) {
			t.Errorf("opened with %s", e.Payload)
		}
	})
}
