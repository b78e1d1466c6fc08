package hub

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Config is everything that can be set from outside, by environment variables only.
type Config struct {
	// Address that the hub listens on, for clients and edges alike.
	Addr string `env:"HUB_ADDR" envDefault:"127.0.0.1:8080"`
	// A second address, for the card protocol at /v1/ws alone, such as 127.0.0.1:8081; it speaks TLS if HUB_ADDR does. Empty: HUB_ADDR alone, which has /v1/ws too.
	CardsAddr string `env:"HUB_CARDS_ADDR"`
	// Language of the hub's own sentences on cards, such as titles and what people read of errors: zh or en. One conversation has one for all who read it: a change counts for conversations whose cards nobody has looked at yet.
	CardsLanguage card.Language `env:"HUB_CARDS_LANGUAGE" envDefault:"zh"`
	// PEM file with the hub's certificate and those up to its authority: then it speaks TLS alone. Read again when it changes. Empty: plain HTTP.
	TLSCert string `env:"HUB_TLS_CERT"`
	// PEM file with the key of HUB_TLS_CERT, not readable by everybody. Read again when it changes.
	TLSKey string `env:"HUB_TLS_KEY"`
	// Folder of the hub's state: SQLite file, keys, first-user token. Made with mode 0700; default: the user's data folder.
	Home string `env:"HUB_HOME"`
	// PostgreSQL URL of the store. Empty: a SQLite file in HUB_HOME.
	DatabaseURL Secret `env:"HUB_DATABASE_URL"`
	// NATS server or cluster that connects several hub processes. Empty: this hub is alone, its bus is in-process.
	NATSURL Secret `env:"HUB_NATS_URL"`
	// File with a user's JWT and seed for HUB_NATS_URL, as NATS tools write it (.creds). Read again at each connection.
	NATSCredentials string `env:"HUB_NATS_CREDENTIALS"`
	// Redis that hub processes share for presence, rate limits and signals; nothing durable is in it. Empty: each keeps its own, and tells the others over HUB_NATS_URL.
	RedisURL Secret `env:"HUB_REDIS_URL"`
	// File with the keys that sign tokens and receipts, the same on every hub of a store. Default: keys.json in HUB_HOME, made at first start.
	KeysFile string `env:"HUB_KEYS_FILE"`
	// Origins of browser pages, with scheme, that may use this hub besides its own; comma-separated.
	Origins []string `env:"HUB_ORIGINS"`
	// URL by which people reach this hub, such as https://hub.example.org: links in pushes lead there. Empty: pushes have no link.
	PublicURL string `env:"HUB_PUBLIC_URL"`
	// How push services of browsers reach whoever runs this hub: mailto:… or an https URL. Default: HUB_PUBLIC_URL if it is https. Some refuse pushes without it.
	PushContact string `env:"HUB_PUSH_CONTACT"`
	// Private addresses that people may have the hub push to, such as an ntfy server of your own, also without https: networks (192.168.7.0/24), addresses, or addresses with a port (10.0.0.5:8090); comma-separated. Nothing but the Internet is reached otherwise.
	OutgoingAllow []string `env:"HUB_OUTGOING_ALLOW"`
	// How long an edge may stay away before its runs are recorded as interrupted.
	InterruptAfter time.Duration `env:"HUB_INTERRUPT_AFTER" envDefault:"24h"`
	// How long something must keep an agent from working before the people of its conversation are told, such as an edge that is not connected.
	NoticeAfter time.Duration `env:"HUB_NOTICE_AFTER" envDefault:"30s"`
	// How long an agent's question waits for an answer at most.
	PromptTTL time.Duration `env:"HUB_PROMPT_TTL" envDefault:"360h"`
	// How long a device may be away and still be told exactly what it missed; after that it takes a snapshot. 0: for ever.
	RetentionOutbox time.Duration `env:"HUB_RETENTION_OUTBOX" envDefault:"720h"`
	// How long a notification is kept after it was read, at least 1h. 0: for ever.
	RetentionNotifications time.Duration `env:"HUB_RETENTION_NOTIFICATIONS" envDefault:"2160h"`
	// How long the events of a run are kept after its end, at least 72h; then they go to an archive. 0: for ever.
	RetentionRuns time.Duration `env:"HUB_RETENTION_RUNS" envDefault:"0s"`
	// How many bytes of events the store keeps: above that, those of the runs that ended first go to an archive, once they are three days old. 0: no limit.
	RetentionBytes int64 `env:"HUB_RETENTION_BYTES" envDefault:"0"`
	// Folder of archives, made with mode 0700; the same one for all hubs of a store. Default: archive in HUB_HOME.
	ArchiveDir string `env:"HUB_ARCHIVE_DIR"`
	// For how long people may take back a message of theirs; the owner of a conversation always may.
	RecallWindow time.Duration `env:"HUB_RECALL_WINDOW" envDefault:"5m"`
	// For how long people may edit a message of theirs.
	EditWindow time.Duration `env:"HUB_EDIT_WINDOW" envDefault:"15m"`
	// How many bytes one file that a person uploads may have.
	AttachmentBytes int64 `env:"HUB_ATTACHMENT_BYTES" envDefault:"67108864"`
	// How many bytes all files and traces that one person has uploaded may have together.
	AttachmentQuota int64 `env:"HUB_ATTACHMENT_QUOTA" envDefault:"10737418240"`
	// For how long somebody whose last device has lost its connection still counts as online: a device that comes back within it is no news to friends.
	PresenceGrace time.Duration `env:"HUB_PRESENCE_GRACE" envDefault:"15s"`
	// How many members a group may have, people and agents together; at most 1000.
	GroupMembers int `env:"HUB_GROUP_MEMBERS" envDefault:"1000"`
	// In how many groups one person may be. Those above cannot be made, and nobody can bring the person into another.
	GroupsPerUser int `env:"HUB_GROUPS_PER_USER" envDefault:"2000"`
	// How many people one person may have on their list: friends, requests of either side and blocks together; at most 100000.
	ContactsPerUser int `env:"HUB_CONTACTS_PER_USER" envDefault:"2000"`
	// How many friend requests of one person may wait for an answer.
	RequestsOpen int `env:"HUB_FRIEND_REQUESTS_OPEN" envDefault:"100"`
	// How often in a minute one person may ask others to be friends or bring them into conversations, and how often at once.
	InvitesPerMinute int `env:"HUB_INVITES_PER_MINUTE" envDefault:"60"`
	// How many live sockets one user may have on one hub process, at /client/ws and at /v1/ws each.
	SocketsPerUser int `env:"HUB_SOCKETS_PER_USER" envDefault:"10"`
	// How many runs one user may follow at once on one hub process, as streams of server-sent events.
	StreamsPerUser int `env:"HUB_STREAMS_PER_USER" envDefault:"100"`
	// How many requests one user may make in a minute, all devices together; a tenth of them may come at once. Of 25 requests one may be a search.
	RequestsPerMinute int `env:"HUB_REQUESTS_PER_MINUTE" envDefault:"3000"`
	// How many live sockets may be opened from one address in a minute, and how many of them at once.
	SocketsPerMinute int `env:"HUB_SOCKETS_PER_MINUTE" envDefault:"120"`
	// How many live sockets may be on their way in at once, from the request to the first frame. Those above hear 503 and when to come again.
	SocketsOpening int `env:"HUB_SOCKETS_OPENING" envDefault:"1000"`
	// How many frames a second one live socket may send, twice as many at once; those above are ignored at /client/ws, where `typing` is all that clients send, and wait at /v1/ws.
	FramesPerSecond int `env:"HUB_FRAMES_PER_SECOND" envDefault:"10"`
	// Bearer token for /metrics. Empty: only a direct loopback peer may read it.
	MetricsToken Secret `env:"HUB_METRICS_TOKEN"`
	// Lowest level that is logged: debug, info, warn or error.
	LogLevel string `env:"HUB_LOG_LEVEL" envDefault:"info"`
	// How long a stopping hub waits for its parts.
	StopTimeout time.Duration `env:"HUB_STOP_TIMEOUT" envDefault:"10s"`
}

