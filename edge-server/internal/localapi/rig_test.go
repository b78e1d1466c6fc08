package localapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/edge-server/internal/mcptools"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	edgeID  id.Edge         = "edge_1"
	trusted localapi.Origin = "http://localhost:5173"
)

// rig is a local API over a real journal.
type rig struct {
	t       *testing.T
	addr    string
	tools   *mcptools.Endpoint
	journal *journal.Journal
	stop    func() // stops the API, not the journal
}

func newRig(t *testing.T) *rig {
	t.Helper()
	metrics := telemetry.NewRegistry("edge")
	// The window is over at once: what is committed and ended is trimmed.
	j, err := journal.Open(context.Background(), journal.Options{
		Home: t.TempDir(), Cap: 64 << 20, Window: time.Nanosecond, Log: slog.New(slog.DiscardHandler), Metrics: metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	stopJournal := start(t, j.Run, j.Maintain)
	tools := mcptools.New("test")
	s, err := localapi.Listen(t.Context(), localapi.Options{
		Addr: "127.0.0.1:0", Token: token, Origins: []localapi.Origin{trusted}, Edge: edgeID, Journal: j,
		Health: func() localapi.Health { return health(localapi.OK) }, Tools: tools, Metrics: metrics, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	tools.ReachedAt(s.Addr())
	r := &rig{t: t, addr: s.Addr(), tools: tools, journal: j, stop: start(t, s.Run)}
	t.Cleanup(func() {
		r.stop()
		stopJournal()
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// start runs fns until stop is called.
func start(t *testing.T, fns ...func(context.Context) error) (stop func()) {
	t.Helper()
	group := supervise.NewGroup(context.Background())
	for _, fn := range fns {
		group.Go(fn)
	}
	return sync.OnceFunc(func() {
		group.Cancel()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// admit makes a run that the hub has ordered.
func (r *rig) admit() id.Run {
	r.t.Helper()
	name := id.NewRun()
	body, err := json.Marshal(wire.Dispatch{TaskID: name, SessionID: "sess_1", AgentName: "worker", Profile: "scout"})
	if err != nil {
		r.t.Fatal(err)
	}
	c := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: name, Lease: 1, Body: body}
	if err := r.journal.AnswerStart(r.t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: name, Status: wire.Accepted}); err != nil {
		r.t.Fatal(err)
	}
	return name
}

// say appends n events of a run. Their payloads are such that encoding them again would change them.
func (r *rig) say(name id.Run, n int) {
	r.t.Helper()
	odd := run.Candidate{Type: event.SessionState, Payload: json.RawMessage(`{"state":"<b> \u2028 1.0","n":1e400}`)}
	r.commit(name, slices.Repeat([]run.Candidate{odd}, n)...)
}

func (r *rig) end(name id.Run) {
	r.t.Helper()
	r.commit(name, run.Candidate{Type: event.RunCompleted, Payload: event.RunCompletedPayload{}})
}

func (r *rig) commit(name id.Run, events ...run.Candidate) {
	r.t.Helper()
	from := journal.Origin{Scope: event.Scope{RunID: name, ConversationID: "sess_1", EdgeID: edgeID}}
	if err := r.journal.Commit(context.Background(), from, events...); err != nil {
		r.t.Fatal(err)
	}
}

// trimTo lets the hub commit everything up to last, and returns when that is trimmed. The runs in it must have ended.
func (r *rig) trimTo(last wire.ProducerSeq) {
	r.t.Helper()
	r.journal.PutCommitted(wire.CommitReceipt{Incarnation: r.journal.State().Incarnation, Seq: last})
	eventually(r.t, "rows are trimmed", func() bool { return r.journal.State().Floor > last })
}

// rows are the rows of the journal from a number on, as they are stored.
func (r *rig) rows(from wire.ProducerSeq) (stored []string) {
	r.t.Helper()
	for {
		page, err := r.journal.ReadPage(context.Background(), from, 1000)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(page.Rows) == 0 {
			return stored
		}
		for _, row := range page.Rows {
			stored = append(stored, string(row))
		}
		from = page.First + wire.ProducerSeq(len(page.Rows))
	}
}

// get asks with the token and reads what comes into body.
func (r *rig) get(path string, body any) (status int) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.addr+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(body); err != nil {
		r.t.Fatalf("%s: %v", path, err)
	}
	if want := "application/"; !strings.HasPrefix(answer.Header.Get("Content-Type"), want) {
		r.t.Errorf("%s: content type %q", path, answer.Header.Get("Content-Type"))
	}
	return answer.StatusCode
}

// eventually waits until is holds; nothing announces it.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
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
