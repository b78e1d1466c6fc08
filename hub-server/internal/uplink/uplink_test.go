package uplink_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestATunnelNeedsACredential(t *testing.T) {
	h := newHarness(t)
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	for _, header := range []string{"", "Bearer", "Bearer wrong", "Basic " + credential} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close() //nolint:errcheck // only the status is of interest
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: status %d", header, resp.StatusCode)
		}
	}
}

func TestRowsAreCommittedInOrderAndAcknowledged(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	w := e.hello()
	if w.Watermark != 0 || w.Credit <= 0 || w.MaxFrame != wire.DefaultFrame {
		t.Errorf("welcome %+v", w)
	}
	e.frame(w.Generation, 1, "a", "b")
	e.frame(w.Generation, 3, "c")
	for seq := wire.ProducerSeq(0); seq < 3; { // in one commit or in two
		got := hear[wire.CommittedTo](e, subject.Committed)
		if seq = got.Receipt.Seq; seq != 2 && seq != 3 {
			t.Fatalf("committed to %d, want 2 or 3", seq)
		}
	}
	if !slices.Equal(h.rows, []string{"a", "b", "c"}) {
		t.Errorf("rows %q", h.rows)
	}
}

func TestAGapGetsOneRewindPerGenerationAndOldFramesAreDropped(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	w := e.hello()
	e.frame(w.Generation, 1, "a")
	e.frame(w.Generation, 3, "c")
	e.frame(w.Generation, 4, "d")
	r := hear[wire.Rewind](e, subject.Rewind)
	if r.From != 2 || r.Generation <= w.Generation {
		t.Fatalf("rewind %+v after %+v", r, w)
	}
	e.frame(w.Generation, 2, "sent before the rewind was heard")
	e.frame(r.Generation, 2, "b", "c", "d")
	if got := hear[wire.CommittedTo](e, subject.Committed); got.Receipt.Seq != 4 {
		t.Errorf("committed to %d, want 4", got.Receipt.Seq)
	}
	if !slices.Equal(h.rows, []string{"a", "b", "c", "d"}) {
		t.Errorf("rows %q", h.rows)
	}
}

func TestAnEdgeThatSendsRubbishIsRefusedAtTheThirdFrame(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	e.hello()
	for range 3 {
		e.say(subject.Frame, []byte("rubbish"))
	}
	if got := hear[wire.Refused](e, subject.Refused); got.Code != fault.FrameUnreadable || !got.Retry {
		t.Errorf("refused %+v", got)
	}
	e.mustEnd()
	if code := <-h.refused; code != fault.FrameUnreadable {
		t.Errorf("recorded %q", code)
	}
	if len(h.rows) > 0 {
		t.Errorf("rows %q", h.rows)
	}
}

func TestAFrameBeforeHelloIsNotTaken(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	e.frame(1, 1, "a")
	e.hello()
	if len(h.rows) > 0 {
		t.Errorf("rows %q", h.rows)
	}
}

func TestMissingBytesAreAskedForByName(t *testing.T) {
	h := newHarness(t)
	h.needBlob = "abc123"
	e := h.dial(t, "b1")
	w := e.hello()
	e.frame(w.Generation, 1, "a")
	if got := hear[wire.Refused](e, subject.Refused); got.Code != wire.NeedBlob || got.Detail != "abc123" || !got.Retry {
		t.Errorf("refused %+v", got)
	}
}

func TestANewerConnectionOfTheSameProcessReplacesTheOlder(t *testing.T) {
	h := newHarness(t)
	old := h.dial(t, "b1")
	old.hello()
	h.dial(t, "b1").hello()
	old.mustEnd()
}

func TestARestartedEdgeReplacesAConnectionThatDoesNotAnswer(t *testing.T) {
	h := newHarness(t)
	old := h.dial(t, "b1")
	old.hello() // and from here on it answers no ping
	h.dial(t, "b2").hello()
	old.mustEnd()
}