// Secret is a setting that is never printed.
type Secret string

// String masks the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// LogValue masks the value in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// LoadConfig reads the configuration from environ (as os.Environ gives it). All faults are reported together.
func LoadConfig(environ []string) (Config, error) {
	var c Config
	err := named(env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ)}))
	if c.Home == "" {
		c.Home = defaultHome()
	}
	c.KeysFile = cmp.Or(c.KeysFile, filepath.Join(c.Home, "keys.json"))
	c.ArchiveDir = cmp.Or(c.ArchiveDir, filepath.Join(c.Home, "archive"))
	return c, errors.Join(err, c.check(), c.checkTLS())
}

func defaultHome() string {
	base, err := os.UserHomeDir()
	if err != nil {
		base = "."
	}
	if data := os.Getenv("XDG_DATA_HOME"); data != "" {
		return filepath.Join(data, "switchyard", "hub")
	}
	return filepath.Join(base, ".local", "share", "switchyard", "hub")
}

// named says of each value that could not be read which variable it is in.
func named(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var faults []error
	for _, fault := range all.Errors {
		var bad env.ParseError
		if errors.As(fault, &bad) {
			field, _ := reflect.TypeFor[Config]().FieldByName(bad.Name)
			fault = fmt.Errorf("%s: %w", field.Tag.Get("env"), bad.Err)
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

func (c Config) check() error {
	var faults []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		faults = append(faults, fmt.Errorf("HUB_ADDR: want host:port: %w", err))
	}
	if _, _, err := net.SplitHostPort(c.CardsAddr); c.CardsAddr != "" && err != nil {
		faults = append(faults, fmt.Errorf("HUB_CARDS_ADDR: want host:port: %w", err))
	}
	if c.CardsLanguage != card.Chinese && c.CardsLanguage != card.English {
		faults = append(faults, fmt.Errorf("HUB_CARDS_LANGUAGE: must be zh or en, not %.40q", c.CardsLanguage))
	}
	for _, origin := range c.Origins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || strings.TrimSuffix(origin, "/") != u.Scheme+"://"+u.Host {
			faults = append(faults, fmt.Errorf("HUB_ORIGINS: %q is not scheme://host", origin))
		}
	}
	if _, err := telemetry.ParseLevel(c.LogLevel); err != nil {
		faults = append(faults, fmt.Errorf("HUB_LOG_LEVEL: %w", err))
	}
	faults = append(faults, c.checkRetention()...)
	faults = append(faults, c.checkServices()...)
	faults = append(faults, c.checkPush()...)
	faults = append(faults, c.checkPeople()...)
	if c.RequestsPerMinute < 10 {
		faults = append(faults, errors.New("HUB_REQUESTS_PER_MINUTE: must be at least 10"))
	}
	return errors.Join(append(faults, c.checkPositive()...)...)
}

func (c Config) checkPeople() (faults []error) {
	for _, setting := range []struct {
		name               string
		value, least, most int
	}{
		{"HUB_GROUP_MEMBERS", c.GroupMembers, 2, chat.MaxMembers}, {"HUB_GROUPS_PER_USER", c.GroupsPerUser, 1, math.MaxInt32},
		{"HUB_CONTACTS_PER_USER", c.ContactsPerUser, 1, contact.MaxContacts}, {"HUB_FRIEND_REQUESTS_OPEN", c.RequestsOpen, 1, contact.MaxContacts},
		{"HUB_INVITES_PER_MINUTE", c.InvitesPerMinute, 1, math.MaxInt32},
	} {
		if setting.value < setting.least || setting.value > setting.most {
			faults = append(faults, fmt.Errorf("%s: must be between %d and %d", setting.name, setting.least, setting.most))
		}
	}
	return faults
}

func (c Config) checkPositive() (faults []error) {
	for _, setting := range []struct {
		name  string
		value int64
	}{
		{"HUB_INTERRUPT_AFTER", int64(c.InterruptAfter)}, {"HUB_NOTICE_AFTER", int64(c.NoticeAfter)}, {"HUB_PROMPT_TTL", int64(c.PromptTTL)}, {"HUB_STOP_TIMEOUT", int64(c.StopTimeout)},
		{"HUB_SOCKETS_PER_USER", int64(c.SocketsPerUser)}, {"HUB_STREAMS_PER_USER", int64(c.StreamsPerUser)},
		{"HUB_SOCKETS_PER_MINUTE", int64(c.SocketsPerMinute)}, {"HUB_SOCKETS_OPENING", int64(c.SocketsOpening)},
		{"HUB_PRESENCE_GRACE", int64(c.PresenceGrace)},
		{"HUB_FRAMES_PER_SECOND", int64(c.FramesPerSecond)}, {"HUB_RECALL_WINDOW", int64(c.RecallWindow)}, {"HUB_EDIT_WINDOW", int64(c.EditWindow)},
	} {
		if setting.value <= 0 {
			faults = append(faults, fmt.Errorf("%s: must be positive", setting.name))
		}
	}
	return faults
}

func (c Config) checkRetention() (faults []error) {
	if c.RetentionOutbox != 0 && c.RetentionOutbox < time.Minute {
		faults = append(faults, errors.New("HUB_RETENTION_OUTBOX: must be 0 or at least 1m"))
	}
	if c.RetentionRuns != 0 && c.RetentionRuns < retention.LateWindow {
		faults = append(faults, fmt.Errorf("HUB_RETENTION_RUNS: must be 0 or at least %s: a machine that was away may still send what it had to say", retention.LateWindow))
	}
	if c.RetentionNotifications != 0 && c.RetentionNotifications < time.Hour {
		faults = append(faults, errors.New("HUB_RETENTION_NOTIFICATIONS: must be 0 or at least 1h"))
	}
	if c.RetentionBytes < 0 {
		faults = append(faults, errors.New("HUB_RETENTION_BYTES: must not be negative"))
	}
	if c.RetentionOutbox == 0 && (c.RetentionRuns != 0 || c.RetentionBytes != 0) {
		faults = append(faults, errors.New("HUB_RETENTION_OUTBOX: must not be 0 with HUB_RETENTION_RUNS or HUB_RETENTION_BYTES: "+
			"no run leaves that devices may still have to be told of"))
	}
	return faults
}

// storeURL names the store for sqlstore.Open.
func (c Config) storeURL() string {
	return cmp.Or(string(c.DatabaseURL), filepath.Join(c.Home, "hub.db"))
}

// Effective lists the settings by their variables, secrets masked.
func (c Config) Effective() map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		out[v.Type().Field(i).Tag.Get("env")] = fmt.Sprint(v.Field(i).Interface())
	}
	return out
}
