package security

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rawedge"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// enrolled returns the identity of a new edge that no edge-server stands behind.
func enrolled(t *testing.T, r *rig.Rig, name string) rawedge.Identity {
	t.Helper()
	who, err := rawedge.Enrol(t.Context(), r.HubURL(), r.Enrolment(name).Token)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

func dial(t *testing.T, who rawedge.Identity) *rawedge.Conn {
	t.Helper()
	c, err := rawedge.Dial(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// patient bounds the waiting for one answer.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rig.Patience)
	t.Cleanup(cancel)
	return ctx
}

// SEC16: an edge publishes and hears on its own connection, and nowhere else.
func TestAnEdgeSpeaksAndHearsNowhereButOnItsOwnConnection(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	me, other := enrolled(t, r, "me"), enrolled(t, r, "other")
	mine, older, theirs := dial(t, me), dial(t, me), dial(t, other)
	if err := mine.Say(subject.Alive, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if err := mine.Refused(time.Second); err != nil {
		t.Fatalf("positive control: the edge's own subject was refused: %v", err)
	}
	for _, to := range []string{
		string(subject.Up(theirs.Edge, theirs.Connection, subject.Frame)),
		string(subject.Up(me.Edge, theirs.Connection, subject.Frame)),
		string(subject.Up(me.Edge, older.Connection, subject.Frame)), // a stale connection may not speak for a new one
		string(subject.Down(me.Edge, mine.Connection, subject.Welcome)),
		string(subject.Down(theirs.Edge, theirs.Connection, subject.Refused)),
		fmt.Sprintf("edge.%s.up", me.Edge), "edge", "_INBOX.x", "$SYS.REQ.SERVER.PING", "$SYS.ACCOUNT.x", "$JS.API.INFO", "$JS.ACK.x",
		string(subject.WakeOutbox), string(subject.Kick), string(subject.Ephemeral), string(subject.Presence), string(subject.People), string(subject.Contacts), string(subject.Revoked),
	} {
		if err := mine.Publish(to, "", struct{}{}); err != nil {
			t.Fatal(err)
		}
		mustBeDenied(t, mine.Refused(rig.Patience), "publish on "+to)
	}
	for _, to := range []string{
		">", "*", "edge.>", "edge.*.up.>", "edge.*.down.>", fmt.Sprintf("edge.%s.>", me.Edge), fmt.Sprintf("edge.%s.down.>", me.Edge),
		string(subject.AllDown(theirs.Edge, theirs.Connection)), string(subject.AllUp(theirs.Edge, theirs.Connection)),
		string(subject.AllUp(me.Edge, mine.Connection)), string(subject.AllDown(me.Edge, older.Connection)),
		"_INBOX.>", "$SYS.>", "$JS.>", "hub.>", string(subject.Ephemeral),
	} {
		if err := mine.Subscribe(to); err != nil {
			t.Fatal(err)
		}
		mustBeDenied(t, mine.Refused(rig.Patience), "subscribe to "+to)
	}
}

func mustBeDenied(t *testing.T, err error, what string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), nats.PERMISSIONS_ERR) {
		t.Errorf("%s: %v, want a permissions violation", what, err)
	}
}

// SEC16: NATS does not check reply subjects against permissions, so the hub must not answer to one that an edge chose.
func TestTheHubNeverAnswersToASubjectThatAnEdgeChose(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	c := dial(t, enrolled(t, r, "edge"))
	reply := string(subject.Down(c.Edge, c.Connection, "reply"))
	hello := wire.Hello{Protocol: wire.Protocol, Incarnation: "aaaaaaaaaaaaaaaa", BootNonce: "aaaaaaaaaaaaaaaa", Floor: 1, Profiles: []wire.Profile{}, LiveRuns: []id.Run{}}
	if err := c.Publish(string(subject.Up(c.Edge, c.Connection, subject.Hello)), reply, hello); err != nil {
		t.Fatal(err)
	}
	first, _, err := c.Next(patient(t))
	if err != nil || first != subject.Welcome {
		t.Fatalf("the hub said %q (%v) first, want a welcome on the subject that it chose itself", first, err)
	}
	quiet, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for {
		verb, _, err := c.Next(quiet)
		if err != nil {
			return
		}
		if verb == "reply" {
			t.Fatal("the hub answered to a subject that the edge chose")
		}
	}
}

// SEC17: what an edge says of another's run goes to quarantine, moves the lane on and changes nothing.
func TestAnEdgeCannotWriteToAnotherEdgesRun(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	r.AddEdge("honest", map[string]string{"worker": r.TestAgent("--act", "forever")})
	device := r.Device("a", r.HubURL())
	seen := device.Watch()
	seen.UntilConnected(1)
	session := device.Group("demo", "worker")
	run := device.Run(session, "@worker go")
	seen.UntilEvents(run, 1)
	before := len(device.Log(run))

	c := dial(t, enrolled(t, r, "mallory"))
	welcome, err := c.Hello(patient(t), "bbbbbbbbbbbbbbbb")
	if err != nil {
		t.Fatal(err)
	}
	lane := rawedge.Lane{Incarnation: "bbbbbbbbbbbbbbbb"}
	forged := [][]byte{
		mustRow(t, c, &lane, run, event.MessageDelta, event.DeltaPayload{MessageID: id.NewMessage(), Delta: "forged"}),
		mustRow(t, c, &lane, run, event.RunCompleted, event.RunCompletedPayload{}),
		mustRow(t, c, &lane, "run_0123456789abcdef", event.MessageDelta, event.DeltaPayload{Delta: "of nobody's run"}),
	}
	if err := c.Send(welcome.Generation, &lane, forged...); err != nil {
		t.Fatal(err)
	}
	committed, err := rawedge.Hear[wire.CommittedTo](patient(t), c, subject.Committed)
	if err != nil || committed.Receipt.Seq != lane.Head {
		t.Fatalf("the lane stands at %d (%v), want %d: bad rows must not stall it", committed.Receipt.Seq, err, lane.Head)
	}
	if log := device.Log(run); len(log) != before {
		t.Errorf("the foreign run's log grew from %d to %d events", before, len(log))
	}
	if task := device.Task(run); task.State != client.RunStateRunning {
		t.Errorf("the foreign run is %s, want running", task.State)
	}
}

func mustRow(t *testing.T, c *rawedge.Conn, l *rawedge.Lane, run id.Run, typ event.Type, payload any) []byte {
	t.Helper()
	row, err := l.Row(c.Edge, run, typ, payload)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// A frame that cannot be read moves nothing; the third one ends the connection, and the edge shows as refused.
func TestUnreadableFramesMoveNothingAndEndTheConnection(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	who := enrolled(t, r, "broken")
	c := dial(t, who)
	if _, err := c.Hello(patient(t), "cccccccccccccccc"); err != nil {
		t.Fatal(err)
	}
	for _, junk := range []string{"junk", "SYF1", "SYF1\x01\x01\xff\xff\xff\xff\x0f"} {
		if err := c.Say(subject.Frame, []byte(junk)); err != nil {
			t.Fatal(err)
		}
	}
	refused, err := rawedge.Hear[wire.Refused](patient(t), c, subject.Refused)
	if err != nil || refused.Code != fault.FrameUnreadable || refused.Detail == "" {
		t.Fatalf("the hub said %+v (%v), want %s with a sentence", refused, err, fault.FrameUnreadable)
	}
	select {
	case <-c.Closed():
	case <-patient(t).Done():
		t.Fatal("the connection is still there")
	}
	edge, err := client.Decode[client.Edge](r.Owner().API().GetEdge(t.Context(), string(who.Edge)))
	if err != nil || edge.State != client.EdgeStateRefused {
		t.Errorf("the edge shows as %s (%v), want refused", edge.State, err)
	}
}

// SEC15 and SEC3: a spent token enrols nobody, a wrong credential opens no tunnel, a revoked one closes it.
func TestEdgesWithoutAValidCredentialStayOutside(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	enrolment := r.Enrolment("edge")
	who, err := rawedge.Enrol(t.Context(), r.HubURL(), enrolment.Token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rawedge.Enrol(t.Context(), r.HubURL(), enrolment.Token); err == nil {
		t.Error("a token enrolled twice")
	}
	for _, credential := range []string{"", "sye_wrong", who.Credential + "x", enrolment.Token} {
		stranger := who
		stranger.Credential = credential
		if c, err := rawedge.Dial(t.Context(), stranger); err == nil {
			c.Close()
			t.Errorf("credential %q opened a tunnel", credential)
		}
	}
	c := dial(t, who)
	if _, err := c.Hello(patient(t), "dddddddddddddddd"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Decode[client.Nothing](r.Owner().API().RevokeEdge(t.Context(), string(who.Edge))); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Closed():
	case <-patient(t).Done():
		t.Fatal("the tunnel of a revoked edge is still open")
	}
	if c, err := rawedge.Dial(t.Context(), who); err == nil {
		c.Close()
		t.Error("a revoked credential opened a tunnel")
	}
}
