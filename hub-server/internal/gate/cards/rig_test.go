package cards

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testsqlite"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testpg.Main(m)) }

// town is a store with people, their agents and edges, and any number of hubs over it.
type town struct {
	t      *testing.T
	store  *sqlstore.Store
	writer *sqlstore.Writer
	keys   atomic.Int64

	logins logins
	online presence
	mu     sync.Mutex
	hubs   []*hub

	accounts *sqlstore.Accounts
	fleets   *sqlstore.Fleet
	attempts *account.Attempts
	record   runlog.Services
	chats    *sqlstore.Chat
	lanes    map[id.Edge]*lane
	issuer   *account.Issuer
}

// hub is a server with all that it works with, served on a listener.
type hub struct {
	*Server
	town   *town
	server *httptest.Server
	shut   func() // the server stops, and still answers
	stop   func() // all of it, the listener too
}

// eachTown runs a test over both stores.
func eachTown(t *testing.T, test func(*testing.T, *town)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{"sqlite": migratedFile, "postgres": migratedPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newTown(t, address(t)))
		})
	}
}

func migratedPostgres(tb testing.TB) string {
	tb.Helper()
	return testpg.StartPrepared(tb, migrated)
}

func migratedFile(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "hub.db")
	testsqlite.Put(tb, path, migrated)
	return path
}

func migrated(address string) error {
	s, err := sqlstore.Open(context.Background(), address)
	if err != nil {
		return err
	}
	return s.Close()
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// sole is a town over SQLite, for what has nothing to do with the store.
func sole(t *testing.T) *town { return newTown(t, migratedFile(t)) }

func newTown(t *testing.T, address string) *town {
	t.Helper()
	store, err := sqlstore.Open(context.WithoutCancel(t.Context()), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &town{t: t, store: store, lanes: map[id.Edge]*lane{}, logins: logins{known: map[account.AccessToken]account.Principal{}}}
	w.writer = store.NewWriter(quiet(), telemetry.NewRegistry("hub"), func(sqlstore.Committed) { w.wake() })
	w.run(w.writer.Run)
	w.accounts, w.fleets, w.chats = sqlstore.NewAccounts(store, w.writer), sqlstore.NewFleet(store, w.writer), sqlstore.NewChat(store, w.writer)
	keys, err := account.OpenKeyring(filepath.Join(t.TempDir(), "keys.json"), quiet())
	w.must(err)
	signer, err := runlog.NewSigner(keys.Current().Receipts)
	w.must(err)
	w.issuer = account.NewIssuer(keys, time.Now)
	w.attempts = account.NewAttempts(w.accounts, keys, time.Now)
	w.record = runlog.New(runlog.Config{
		Store: sqlstore.NewRunlog(store, w.writer, "hub"), Edges: w.fleets, Presence: &w.online, Signer: signer, Log: quiet(), Metrics: telemetry.NewRegistry("hub"),
	})
	return w
}

// run runs a part until the test ends; parts stop in reverse order.
func (w *town) run(part func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hubs {
		h.tail().Wake()
	}
}

func (w *town) claim() account.Claim {
	n := strconv.FormatInt(w.keys.Add(1), 10)
	return account.Claim{Attempt: account.Attempt{User: "user", Route: "POST /x", Key: "key-" + n}, Answer: []byte(n)}
}

// tails are those of the hubs, which nothing else holds.
var tails sync.Map

func (h *hub) tail() *delivery.Tail {
	tail, _ := tails.Load(h)
	return tail.(*delivery.Tail)
}

// hub starts one more hub over the store.
func (w *town) hub(change ...func(*Server)) *hub {
	w.t.Helper()
	store, registry := w.store, telemetry.NewRegistry("hub")
	traces := cardlog.New(cardlog.Config{
		Store: sqlstore.NewCards(store, w.writer), Rules: cardlog.Cards(card.English), Log: quiet(), Metrics: cardlog.NewMetrics(registry),
	})
	prompts := sqlstore.NewPrompts(store, w.writer)
	agents := &fleet.Agents{Store: w.fleets, Presence: &w.online, Attempts: w.attempts, Now: time.Now}
	sessions := &chat.Sessions{Store: w.chats, Agents: agents, Attempts: w.attempts, Now: time.Now}
	files := &chat.Attachments{Store: w.chats, Shelf: w.record.Blobs, Most: 1 << 20, Quota: 4 << 20, Now: time.Now, Log: quiet()}
	h := &hub{town: w, Server: New(Deps{
		Log: quiet(), Metrics: registry, Devices: &w.logins, Traces: traces, Sessions: sessions, Files: files, Agents: agents, Runs: w.record.Runs,
		Messages: &chat.Messages{Store: w.chats, Sessions: sessions, Files: files, Dispatcher: w.record.Dispatcher, Now: time.Now},
		Prompts:  &prompt.Prompts{Store: prompts, Runs: w.record.Runs}, Open: w.chats, Tools: w.chats, Origins: []string{"https://app.example"}, Problem: answer, PerUser: 500,
	})}
	h.pace.ping = time.Hour // a ping has a connection look for news: here only the news itself may
	for _, c := range change {
		c(h.Server)
	}
	seen := func(rows []delivery.Row) {
		traces.Seen(rows)
		h.Seen(rows)
	}
	type record struct {
		*sqlstore.Store
		*sqlstore.Runlog
		*sqlstore.Chat
		*sqlstore.Fleet
		*sqlstore.Prompts
	}
	tail := delivery.NewTail(delivery.Config{
		Log: quiet(), Metrics: registry, Outbox: store, Epoch: store.Epoch, Seen: seen,
		Expand: frames.NewExpander(record{store, sqlstore.NewRunlog(store, w.writer, "hub"), w.chats, w.fleets, prompts}),
	})
	tails.Store(h, tail)
	w.mu.Lock()
	w.hubs = append(w.hubs, h)
	w.mu.Unlock()
	deaf := w.run(tail.Run)
	<-tail.Ready()
	h.shut = w.run(h.Run)
	h.server = httptest.NewServer(h.Server)
	h.stop = sync.OnceFunc(func() {
		h.shut()
		h.server.Close()
		deaf()
		w.forget(h)
	})
	w.t.Cleanup(h.stop)
	return h
}

// forget leaves a hub out that has stopped.
func (w *town) forget(h *hub) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hubs = slices.DeleteFunc(w.hubs, func(one *hub) bool { return one == h })
	tails.Delete(h)
}

// answer stands for httpapi's problems.
func answer(w http.ResponseWriter, _ *http.Request, err error) {
	status := map[fault.Code]int{
		fault.Unauthenticated: 401, fault.OriginRefused: 403, fault.RateLimited: 429, fault.Busy: 503, fault.InvalidRequest: 400,
	}[fault.CodeOf(err)]
	http.Error(w, string(fault.CodeOf(err)), max(status, 400))
}

// logins knows who is behind a token.
type logins struct {
	mu    sync.Mutex
	known map[account.AccessToken]account.Principal
	ended map[account.Family]bool
}

func (l *logins) Authenticate(_ context.Context, token account.AccessToken) (account.Principal, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.known[token]; ok {
		return p, nil
	}
	return account.Principal{}, fault.New(fault.Unauthenticated, "no")
}

func (l *logins) FamilyAlive(_ context.Context, f account.Family) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended[f], nil
}

// presence has every edge online.
type presence struct{}

func (*presence) Online(id.Edge) bool { return true }