// A link that was stuck may still bring what the old process said before it died.
func TestARestartedEdgeReplacesAConnectionThatAnswersOlderPingsAlone(t *testing.T) {
	h := newHarness(t)
	old := h.dial(t, "b1")
	old.hello()
	restarted := h.dial(t, "b2")
	restarted.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: restarted.boot})
	probe := silently[wire.Ping](old, subject.Ping)
	for _, late := range []any{wire.Pong{Nonce: probe.Nonce - 1}, wire.Pong{Nonce: 424242}, wire.Pong{}, []byte(`{"nonce":`)} {
		old.say(subject.Pong, late)
	}
	hear[wire.Welcome](restarted, subject.Welcome)
	old.mustEnd()
}

// So may it bring the hello of a process that has died since.
func TestAHelloThatWasStuckDoesNotRefuseTheEdgeThatWasRestarted(t *testing.T) {
	h := newHarness(t)
	restarted, dead := h.dial(t, "b2"), h.dial(t, "b1")
	welcome := restarted.hello()
	heard := restarted.live()
	dead.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: dead.boot})
	dead.mustEnd()
	restarted.frame(welcome.Generation, 1, "a")
	if got := must[wire.CommittedTo](t, heard, subject.Committed); got.Receipt.Seq != 1 {
		t.Errorf("committed %+v", got)
	}
}

func TestTwoLiveMachinesWithOneIdentityAreBothRefused(t *testing.T) {
	h := newHarness(t)
	first, second := h.dial(t, "b1"), h.dial(t, "b2")
	first.hello()
	heard := map[*edge]<-chan *nats.Msg{first: first.live(), second: second.live()}
	second.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: second.boot})
	for e, messages := range heard {
		if got := must[wire.Refused](t, messages, subject.Refused); got.Code != fault.EdgeRefused || got.Retry {
			t.Errorf("refused %+v", got)
		}
		e.mustEnd()
	}
}

func TestAnotherProtocolIsRefusedWithASentence(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	e.say(subject.Hello, wire.Hello{Protocol: wire.Protocol + 1})
	if got := hear[wire.Refused](e, subject.Refused); got.Code != fault.Unsupported || got.Retry || got.Detail == "" {
		t.Errorf("refused %+v", got)
	}
}

func TestCommandsComeAfterTheWelcomeAndWhenTheLaneIsWoken(t *testing.T) {
	h := newHarness(t)
	first := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: id.NewRun(), Lease: 1, Body: []byte(`{}`)}
	h.setCommand(first)
	e := h.dial(t, "b1")
	e.hello()
	if got := hear[wire.Command](e, subject.Command); got.DeliveryID != first.DeliveryID {
		t.Errorf("command %+v", got)
	}
	e.say(subject.Receipt, wire.CommandReceipt{DeliveryID: first.DeliveryID, RunID: first.RunID, Status: wire.Accepted})
	if got := <-h.receipts; got.DeliveryID != first.DeliveryID {
		t.Errorf("receipt %+v", got)
	}
	second := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: first.RunID, Lease: 1, Body: []byte(`{}`)}
	h.setCommand(second)
	h.handler.Wake(h.edge)
	if got := hear[wire.Command](e, subject.Command); got.DeliveryID != second.DeliveryID {
		t.Errorf("command %+v", got)
	}
}

func (h *harness) setCommand(c wire.Command) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commands = []wire.Command{c}
}

func TestAnEdgeIsHereOnlyOnceItIsKnownWhatItCanRun(t *testing.T) {
	h := newHarness(t)
	h.dial(t, "b1").hello()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.early || h.here != 1 {
		t.Errorf("present %d times, before the announcement: %t", h.here, h.early)
	}
}

