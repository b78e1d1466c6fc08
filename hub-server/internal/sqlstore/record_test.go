package sqlstore

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const traceID = "0123456789abcdef0123456789abcdef"

// record is the services of runlog over a store, as one hub process has them, with a fleet that the test decides about.
type record struct {
	runlog.Services
	store  *Store
	writer *Writer
	signer *runlog.Signer
	fleet  *testFleet

	prompts *prompt.Prompts
}

func newRecord(tb testing.TB, s *Store, w *Writer) *record {
	tb.Helper()
	signer, err := runlog.NewSigner(make([]byte, 32))
	if err != nil {
		tb.Fatal(err)
	}
	f := &testFleet{owner: id.NewUser(), online: map[id.Edge]bool{}}
	services := runlog.New(runlog.Config{
		Store: NewRunlog(s, w, "hub"), Edges: f, Presence: f, Signer: signer,
		Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("hub"), MaxBlob: 4 << 20,
	})
	return &record{
		store: s, writer: w, signer: signer, fleet: f, Services: services,
		prompts: &prompt.Prompts{Store: NewPrompts(s, w), Runs: services.Runs},
	}
}

func eachRecord(t *testing.T, contract func(t *testing.T, r *record)) {
	t.Helper()
	eachStore(t, func(t *testing.T, s *Store, w *Writer) { contract(t, newRecord(t, s, w)) })
}

// testFleet is one owner's edges, all of which can run "scout".
type testFleet struct {
	owner id.User

	mu     sync.Mutex
	edges  []id.Edge
	online map[id.Edge]bool
	old    bool // they know nothing of commands to runs at work
}

// grow makes all of its edges old or young.
func (f *testFleet) grow(old bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.old = old
}

// add makes an edge and says whether it is online.
func (f *testFleet) add(online bool) id.Edge {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := id.NewEdge()
	f.edges = append(f.edges, e)
	f.online[e] = online
	return e
}

func (f *testFleet) set(e id.Edge, online bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.online[e] = online
}

func (f *testFleet) Online(e id.Edge) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.online[e]
}

func (f *testFleet) EdgesOf(_ context.Context, owner id.User) ([]fleet.Edge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var edges []fleet.Edge
	for _, e := range f.edges {
		if owner == f.owner {
			edges = append(edges, f.describe(e))
		}
	}
	return edges, nil
}

func (f *testFleet) Edge(_ context.Context, edge id.Edge) (fleet.Edge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.edges {
		if e == edge {
			return f.describe(e), nil
		}
	}
	return fleet.Edge{}, fault.New(fault.NotFound, "no such edge")
}

func (f *testFleet) describe(e id.Edge) fleet.Edge {
	if f.old {
		return fleet.Edge{ID: e, Owner: f.owner, Profiles: []wire.Profile{{Name: "scout", Runtime: "events"}}}
	}
	return fleet.Edge{ID: e, Owner: f.owner, Controls: true, Profiles: []wire.Profile{{Name: "scout", Runtime: "events", Controls: wire.Controls()}}}
}

// conversation makes an empty conversation.
func (r *record) conversation(tb testing.TB) id.Session {
	tb.Helper()
	session := id.NewSession()
	do(tb, r.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO sessions (id, type, name, owner_id, created_at) VALUES ($1, 'group', 'demo', $2, 1)`,
			string(session), string(r.fleet.owner))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO conversation_counters (session_id, last_seq, last_place, updated_at) VALUES ($1, 0, 0, 1)`,
			string(session))
		return err
	})
	return session
}

// start stores a run of scout in the conversation, dispatched if an edge is online.
func (r *record) start(tb testing.TB, session id.Session) runlog.NewRun {
	tb.Helper()
	n, err := r.Dispatcher.Prepare(tb.Context(), runlog.Request{
		Session: session, Agent: fleet.Agent{ID: id.NewAgent(), Name: "scout", Owner: r.fleet.owner, Profile: "scout", Runtime: "events"},
		Prompt: "look around", Trigger: id.NewMessage(), RequestedBy: r.fleet.owner, TraceID: traceID,
	})
	if err != nil {
		tb.Fatal(err)
	}
	do(tb, r.writer, runLocks(n), func(ctx context.Context, tx *Tx) error { return tx.insertRun(ctx, n) })
	return n
}

