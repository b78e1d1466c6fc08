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
	whole := Session{ID: session, Type: Group, Name: "demo", Owner: ada, Members: []Member{
		{ID: OfUser(ada), Name: "ada", Role: OwnerRole, JoinedAt: at}, {ID: OfAgent(agent), Name: "scout", Role: Participant, JoinedAt: at},
	}}
	asked := Message{
		ID: message, Session: session, Seq: 7, ClientMsgID: "0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Sender: OfUser(ada), ContentType: Text,
		Content: []byte(`{"text":"@scout a < b & c é","n":1.0}`), Mentions: []id.Agent{agent}, ReplyTo: message, Tasks: []id.Run{task}, CreatedAt: at,
	}
	attached := asked
	attached.Attachments = []wire.Attachment{{Kind: "image", URL: "https://example.com/?a=1&b=<2>", Filename: "é.png", MIMEType: "image/png", Size: 12}}
	said, err := AgentMessage(message, session, agent, task, "done <ok> \u2028", at)
	if err != nil {
		t.Fatal(err)
	}
	said.Seq = 8
	all := map[string][]byte{}
	for name, encoded := range map[string]func() ([]byte, error){
		"message.new":           func() ([]byte, error) { return Frame(asked) },
		"message.new.attached":  func() ([]byte, error) { return Frame(attached) },
		"message.new.agent":     func() ([]byte, error) { return Frame(said) },
		"session.created":       func() ([]byte, error) { return createdFrame(whole) },
		"session.member_joined": func() ([]byte, error) { return joinedFrame(session, OfAgent(agent)) },
		"session.member_left":   func() ([]byte, error) { return leftFrame(session, OfUser(ada)) },
		"session.info_updated":  func() ([]byte, error) { return ownerFrame(session, ada) },
		"message.read":          func() ([]byte, error) { return readFrame(session, ada, 7) },
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
		if strings.HasPrefix(name, "message.new.") { // another example of it
			name = "message.new"
		}
		frame := append([]byte(`{"type":"`+name+`","payload":`), payload...)
		if err := v.Frame(append(frame, '}')); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