func TestChangedProfilesAreAnnouncedAndBringTheWorkThatWaitedForThem(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b")
	e.hello()
	e.say(subject.Capabilities, json.RawMessage(`{"profiles":[{"name":"crow","runtime":"bridge"}],"added_later":1}`))
	h.takenInBy(e)
	waiting := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: id.NewRun(), Lease: 1, Body: []byte(`{}`)}
	h.setCommand(waiting)
	e.say(subject.Capabilities, wire.Capabilities{Profiles: []wire.Profile{{Name: "crow", Runtime: "bridge"}, {Name: "owl", Runtime: "events"}}})
	if got := hear[wire.Command](e, subject.Command); got.DeliveryID != waiting.DeliveryID {
		t.Errorf("command %+v", got)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.announced.BootNonce != "b" || !slices.Equal(h.released, []string{"", "crow", "crow owl"}) {
		t.Errorf("announced %+v, work handed out for %q", h.announced, h.released)
	}
}

func TestCapabilitiesOnALaneThatAnotherHasTakenEndTheConnection(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b")
	e.hello()
	h.takenInBy(e)
	h.mu.Lock()
	h.fence++
	h.mu.Unlock()
	e.say(subject.Capabilities, wire.Capabilities{Profiles: []wire.Profile{{Name: "crow", Runtime: "bridge"}}})
	e.mustEnd()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.announced.Profiles) > 0 {
		t.Errorf("announced %+v", h.announced)
	}
}

func TestCapabilitiesBeforeHelloAreNotTaken(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b")
	e.say(subject.Capabilities, wire.Capabilities{Profiles: []wire.Profile{{Name: "crow", Runtime: "bridge"}}})
	e.hello()
	h.takenInBy(e)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.released, []string{""}) {
		t.Errorf("work handed out for %q", h.released)
	}
}

// takenInBy waits until everything that the edge has said is taken in: messages are, one after the other.
func (h *harness) takenInBy(e *edge) {
	e.say(subject.Receipt, wire.CommandReceipt{DeliveryID: id.NewDelivery(), Status: wire.Accepted})
	<-h.receipts
}

func TestARevokedEdgeIsToldAndDisconnected(t *testing.T) {
	h := newHarness(t)
	e := h.dial(t, "b1")
	e.hello()
	h.handler.Disconnect(h.edge)
	if got := hear[wire.Refused](e, subject.Refused); got.Code != fault.EdgeRevoked || got.Retry {
		t.Errorf("refused %+v", got)
	}
	e.mustEnd()
}

func TestARevokedEdgeCannotTalkItsWayPastTheEnd(t *testing.T) {
	h := newHarness(t)
	h.pause = 5 * time.Millisecond
	e := h.dial(t, "b1")
	w := e.hello()
	const frames = 200
	for range frames {
		e.frame(w.Generation, 1, "a") // the same row: none can be joined to the one before
	}
	hear[wire.CommittedTo](e, subject.Committed)
	h.handler.Disconnect(h.edge)
	heard := 1
	for limit := time.After(patience); ; {
		select {
		case m := <-e.down:
			switch subject.VerbOf(m.Subject) {
			case subject.Committed:
				heard++
			case subject.Refused:
				if heard > frames/2 {
					t.Errorf("%d of %d frames were heard before the end", heard, frames)
				}
				e.mustEnd()
				return
			}
		case <-limit:
			t.Fatal("the edge was never told")
		}
	}
}

func TestFramesThatWaitAreCommittedTogetherAndWhatFollowsThemIsNotLost(t *testing.T) {
	h := newHarness(t)
	h.pause = 5 * time.Millisecond // the hub is slower than its edge
	e := h.dial(t, "b1")
	w := e.hello()
	const frames = 200
	for i := range wire.ProducerSeq(frames) {
		e.frame(w.Generation, i+1, "a")
	}
	e.frame(w.Generation, frames+2, "c") // a gap: it must not be joined, and it must not be forgotten
	commits := 0
	for seq := wire.ProducerSeq(0); seq < frames; commits++ {
		seq = hear[wire.CommittedTo](e, subject.Committed).Receipt.Seq
	}
	if commits > frames/2 {
		t.Errorf("%d frames took %d commits", frames, commits)
	}
	if got := hear[wire.Rewind](e, subject.Rewind); got.From != frames+1 {
		t.Errorf("asked for row %d, want %d", got.From, frames+1)
	}
}
