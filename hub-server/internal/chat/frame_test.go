package chat

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

var update = flag.Bool("update", false, "write the golden files again")

// frames are examples of everything that conversations put into the outbox: durable bytes.
func frames(t *testing.T) map[string][]byte {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	const (
		session = id.Session("sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
		ada     = id.User("user_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
		agent   = id.Agent("agent_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
		message = id.Message("msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
		task    = id.Run("run_9f2c1b7ad0e44c55")
	)
	whole := Session{ID: session, Type: Group, Name: "demo", Owner: ada, AvatarURL: "https://example.com/?a=1&b=<2>", Announcement: "Friday é",
		Info: 3, CreatedAt: at, Members: []Member{
			{ID: OfUser(ada), Name: "ada", Role: OwnerRole, JoinedAt: at}, {ID: OfAgent(agent), Name: "scout", Role: Participant, JoinedAt: at},
		}}
	grown := whole
	grown.LastSeq = 12
	asked := Message{
		ID: message, Session: session, Seq: 7, ClientMsgID: "0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Sender: OfUser(ada), ContentType: Text,
		Content: []byte(`{"text":"@scout a < b & c é","n":1.0}`), Mentions: []MemberID{OfAgent(agent), OfUser(ada)}, ReplyTo: message, Tasks: []id.Run{task}, CreatedAt: at,
	}
	attached := asked
	attached.Attachments = []wire.Attachment{{Kind: "image", URL: "https://example.com/?a=1&b=<2>", Filename: "é.png", MIMEType: "image/png", Size: 12}}
	said, err := AgentMessage(message, session, agent, task, "done <ok> \u2028", at)
	if err != nil {
		t.Fatal(err)
	}
	said.Seq = 8
	edited := asked
	edited.Revision, edited.EditedAt = 2, at.Add(time.Minute)
	forwarded := asked
	forwarded.Mentions, forwarded.ReplyTo, forwarded.Tasks = nil, "", nil
	forwarded.Forwarded = &Origin{SenderType: AgentMember, SenderName: "scout", SentAt: at.UTC()}
	taken := attached
	taken.Recalled, taken.Revision, taken.EditedAt = true, 2, at
	all := map[string][]byte{}
	for name, encoded := range map[string]func() ([]byte, error){
		"message.new":           func() ([]byte, error) { return Frame(asked) },
		"message.new.attached":  func() ([]byte, error) { return Frame(attached) },
		"message.new.agent":     func() ([]byte, error) { return Frame(said) },
		"message.new.edited":    func() ([]byte, error) { return Frame(edited) },
		"message.new.forwarded": func() ([]byte, error) { return Frame(forwarded) },
		"message.new.recalled":  func() ([]byte, error) { return Frame(taken) },
		"message.pin":           func() ([]byte, error) { return pinFrame(session, message, ada, at) },
		"message.reaction_added": func() ([]byte, error) {
			return reactionFrame(reactionPayload{"added", ada, message, session, "👍 <ok>", 2})
		},
		"message.reaction_removed": func() ([]byte, error) {
			return reactionFrame(reactionPayload{"removed", ada, message, session, "👍", 0})
		},
		"message.recall":                func() ([]byte, error) { return recallFrame(asked) },
		"message.unpin":                 func() ([]byte, error) { return unpinFrame(session, message) },
		"session.created":               func() ([]byte, error) { return createdFrame(whole) },
		"session.created.joined":        func() ([]byte, error) { return createdFrame(grown) },
		"session.member_joined":         func() ([]byte, error) { return joinedFrame(session, whole.Members[1]) },
		"session.member_left":           func() ([]byte, error) { return leftFrame(session, OfUser(ada)) },
		"session.info_updated":          func() ([]byte, error) { return updatedFrame(whole) },
		"session.info_updated.settings": func() ([]byte, error) { return settingsUpdated(session, Settings{Muted: true, Version: 2}) },
		"session.dissolved":             func() ([]byte, error) { return dissolvedFrame(Session{ID: session, DissolvedAt: at}) },
		"message.read": func() ([]byte, error) {
			return ReadFrame(session, ada, Reading{LastRead: 7, LastSeq: 12, LastChange: 3, Unread: 4}), nil
		},
	} {
		if all[name], err = encoded(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestFramesAreTheBytesTheyAlwaysWere(t *testing.T) {
	for name, got := range frames(t) {
		path := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s:\n got %s\nwant %s (%v)", name, got, want, err)
		}
	}
}

func TestFramesFitTheContract(t *testing.T) {
	v, err := apicontract.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range frames(t) {
		if parts := strings.Split(name, "."); len(parts) > 2 { // another example of it
			name = parts[0] + "." + parts[1]
		}
		frame := append([]byte(`{"type":"`+name+`","payload":`), payload...)
		if err := v.Frame(append(frame, '}')); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
