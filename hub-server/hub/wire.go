package hub

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/natsbus"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// services are the parts of a hub that live as long as it does.
type services struct {
	volatile
	pushing
	writer       *sqlstore.Writer
	checkpointer *sqlstore.Checkpointer
	peers        *peer.Registry
	keys         *account.Keyring
	sealer       *audit.Sealer
	trimmer      *retention.Trimmer
	notices      *retention.Trimmer
	archiver     *retention.Archiver
	marks        *delivery.Marks
	tail         *delivery.Tail
	followers    *delivery.Followers
	watch        *runlog.Watch
	herald       *runlog.Herald
	expiry       *prompt.Expiry
	ending       *chat.Ending
	files        *chat.Attachments
	friends      *presence.Watch
	indexer      *search.Indexer
	cards        *cardlog.Logs
	messages     *omnilog.Logs
	watchdog     *cardlog.Watchdog
	gate         *gate.Gate
	cardSockets  *cards.Server
	uplink       *uplink.Handler
	handler      http.Handler
}

// domain are the services that answer people and edges.
type domain struct {
	attempts   *account.Attempts
	people     *account.People
	devices    *account.Devices
	enrolments *fleet.Enrolments
	edges      *fleet.Edges
	agents     *fleet.Agents
	sessions   *chat.Sessions
	messages   *chat.Messages
	imports    *chat.Imports
	changes    *chat.Changes
	files      *chat.Attachments
	record     runlog.Services
	prompts    *prompt.Prompts
	notices    *notice.Notices
	contacts   *contact.Contacts
	finder     search.Finder
}

// stores are the writer's and readers' sides of the record, by noun.
type stores struct {
	accounts *sqlstore.Accounts
	fleet    *sqlstore.Fleet
	chat     *sqlstore.Chat
	runlog   *sqlstore.Runlog
	prompts  *sqlstore.Prompts
	notices  *sqlstore.Notices
	marks    *sqlstore.Marks
	search   *sqlstore.Search
}

