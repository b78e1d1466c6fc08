package uplink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// desk answers every command with accepted.
type desk struct {
	ready chan struct{}
	slow  chan struct{} // what a command waits for, as for a disk; nil: nothing
	mu    sync.Mutex
	taken []id.Delivery
}

func (d *desk) Ready() <-chan struct{} { return d.ready }

func (d *desk) Receive(_ context.Context, c wire.Command) (wire.CommandReceipt, error) {
	d.mu.Lock()
	slow := d.slow
	d.mu.Unlock()
	if slow != nil {
		<-slow
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = append(d.taken, c.DeliveryID)
	return wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}, nil
}

func (d *desk) LiveRuns() []id.Run { return []id.Run{} }

// edge is an uplink at work over a real journal.
type edge struct {
	*uplink.Uplink
	journal *journal.Journal
	desk    *desk
	run     id.Run
	stop    func() // stops the uplink, then the journal
}

func connect(t *testing.T, h *hub, secret string) *edge {
	t.Helper()
	registry, log := telemetry.NewRegistry("edge"), slog.New(slog.DiscardHandler)
	j, err := journal.Open(context.Background(), journal.Options{Home: t.TempDir(), Cap: 64 << 20, Log: log, Metrics: registry})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{ready: make(chan struct{})}
	close(d.ready)
	u, err := uplink.New(uplink.Options{
		Identity: uplink.Identity{HubURL: h.http.URL, Edge: h.edge, Credential: secret}, Version: "test", Hostname: "here",
		Profiles: h.menu, Journal: j, Commands: d, Log: log, Metrics: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	writer, link := supervise.NewGroup(context.Background()), supervise.NewGroup(context.Background())
	writer.Go(j.Run)
	link.Go(u.Run)
	e := &edge{Uplink: u, journal: j, desk: d, run: id.NewRun(), stop: sync.OnceFunc(func() {
		link.Cancel()
		err := link.Wait()
		writer.Cancel()
		if err := errors.Join(err, writer.Wait(), j.Close()); err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(e.stop)
	return e
}

func (e *edge) append(t *testing.T, events ...run.Candidate) {
	t.Helper()
	from := journal.Origin{Scope: event.Scope{RunID: e.run}}
	if err := e.journal.Append(context.Background(), from, events...); err != nil {
		t.Fatal(err)
	}
}

func state(text string) run.Candidate {
	return run.Candidate{Type: event.SessionState, Payload: event.SessionStatePayload{State: text}}
}

func TestRowsReachTheHubInOrderThroughCuts(t *testing.T) {
	h := newHub(t)
	h.cutEvery = 7
	e := connect(t, h, credential)
	const n = 400
	for i := range n {
		e.append(t, state(fmt.Sprintf("%d %s", i, strings.Repeat("x", 500))))
	}
	h.wait("all rows", func() bool { return len(h.rows) >= n })
	if h.tunnels < 3 {
		t.Errorf("only %d tunnels: nothing was cut", h.tunnels)
	}
	for i, row := range h.rows {
		if !strings.HasPrefix(string(row.Payload), fmt.Sprintf(`{"state":"%d x`, i)) {
			t.Fatalf("row %d is %.40s", i, row.Payload)
		}
	}
}

func TestReceiptsAreKeptAndShown(t *testing.T) {
	h := newHub(t)
	e := connect(t, h, credential)
	e.append(t, state("a"))
	h.wait("the row", func() bool { return len(h.rows) == 1 })
	eventually(t, "the receipt", func() bool { return e.journal.State().Committed() == 1 })
	if s := e.Status(); s.State != uplink.Connected || s.Code != "" {
		t.Errorf("status is %+v", s)
	}
}

func TestCommandsAreAnswered(t *testing.T) {
	h := newHub(t)
	connect(t, h, credential)
	h.wait("a tunnel", func() bool { return h.say != nil })
	e := connectedCommand()
	h.wait("the receipt", func() bool {
		if len(h.receipts) == 0 {
			h.say(subject.Command, e)
			return false
		}
		return h.receipts[0].DeliveryID == e.DeliveryID && h.receipts[0].Status == wire.Accepted
	})
}

func TestAPingIsAnsweredWhileACommandWaitsForTheDisk(t *testing.T) {
	h := newHub(t)
	e := connect(t, h, credential)
	disk := make(chan struct{})
	defer close(disk)
	e.desk.mu.Lock()
	e.desk.slow = disk
	e.desk.mu.Unlock()
	h.wait("a greeting", func() bool { return len(h.offered) > 0 })
	h.change(func() {
		h.say(subject.Command, connectedCommand())
		h.say(subject.Ping, wire.Ping{Nonce: 1})
	})
	h.wait("the answer to the ping", func() bool { return h.pongs > 0 })
	h.change(func() {
		if len(h.receipts) > 0 {
			t.Error("the command did not wait: the test proves nothing")
		}
	})
}

func TestARestoredHubIsShownWhatItSignedAndForgot(t *testing.T) {
	h := newHub(t)
	e := connect(t, h, credential)
	start := connectedCommand()
	start.Kind, start.RunID, start.Signature = wire.Start, e.run, "00ff"
	receipt := wire.CommandReceipt{DeliveryID: start.DeliveryID, RunID: start.RunID, Status: wire.Accepted}
	if err := e.journal.AnswerStart(t.Context(), start, receipt); err != nil {
		t.Fatal(err)
	}
	h.wait("a greeting", func() bool { return len(h.offered) > 0 }) // what is said before is heard by nobody
	never := id.NewRun()
	asked := false
	h.wait("both answers", func() bool {
		if !asked {
			h.say(subject.Show, wire.Show{Runs: []id.Run{never, e.run}})
			asked = true
		}
		return len(h.shown) == 2
	})
	if h.shown[0].RunID != never || h.shown[0].Command != nil {
		t.Errorf("of a run that was never here it showed %+v", h.shown[0])
	}
	if got := h.shown[1]; got.RunID != e.run || got.Command == nil || !reflect.DeepEqual(*got.Command, start) {
		t.Errorf("it showed %+v, want the command as it came: %+v", got, start)
	}
}

func connectedCommand() wire.Command {
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: id.NewRun(), Lease: 1, Body: json.RawMessage(`{}`)}
}

func TestBlobIsUploadedBeforeItsRow(t *testing.T) {
	h := newHub(t)
	h.cutEvery = 2
	e := connect(t, h, credential)
	large := strings.Repeat("long answer ", 100_000)
	e.append(t, state("before"),
		run.Candidate{Type: event.MessageDone, Payload: event.MessageCompletedPayload{MessageID: "msg_1", Content: large}}, state("after"))
	h.wait("all rows", func() bool { return len(h.rows) == 3 })
	var p event.MessageCompletedPayload
	if err := json.Unmarshal(h.rows[1].Payload, &p); err != nil || p.ContentBlob == nil {
		t.Fatalf("row is %.200s", h.rows[1].Payload)
	}
	if got := string(h.blobs[p.ContentBlob.SHA256]); got != large {
		t.Errorf("blob has %d bytes, want %d", len(got), len(large))
	}
}

func TestRefusalIsShown(t *testing.T) {
	for name, tt := range map[string]struct {
		secret string
		lane   *wire.Refused
		state  uplink.State
		code   fault.Code
	}{
		"wrong credential": {"sye_wrong", nil, uplink.Refused, fault.Unauthenticated},
		"for good":         {credential, &wire.Refused{Code: fault.EdgeRefused, Detail: "Two of you."}, uplink.Refused, fault.EdgeRefused},
		"for now":          {credential, &wire.Refused{Code: fault.Busy, Detail: "Later.", Retry: true}, uplink.Connecting, fault.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.refuseLane = tt.lane
			e := connect(t, h, tt.secret)
			eventually(t, "the refusal", func() bool { return e.Status().Code == tt.code })
			if s := e.Status(); s.State != tt.state || s.Detail == "" {
				t.Errorf("status is %+v", s)
			}
		})
	}
}

func TestStoppingEdgeWaitsForItsLastRows(t *testing.T) {
	h := newHub(t)
	e := connect(t, h, credential)
	e.append(t, state("first"))
	h.wait("the first row", func() bool { return len(h.rows) == 1 })
	for i := range 50 {
		e.append(t, state(fmt.Sprint(i)))
	}
	if err := e.journal.Flush(t.Context(), e.run); err != nil {
		t.Fatal(err)
	}
	e.stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rows) != 51 {
		t.Errorf("the hub has %d rows", len(h.rows))
	}
}

// eventually waits until is holds; nothing announces it.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(20 * time.Second)
	for !is() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("never happened: %s", what)
		}
	}
}