// get reads a run that must be there.
func (r *record) get(tb testing.TB, runID id.Run) runlog.Run {
	tb.Helper()
	found, err := r.Runs.Get(tb.Context(), runID)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// logOf reads all of a run's log.
func (r *record) logOf(tb testing.TB, runID id.Run) []runlog.StoredEvent {
	tb.Helper()
	var all []runlog.StoredEvent
	for {
		after := runlog.EventSeq(len(all))
		page, err := r.Runs.Events(tb.Context(), runID, after, 0)
		if err != nil {
			tb.Fatal(err)
		}
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
	}
}

func typesOf(events []runlog.StoredEvent) []event.Type {
	types := make([]event.Type, 0, len(events))
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

// messagesOf reads the texts of the agents' messages of a conversation.
func (r *record) messagesOf(tb testing.TB, session id.Session) []string {
	tb.Helper()
	rows, err := r.store.readDB.QueryContext(tb.Context(), `SELECT content FROM messages WHERE session_id = $1 ORDER BY seq`, string(session))
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var texts []string
	for rows.Next() {
		var raw []byte
		var content struct{ Text string }
		if err := rows.Scan(&raw); err != nil {
			tb.Fatal(err)
		}
		if err := json.Unmarshal(raw, &content); err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, content.Text)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return texts
}

// journal stands for an edge: it numbers rows and sends them in frames.
type journal struct {
	edge  id.Edge
	hello wire.Hello
	rows  [][]byte
	chain wire.Chain
	lane  runlog.LaneState
}

func newJournal(edge id.Edge) *journal {
	return &journal{edge: edge, hello: wire.Hello{
		Protocol: wire.Protocol, Incarnation: wire.Incarnation(id.NewRequest()[4:]), BootNonce: wire.BootNonce(id.NewRequest()[4:]), Floor: 1,
	}}
}

// write appends an event of a run.
func (j *journal) write(tb testing.TB, runID id.Run, t event.WireType, payload any) {
	tb.Helper()
	raw, err := event.Encode(payload)
	if err != nil {
		tb.Fatal(err)
	}
	row, err := event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: uint64(len(j.rows)) + 1, Type: t, Scope: event.Scope{RunID: runID},
		TraceID: "trace_" + traceID, SentAt: time.Now(), Payload: raw,
	})
	if err != nil {
		tb.Fatal(err)
	}
	j.raw(row)
}

// raw appends bytes as they are.
func (j *journal) raw(row []byte) {
	j.rows = append(j.rows, row)
	j.chain = j.chain.Next(row)
}

// open says hello and takes the lane.
func (j *journal) open(tb testing.TB, r *record) {
	tb.Helper()
	j.hello.Head = wire.ProducerSeq(len(j.rows))
	lane, err := r.Lanes.Open(tb.Context(), j.edge, j.hello)
	if err != nil {
		tb.Fatal(err)
	}
	j.lane = lane
}

// frame packs rows first to last, counted from 1.
func (j *journal) frame(first, last int) runlog.LaneFrame {
	return runlog.PrepareFrame(j.edge, j.lane, wire.Frame{First: wire.ProducerSeq(first), Rows: j.rows[first-1 : last]})
}

// send commits rows first to last and moves on.
func (j *journal) send(tb testing.TB, r *record, first, last int) runlog.LaneResult {
	tb.Helper()
	res, err := r.Lanes.Commit(tb.Context(), j.frame(first, last))
	if err != nil {
		tb.Fatal(err)
	}
	j.lane.Watermark, j.lane.Chain = res.Watermark, res.Chain
	return res
}

// flush commits whatever is not committed yet.
func (j *journal) flush(tb testing.TB, r *record) runlog.LaneResult {
	tb.Helper()
	return j.send(tb, r, int(j.lane.Watermark)+1, len(j.rows))
}

// answer receives the edge's commands and answers each the same way.
func (j *journal) answer(tb testing.TB, r *record, status wire.Status, code fault.Code) []wire.Command {
	tb.Helper()
	commands, err := r.Lanes.PendingCommands(tb.Context(), j.edge)
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range commands {
		receipt := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: status, Code: code}
		if err := r.Lanes.Receipt(tb.Context(), j.edge, receipt); err != nil {
			tb.Fatal(err)
		}
	}
	return commands
}

// Events as an edge names them.
const (
	wireStarted   event.WireType = "run.started"
	wireDelta     event.WireType = "run.agent.text_delta"
	wireBegun     event.WireType = "item.created"
	wireSaid      event.WireType = "run.agent.text_block"
	wireFinished  event.WireType = "run.finished"
	wireFailed    event.WireType = "run.failed"
	wireToolCall  event.WireType = "run.agent.tool_call"
	wireArtifact  event.WireType = "artifact.created"
	wireCancelled event.WireType = "run.cancelled"
)

// say writes a whole message of the agent and returns its id.
func (j *journal) say(tb testing.TB, runID id.Run, text string) id.Message {
	tb.Helper()
	msg := id.NewMessage()
	j.write(tb, runID, wireBegun, event.MessageStartedPayload{MessageID: msg, Role: "assistant"})
	j.write(tb, runID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: text})
	j.write(tb, runID, wireSaid, event.MessageCompletedPayload{MessageID: msg, Content: text, ContentChecksum: event.TextChecksum(text)})
	return msg
}

// launched is a record with one online edge, its journal and a dispatched run.
func launched(tb testing.TB, r *record) (*journal, runlog.NewRun) {
	tb.Helper()
	j := newJournal(r.fleet.add(true))
	n := r.start(tb, r.conversation(tb))
	j.open(tb, r)
	return j, n
}