func (h *Hub) wire(ctx context.Context) (err error) {
	s := &h.services
	if s.keys, err = account.OpenKeyring(h.opts.Config.KeysFile, h.log); err != nil {
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	s.writer = h.store.NewWriter(h.log, h.registry, h.committed)
	s.checkpointer = h.store.NewCheckpointer(h.log)
	s.peers = peer.NewRegistry(sqlstore.NewPeers(h.store, s.writer), peer.ID(h.name), h.log)
	s.peers.Alone = h.hubBus == h.local
	s.trimmer = h.newTrimmer("outbox", sqlstore.NewOutboxTrim(s.writer), timer.OutboxTrim, h.opts.Config.RetentionOutbox)
	s.notices = h.newTrimmer("notifications", sqlstore.NewNoticeTrim(s.writer), timer.NoticeTrim, h.opts.Config.RetentionNotifications)
	s.archiver = h.newArchiver()
	if err := h.openVolatile(); err != nil { //nolint:contextcheck // what other hubs say is looked into for as long as this one serves
		return err
	}
	st := stores{
		accounts: sqlstore.NewAccounts(h.store, s.writer),
		fleet:    sqlstore.NewFleet(h.store, s.writer),
		chat:     sqlstore.NewChat(h.store, s.writer),
		runlog:   sqlstore.NewRunlog(h.store, s.writer, peer.ID(h.name)),
		prompts:  sqlstore.NewPrompts(h.store, s.writer),
		notices:  sqlstore.NewNotices(h.store, s.writer),
		marks:    sqlstore.NewMarks(h.store, s.writer),
		search:   sqlstore.NewSearch(h.store, s.writer),
	}
	if err := h.newPush(); err != nil {
		return err
	}
	if err := h.newSealer(sqlstore.NewAudit(h.store, s.writer)); err != nil {
		return err
	}
	d, err := h.newDomain(st)
	if err != nil {
		return err
	}
	if err := d.people.Prepare(ctx); err != nil {
		return fmt.Errorf("prepare first user: %w", err)
	}
	h.newCards(d)
	h.newMessages()
	h.newDelivery(st, d)
	h.newCardSockets(st, d)
	s.watch = runlog.NewWatch(d.record.Runs, d.prompts, h.opts.Config.InterruptAfter)
	s.herald = runlog.NewHerald(d.record.Runs, st.runlog, h.opts.Config.NoticeAfter)
	s.files = d.files
	s.indexer = &search.Indexer{Index: st.search, Log: h.log, Metrics: search.NewMetrics(h.registry)}
	s.expiry = &prompt.Expiry{Prompts: d.prompts, Timers: sqlstore.NewTimers(h.store, s.writer), TTL: h.opts.Config.PromptTTL, Log: h.log}
	s.ending = &chat.Ending{Store: st.chat, Runs: d.record.Runs, Timers: sqlstore.NewTimers(h.store, s.writer), Log: h.log}
	s.uplink = uplink.NewHandler(uplink.Deps{
		Log: h.log, Bus: uplinkBus{h.edgeBus, h.local}, Edges: d.edges, Lanes: d.record.Lanes, Runs: d.record.Runs,
		Presence: s.edges, Others: s.signals, Problem: httpapi.AnswerProblem(h.log), Metrics: uplink.NewMetrics(h.registry),
	})
	s.handler = h.newHandler(d)
	return nil
}

func (h *Hub) newDomain(st stores) (*domain, error) {
	hasher, err := account.NewHasher(account.HashCost{})
	if err != nil {
		return nil, err
	}
	keys := h.services.keys
	signer, err := runlog.NewSigner(keys.Current().Receipts)
	if err != nil {
		return nil, fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	issuer, attempts := account.NewIssuer(keys, time.Now), account.NewAttempts(st.accounts, keys, time.Now)
	d := &domain{
		attempts: attempts,
		people: &account.People{
			Store: st.accounts, Hasher: hasher, Issuer: issuer, Attempts: attempts, Now: time.Now, Log: h.log,
			Bootstrap: account.NewBootstrapFile(filepath.Join(h.opts.Config.Home, "bootstrap.token")),
		},
		devices: &account.Devices{
			Store: st.accounts, Hasher: hasher, Issuer: issuer, Attempts: attempts, Now: time.Now,
			Ended: h.loginEnded,
		},
		enrolments: &fleet.Enrolments{Store: st.fleet, Attempts: attempts, Now: time.Now},
		edges:      &fleet.Edges{Store: st.fleet, Presence: h.services.edges, Now: time.Now, Revoked: h.revoked},
		agents:     &fleet.Agents{Store: st.fleet, Presence: h.services.edges, Attempts: attempts, Now: time.Now},
		record: runlog.New(runlog.Config{
			Store: st.runlog, Edges: st.fleet, Presence: h.services.edges, Signer: signer, Log: h.log, Metrics: h.registry,
		}),
	}
	d.sessions = &chat.Sessions{
		Store: st.chat, Agents: d.agents, Attempts: attempts, Now: time.Now,
		Limits: chat.Limits{Members: h.opts.Config.GroupMembers, Groups: h.opts.Config.GroupsPerUser},
	}
	d.files = &chat.Attachments{
		Store: st.chat, Shelf: d.record.Blobs, Most: h.opts.Config.AttachmentBytes, Quota: h.opts.Config.AttachmentQuota, Now: time.Now, Log: h.log,
	}
	d.imports = &chat.Imports{Store: st.chat, Attempts: attempts, Now: time.Now, Limits: d.sessions.Limits, Quota: d.files.Quota}
	d.messages = &chat.Messages{Store: st.chat, Sessions: d.sessions, Files: d.files, Dispatcher: d.record.Dispatcher, Now: time.Now}
	d.changes = &chat.Changes{
		Store: st.chat, Files: d.files, Pins: st.chat, Reactions: st.chat, Forwards: st.chat, Sessions: d.sessions, Withdraw: d.record.Runs, Now: time.Now,
		Windows: chat.Windows{Recall: h.opts.Config.RecallWindow, Edit: h.opts.Config.EditWindow},
	}
	d.prompts = &prompt.Prompts{Store: st.prompts, Runs: d.record.Runs}
	contacts := sqlstore.NewContacts(h.store, h.services.writer)
	h.services.friends = h.newFriends(contacts)
	d.contacts = &contact.Contacts{
		Store: contacts, Presence: h.services.friends, Changed: h.contactChanged,
		Limits: contact.Limits{All: h.opts.Config.ContactsPerUser, Open: h.opts.Config.RequestsOpen},
	}
	d.finder = search.Finder{Store: st.search}
	d.notices = &notice.Notices{Store: st.notices, Now: time.Now}
	return d, nil
}

// turn is work of the whole store that one of its hubs does every minute.
func (h *Hub) turn(kind timer.Kind) timer.Turn {
	return timer.Turn{Store: sqlstore.NewTimers(h.store, h.services.writer), Kind: kind, Every: retention.TurnEvery}
}

// newTrimmer makes what removes rows of a kind that are older than keep.
func (h *Hub) newTrimmer(of string, rows retention.Rows, turn timer.Kind, keep time.Duration) *retention.Trimmer {
	return retention.NewTrimmer(rows, h.turn(turn), keep, h.log.With("of", of))
}

func (h *Hub) newArchiver() *retention.Archiver {
	c, logs := h.opts.Config, sqlstore.NewArchives(h.store, h.services.writer, peer.ID(h.name))
	policy := retention.Policy{Age: c.RetentionRuns, Bytes: c.RetentionBytes}
	return retention.NewArchiver(logs, h.turn(timer.RunsLeave), archive.Dir(c.ArchiveDir), policy, h.log, h.registry)
}

// newSealer also has the keys in use entered into the audit log: they change outside of the store.
func (h *Hub) newSealer(log *sqlstore.Audit) error {
	s := &h.services
	signer, err := audit.NewSigner(s.keys.Current().Receipts)
	if err != nil {
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	s.sealer, s.keys.InUse = &audit.Sealer{Store: log, Signer: signer, Log: h.log}, log.KeyInUse
	return nil
}

func (h *Hub) newDelivery(st stores, d *domain) {
	s := &h.services
	s.marks = delivery.NewMarks(h.log, st.marks, h.store.Epoch)
	s.followers = delivery.NewFollowers(h.opts.Config.StreamsPerUser)
	s.tail = delivery.NewTail(delivery.Config{
		Log: h.log, Metrics: h.registry, Outbox: h.store, Epoch: h.store.Epoch, Seen: h.seen,
		Expand: frames.NewExpander(record{h.store, st.runlog, st.chat, st.fleet, st.prompts}),
	})
	s.gate = gate.New(gate.Deps{
		Log: h.log, Metrics: h.registry, Devices: d.devices, Tail: s.tail, Marks: s.marks, Bus: h.hubBus,
		Planner: delivery.Planner{Outbox: h.store, Marks: s.marks, Missed: s.tail.Missed}, Origins: h.origins(), PerUser: h.opts.Config.SocketsPerUser,
		Opening: h.opts.Config.SocketsOpening, Inbound: inboundRate(h.opts.Config.FramesPerSecond),
		Problem: httpapi.AnswerProblem(h.log), Kicked: h.kicked, Presence: s.friends,
	})
}

// newFriends makes what tells people which of their friends come and go.
func (h *Hub) newFriends(contacts *sqlstore.Contacts) *presence.Watch {
	return presence.NewWatch(presence.Config{
		Crowd: h.services.people, Friends: contacts, Grace: h.opts.Config.PresenceGrace, Log: h.log, Metrics: h.registry,
		Tell: func(to []id.User, s presence.Standing) { h.services.gate.Tell(to, s) },
	})
}

// contactChanged has both people told of it, at whichever hub they are.
func (h *Hub) contactChanged(a, b id.User) {
	pair := presence.PairOf(a, b)
	h.services.friends.ContactChanged(pair)
	h.services.signals.ContactChanged(pair)
}

// inboundRate allows a client twice as many frames at once as in a second.
func inboundRate(perSecond int) gate.Rate {
	return gate.Rate{PerSecond: float64(perSecond), Burst: float64(2 * perSecond)}
}

// record is what outbox rows refer to, wherever it is kept.
type record struct {
	*sqlstore.Store
	*sqlstore.Runlog
	*sqlstore.Chat
	*sqlstore.Fleet
	*sqlstore.Prompts
}

// uplinkBus is the embedded server with the hub's own connection to it.
type uplinkBus struct {
	*natsbus.Server
	bus *natsbus.Bus
}

func (b uplinkBus) Publish(s subject.Subject, data []byte) error { return b.bus.Publish(s, data) }

func (b uplinkBus) Listen(ctx context.Context, p subject.Pattern, hear func(subject.Subject, []byte)) (func(), error) {
	return b.bus.Listen(ctx, p, hear)
}
