package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/control"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testsqlite"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ownOrigin = "https://hub.example"
	password  = "correct horse battery"

	maxFollowed = 4 // runs that one person may follow at once
)

// contract is read once for all tests: that takes longer than most of them.
var contract = sync.OnceValues(func() (*apicontract.Validator, error) { return apicontract.New(context.Background()) })

// hub is the HTTP surface over a real SQLite store, with everything behind it as in the product but for the two sockets.
type hub struct {
	t         *testing.T
	server    *httptest.Server
	validator *apicontract.Validator
	home      string
	logs      *syncBuffer
	clock     *clock
	online    *presence
	people    *connected
	keys      *account.Keyring
	deps      httpapi.Deps
	ended     chan account.Family
	closed    chan id.Edge
	lanes     *runlog.Lanes
	record    *damaged
	store     *sqlstore.Store
	tail      *delivery.Tail
	writer    *sqlstore.Writer
	omni      atomic.Pointer[omnilog.Logs]
	epoch     atomic.Pointer[wire.Epoch] // in place of the store's, when a test sets it
}

// newHub starts a hub; adjust may change what it is made of.
func newHub(t *testing.T, adjust ...func(*httpapi.Deps)) *hub {
	t.Helper()
	h := &hub{
		t: t, home: t.TempDir(), logs: &syncBuffer{}, clock: &clock{at: time.Now().UTC().Truncate(time.Microsecond)},
		online: &presence{edges: map[id.Edge]bool{}}, people: &connected{people: map[string]bool{}}, ended: make(chan account.Family, 64), closed: make(chan id.Edge, 64),
	}
	var err error
	if h.validator, err = contract(); err != nil {
		t.Fatal(err)
	}
	h.deps = h.wire()
	for _, a := range adjust {
		a(&h.deps)
	}
	h.server = httptest.NewServer(httpapi.New(h.deps))
	t.Cleanup(h.server.Close)
	return h
}

