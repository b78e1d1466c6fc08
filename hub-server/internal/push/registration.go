package push

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push/webpush"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Channel is a way to a device.
type Channel string

// Channels.
const (
	Ntfy    Channel = "ntfy"
	WebPush Channel = "webpush"
)

const (
	maxAddress = 2048
	maxToken   = 256
)

// Address is where a push goes. All of it is secret: who knows it can send one, or read what is sent.
type Address struct {
	URL   string `json:"url"`             // of an ntfy topic, or the endpoint of a subscription
	Token string `json:"token,omitempty"` // of ntfy
	Key   []byte `json:"key,omitempty"`   // of a browser: p256dh …
	Auth  []byte `json:"auth,omitempty"`  // … and auth
}

// Registration is a device that wants to be told of what happens while it is not connected.
type Registration struct {
	Device    id.Device
	User      id.User
	Channel   Channel
	Host      string // of the address: what people see of it again
	ShowText  bool   // what is sent says what it is about, though it passes third parties
	Sealed    []byte // the Address
	CreatedAt time.Time
}

// Sealer keeps secrets that the store must not know.
type Sealer interface {
	// Seal encrypts data; only Unseal with the same context opens it.
	Seal(data []byte, context string) ([]byte, error)
	Unseal(sealed []byte, context string) ([]byte, error)
}

// RegistrationStore keeps registrations. Safe for concurrent use.
type RegistrationStore interface {
	// Register puts the registration in place of the device's former one. NotFound if the device's login has ended.
	Register(ctx context.Context, r Registration) error
	// Unregister removes that of a device, and what waits to be sent to it. It is no fault if there is none.
	Unregister(ctx context.Context, user id.User, device id.Device) error
	// Registrations returns those of a user's devices, the oldest first.
	Registrations(ctx context.Context, user id.User) ([]Registration, error)
	// Deliveries returns what became of a notification of that user on each device, by device.
	Deliveries(ctx context.Context, user id.User, notification string) ([]Delivery, error)
}

// Registrations take and show registrations. Safe for concurrent use.
type Registrations struct {
	Store  RegistrationStore
	Sealer Sealer
	Sender Sender
	Now    account.Clock
}

// Register makes the caller's device one that is pushed to.
func (r *Registrations) Register(ctx context.Context, by account.Principal, c Channel, a Address, showText bool) (Registration, error) {
	u, err := a.check(c)
	if err != nil {
		return Registration{}, err
	}
	plain, err := json.Marshal(a)
	if err != nil {
		return Registration{}, fmt.Errorf("encode address: %w", err)
	}
	sealed, err := r.Sealer.Seal(plain, sealContext(by.Device))
	if err != nil {
		return Registration{}, fmt.Errorf("seal address: %w", err)
	}
	made := Registration{
		Device: by.Device, User: by.User, Channel: c, Host: u.Host, ShowText: showText, Sealed: sealed, CreatedAt: r.Now.Moment(),
	}
	return made, r.Store.Register(ctx, made)
}

// Unregister ends that.
func (r *Registrations) Unregister(ctx context.Context, by account.Principal) error {
	return r.Store.Unregister(ctx, by.User, by.Device)
}

// List returns those of the caller's devices.
func (r *Registrations) List(ctx context.Context, by account.Principal) ([]Registration, error) {
	return r.Store.Registrations(ctx, by.User)
}

// Deliveries tells the caller what became of a notification on their devices. Nothing is known of one that is not theirs, or not there.
func (r *Registrations) Deliveries(ctx context.Context, by account.Principal, notification string) ([]Delivery, error) {
	return r.Store.Deliveries(ctx, by.User, notification)
}

// Test sends something to the caller's own device now, and says what became of it. NotFound if it is not registered.
func (r *Registrations) Test(ctx context.Context, by account.Principal) (Result, error) {
	all, err := r.Store.Registrations(ctx, by.User)
	if err != nil {
		return Result{}, err
	}
	for _, one := range all {
		if one.Device != by.Device {
			continue
		}
		target, err := one.open(r.Sealer)
		if err != nil {
			return Result{Code: CodeUnreadable}, nil //nolint:nilerr // that is what became of it
		}
		return r.Sender.Send(ctx, target, Message{ID: "test", Type: "test", Title: "Switchyard", Body: "Pushes reach this device."}), nil
	}
	return Result{}, fault.New(fault.NotFound, "Nothing is pushed to this device. Register it first.")
}

// Target is an opened registration.
type Target struct {
	Channel Channel
	Address
}

func (r Registration) open(s Sealer) (Target, error) {
	plain, err := s.Unseal(r.Sealed, sealContext(r.Device))
	if err != nil {
		return Target{}, err
	}
	t := Target{Channel: r.Channel}
	return t, json.Unmarshal(plain, &t.Address)
}

func sealContext(d id.Device) string { return "push\n" + string(d) }

var topic = regexp.MustCompile(`^(/[-._~A-Za-z0-9]+)*/[-_A-Za-z0-9]{1,64}$`)

// check judges what it can without speaking to anybody: where the address leads is judged each time that something is sent (SEC22).
func (a Address) check(c Channel) (*url.URL, error) {
	u, err := url.Parse(a.URL)
	if err != nil || len(a.URL) > maxAddress || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fault.New(fault.InvalidRequest, "The address must be a URL with https and without a user name.")
	}
	switch c {
	case Ntfy:
		return u, a.checkTopic(u)
	case WebPush:
		return u, a.checkSubscription(u)
	}
	return nil, fault.New(fault.InvalidRequest, "channel must be ntfy or webpush.")
}

func (a Address) checkTopic(u *url.URL) error {
	if !topic.MatchString(u.Path) || path.Clean(u.Path) != u.Path || u.RawPath != "" || u.RawQuery != "" || len(a.Key)+len(a.Auth) > 0 {
		return fault.New(fault.InvalidRequest, "url must be that of an ntfy topic, such as https://ntfy.sh/name.")
	}
	if len(a.Token) > maxToken || strings.ContainsFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.New(fault.InvalidRequest, "token must be an access token of ntfy, of at most %d letters.", maxToken)
	}
	return nil
}

func (a Address) checkSubscription(u *url.URL) error {
	if u.Scheme != "https" || a.Token != "" {
		return fault.New(fault.InvalidRequest, "endpoint must be the https URL of a subscription.")
	}
	if _, err := webpush.NewReader(a.Key, a.Auth); err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "keys must be p256dh and auth of a subscription.")
	}
	return nil
}

// DecodeKey reads a key of a subscription as browsers give it: base64url, padded or not.
func DecodeKey(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil
	}
	return b
}
