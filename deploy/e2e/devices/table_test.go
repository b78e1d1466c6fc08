package devices

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// row is one line of S3's table of Hub frames: what makes the hub send such a frame, and who is told.
type row struct {
	frame client.HubWebSocketFrameType
	what  string // if there is more than one row for the frame
	// pending says why nothing sends the frame yet; nothing else is set then.
	pending   string
	act       func(*stage)                                     // the real thing
	told      func(*stage) []*someone                          // all of their devices; nobody else's
	ephemeral bool                                             // it is in no record: not replayed, and not in GET /client/sync
	payload   func(*stage, *someone, client.HubWebSocketFrame) // looks at each that was shown; may be nil
	alone     func(*stage, row)                                // instead of act: the whole test, of a frame that is about a connection
}

func (r row) String() string {
	if r.what == "" {
		return string(r.frame)
	}
	return fmt.Sprintf("%s, %s", r.frame, r.what)
}

// Each frame of S3's table comes from the real thing, to the devices that it is for and to no other, after a cut and by GET /client/sync as well if
// it is kept, and may come twice and in another order: both SDKs make the same of it.
func TestEachFrameOfTheTableComesToWhomItIsForAndMayComeTwice(t *testing.T) {
	rows := table()
	complete(t, rows)
	for name, env := range map[string]func(*testing.T) []string{
		"SQLite":     func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string { return []string{"HUB_DATABASE_URL=" + hubtest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, env(t))
			for _, r := range rows {
				switch {
				case r.alone != nil:
					r.alone(s, r)
				case r.act != nil:
					s.play(r)
				}
			}
			s.ended(rows)
		})
	}
}

// complete says which frames of the catalogue, and so of the contract, have no row, and which rows are of none.
func complete(t *testing.T, rows []row) {
	t.Helper()
	missing := map[client.HubWebSocketFrameType]bool{}
	for _, f := range event.Frames() {
		missing[client.HubWebSocketFrameType(f.Type)] = true
	}
	known := maps.Clone(missing)
	for _, r := range rows {
		delete(missing, r.frame)
		if !known[r.frame] {
			t.Errorf("%s is no frame of the catalogue", r.frame)
		}
	}
	for frame := range missing {
		t.Errorf("%s has no row: say what sends it, and to whom", frame)
	}
}

// ended is called when all rows were played.
func (s *stage) ended(rows []row) {
	s.t.Helper()
	for _, r := range rows {
		if r.pending != "" && s.ever[r.frame] {
			s.t.Errorf("%s was sent though %s: give it a row that says what sends it", r.frame, r.pending)
		}
	}
	for _, p := range s.people() {
		for _, came := range p.away.recorder.Resumes()[1:] {
			if came.Resume != client.AuthOKPayloadResumeReplayed {
				s.t.Errorf("%s came back and was told %s, %s", p.name, came.Resume, came.Reason)
			}
		}
	}
}

func adaAlone(s *stage) []*someone  { return []*someone{s.ada} }
func bobAlone(s *stage) []*someone  { return []*someone{s.bob} }
func members(s *stage) []*someone   { return []*someone{s.ada, s.bob} }
func everybody(s *stage) []*someone { return s.people() }

const teams = "team runs are not there yet"

// table has the rows in the order of S3.
func table() []row {
	return slices.Concat(connectionRows(), messageRows(), sessionRows(), deviceRows(), agentRows(), teamRows(), personRows())
}

func connectionRows() []row {
	return []row{
		{frame: "typing", act: typing, told: bobAlone, ephemeral: true},
		{frame: "auth.ok", alone: greeted},
	}
}

func messageRows() []row {
	return []row{
		{frame: "message.new", act: func(s *stage) { s.say("hello") }, told: members},
		{frame: "message.new", what: "a reply and an edit", act: replyAndEdit, told: members},
		{frame: "message.recall", act: recall, told: members},
		{frame: "message.pin", act: func(s *stage) { s.pin(s.say("pinned").MessageID) }, told: members},
		{frame: "message.unpin", act: unpin, told: members},
		{frame: "message.reaction_added", act: func(s *stage) { s.react(s.say("liked").MessageID) }, told: members},
		{frame: "message.reaction_removed", act: unreact, told: members},
		{frame: "message.read", act: read, told: members},
	}
}

func sessionRows() []row {
	return []row{
		{frame: "session.created", act: func(s *stage) { s.group("made", s.bob) }, told: members},
		{frame: "session.created", what: "a private one", act: private, told: members},
		{frame: "session.dissolved", act: dissolve, told: members},
		{frame: "session.member_joined", act: func(s *stage) { s.add(s.group("an agent's", s.bob), s.Owner().AgentID(worker)) }, told: members},
		{frame: "session.member_left", act: removal, told: everybody},
		{frame: "session.member_left", what: "by oneself", act: leaving, told: members},
		{frame: "session.info_updated", act: rename, told: members},
		{frame: "session.info_updated", what: "a new owner", act: transfer, told: members},
		{frame: "session.info_updated", what: "of one member", act: mute, told: bobAlone},
	}
}

func deviceRows() []row {
	return []row{
		{frame: "device.online", act: visit, told: adaAlone, ephemeral: true},
		{frame: "device.offline", act: visit, told: adaAlone, ephemeral: true},
		{frame: "device.kicked", alone: kicked},
	}
}

func agentRows() []row {
	return []row{
		{frame: "agent.dispatch", act: work, told: members, payload: tellsNothing},
		{frame: "agent.stream", act: work, told: members},
		{frame: "agent.done", act: work, told: members},
		{frame: "agent.failed", act: fail, told: members},
		{frame: "agent.cancel", act: cancel, told: members},
		{frame: "agent.control", act: permit, told: adaAlone},
	}
}

func teamRows() []row {
	return []row{
		{frame: "team.run.started", pending: teams},
		{frame: "team.event", pending: teams},
		{frame: "team.assignment.done", pending: teams},
		{frame: "team.assignment.failed", pending: teams},
		{frame: "team.subagent.stream", pending: teams},
	}
}

func personRows() []row {
	return []row{
		{frame: "notification.new", act: func(s *stage) { s.say("look here, @bob") }, told: bobAlone},
		{frame: "notification.new", what: "a question (R20)", act: permit, told: adaAlone},
		{frame: "friend.request", act: func(s *stage) { s.request(s.ada, s.bob) }, told: members},
		{frame: "friend.accepted", act: befriend, told: func(s *stage) []*someone { return []*someone{s.ada, s.carol} }},
	}
}