func (h *hub) wire() httpapi.Deps {
	log, err := telemetry.NewLogger(h.logs, "debug")
	if err != nil {
		h.t.Fatal(err)
	}
	followers := delivery.NewFollowers(maxFollowed)
	store, writer := h.openStore(log, followers)
	h.store, h.writer = store, writer
	omni := omnilog.New(omnilog.Config{
		Store: sqlstore.NewOmni(store, writer), Log: log, Metrics: omnilog.NewMetrics(telemetry.NewRegistry("hub")), Every: 50,
	})
	h.omni.Store(omni)
	accounts, fleets, chats := sqlstore.NewAccounts(store, writer), sqlstore.NewFleet(store, writer), sqlstore.NewChat(store, writer)
	if h.keys, err = account.OpenKeyring(filepath.Join(h.home, "keys.json"), log); err != nil {
		h.t.Fatal(err)
	}
	hasher, err := account.NewHasher(account.HashCost{MemoryKiB: 64, Iterations: 1, Parallel: 2, MaxWaiting: 256})
	if err != nil {
		h.t.Fatal(err)
	}
	signer, err := runlog.NewSigner(h.keys.Current().Receipts)
	if err != nil {
		h.t.Fatal(err)
	}
	metrics := telemetry.NewRegistry("hub")
	h.record = &damaged{Store: sqlstore.NewRunlog(store, writer, "hub")}
	runs := runlog.New(runlog.Config{
		Store: h.record, Edges: fleets, Presence: h.online, Signer: signer, Log: log, Metrics: metrics,
	})
	h.lanes = runs.Lanes
	issuer, attempts := account.NewIssuer(h.keys, h.clock.now), account.NewAttempts(accounts, h.keys, h.clock.now)
	people := &account.People{
		Store: accounts, Hasher: hasher, Issuer: issuer, Attempts: attempts, Now: h.clock.now, Log: log,
		Bootstrap: account.NewBootstrapFile(filepath.Join(h.home, "bootstrap.token")),
	}
	if err := people.Prepare(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	agents := &fleet.Agents{Store: fleets, Presence: h.online, Attempts: attempts, Now: h.clock.now}
	sessions := &chat.Sessions{Store: chats, Agents: agents, Attempts: attempts, Now: h.clock.now}
	files := &chat.Attachments{Store: chats, Shelf: runs.Blobs, Most: maxFile, Quota: maxFiles, Now: h.clock.now, Log: log}
	messages := &chat.Messages{Store: chats, Sessions: sessions, Files: files, Dispatcher: runs.Dispatcher, Now: h.clock.now}
	prompts := &prompt.Prompts{Store: sqlstore.NewPrompts(store, writer), Runs: runs.Runs}
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return httpapi.Deps{
		Log: log, Metrics: metrics, Health: telemetry.NewHealth(time.Second), Version: "test", People: people,
		Devices: &account.Devices{
			Store: accounts, Hasher: hasher, Issuer: issuer, Attempts: attempts, Now: h.clock.now,
			Ended: func(f account.Family) { followers.EndFamily(f); h.ended <- f },
		},
		Enrolments: &fleet.Enrolments{Store: fleets, Attempts: attempts, Now: h.clock.now},
		Edges:      &fleet.Edges{Store: fleets, Presence: h.online, Now: h.clock.now, Revoked: func(e id.Edge) { h.closed <- e }},
		Agents:     agents, Sessions: sessions,
		Messages: messages,
		Imports:  &chat.Imports{Store: chats, Attempts: attempts, Now: h.clock.now, Quota: chat.MaxTraceBytes},
		Controls: &control.Controls{
			Sessions: sessions, Messages: messages, Runs: runs.Runs, Prompts: prompts, Agents: agents, Conversations: omni, Attempts: attempts,
		},
		Attention: memstate.NewAttention("hub", silentBus{}),
		Changes: &chat.Changes{
			Store: chats, Files: files, Pins: chats, Reactions: chats, Forwards: chats, Sessions: sessions, Withdraw: runs.Runs, Now: h.clock.now,
			Windows: chat.Windows{Recall: 5 * time.Minute, Edit: 15 * time.Minute},
		},
		Push:     &push.Registrations{Store: sqlstore.NewPushes(store, writer), Sealer: h.keys, Sender: troubled{}, Now: h.clock.now},
		PushKey:  "BKNfwF35Ia0oDo_7_W957QiXypiGN9oNsNfspg60ZDmtSxlx4pGK4z1iJ2vhua8wOYVGlUkzVq2xHI4LJtYQGaA",
		Prompts:  prompts,
		Contacts: &contact.Contacts{Store: sqlstore.NewContacts(store, writer), Presence: h.people, Changed: h.people.changed},
		Finder:   search.Finder{Store: sqlstore.NewSearch(store, writer)},
		Notices:  &notice.Notices{Store: sqlstore.NewNotices(store, writer), Now: h.clock.now},
		Omni:     omni, Followers: followers, Rounds: delivery.Rounds{Tail: h.tail, Followers: followers}, Pace: httpapi.Pace{Poll: time.Hour}, // hints must do
		Epoch: func() wire.Epoch {
			if e := h.epoch.Load(); e != nil {
				return *e
			}
			return store.Epoch()
		},
		Runs: runs.Runs, Blobs: runs.Blobs, Files: files, Limiter: memstate.NewLimiter(), Limits: generous(), Origins: []string{ownOrigin},
		ClientSocket: refuse, CardSocket: refuse, EdgeUplink: refuse,
	}
}

// generous lets tests knock as often as they like; the tests of the limits set their own.
func generous() httpapi.Limits {
	r := httpapi.Rate{Burst: 100_000, PerMinute: 100_000}
	return httpapi.Limits{Person: r, Edge: r, Login: r, LoginName: r, Refresh: r, Socket: r, Search: r, Invite: r, Unsolicited: r}
}

func migrated(path string) error {
	s, err := sqlstore.Open(context.Background(), path)
	if err != nil {
		return err
	}
	return s.Close()
}

// openStore opens a store with its writer, and a tail that passes on what is committed.
func (h *hub) openStore(log *slog.Logger, followers *delivery.Followers) (*sqlstore.Store, *sqlstore.Writer) {
	h.t.Helper()
	path := filepath.Join(h.home, "hub.db")
	testsqlite.Put(h.t, path, migrated)
	store, err := sqlstore.Open(h.t.Context(), path)
	if err != nil {
		h.t.Fatal(err)
	}
	metrics := telemetry.NewRegistry("hub")
	expand := &lateExpander{}
	tail := delivery.NewTail(delivery.Config{
		Log: log, Metrics: metrics, Outbox: store, Epoch: store.Epoch, Expand: expand,
		Seen: func(rows []delivery.Row) {
			followers.Seen(rows)
			if omni := h.omni.Load(); omni != nil {
				omni.Seen(rows)
			}
		},
	})
	h.tail = tail
	writer := store.NewWriter(log, metrics, func(sqlstore.Committed) { tail.Wake() })
	expand.Expander = frames.NewExpander(record{
		store, sqlstore.NewRunlog(store, writer, "hub"), sqlstore.NewChat(store, writer), sqlstore.NewFleet(store, writer), sqlstore.NewPrompts(store, writer),
	})
	stopTail, stopWriter := h.start("tail", tail.Run), h.start("writer", writer.Run)
	h.t.Cleanup(func() {
		stopTail()
		stopWriter()
		if err := store.Close(); err != nil {
			h.t.Errorf("close store: %v", err)
		}
	})
	return store, writer
}

// lateExpander is given to the tail before there is a record: the writer needs the tail.
type lateExpander struct{ *frames.Expander }

// record is what rows of the outbox refer to.
type record struct {
	*sqlstore.Store
	*sqlstore.Runlog
	*sqlstore.Chat
	*sqlstore.Fleet
	*sqlstore.Prompts
}

// start runs a part until the returned function is called.
func (h *hub) start(name string, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Errorf("%s: %v", name, err)
		}
	}
}

// clock is the hub's time, moved by tests.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// presence says which edges are connected.
type presence struct {
	mu    sync.Mutex
	edges map[id.Edge]bool
}

func (p *presence) Online(e id.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.edges[e]
}

func (p *presence) set(e id.Edge, online bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edges[e] = online
}

// syncBuffer is a log that tests can read while the hub writes.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) contains(s string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.buf.String(), s)
}

// bootstrapToken reads the token that the hub wrote for its first user.
func (h *hub) bootstrapToken() string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.home, "bootstrap.token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}
