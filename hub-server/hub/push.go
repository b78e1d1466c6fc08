package hub

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/outgoing"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push/webpush"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
)

// pushing is what tells devices that are not connected.
type pushing struct {
	courier       *push.Courier
	registrations *push.Registrations
	pushKey       string // that browsers subscribe with
}

// newPush makes what pushes. The key that vouches for this hub towards push services follows from the keys file, so that it is the same on every hub
// of a store and after a restore: subscriptions of browsers are bound to it.
func (h *Hub) newPush() error {
	s, c := &h.services, h.opts.Config
	secret, err := hkdf.Key(sha256.New, s.keys.Current().Answers, nil, "switchyard: pushes", sha256.Size)
	if err != nil {
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	keys, err := webpush.NewSender(secret, c.pushContact())
	if err != nil {
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	allowed, err := outgoing.ParseAllowed(c.OutgoingAllow)
	if err != nil {
		return fmt.Errorf("HUB_OUTGOING_ALLOW: %w", err)
	}
	client := outgoing.NewClient(outgoing.Config{Allowed: allowed})
	h.closers = append(h.closers, func() error { client.Close(); return nil })
	sender, store := &outgoing.Sender{Client: client, Keys: keys, Now: time.Now}, sqlstore.NewPushes(h.store, s.writer)
	s.pushKey = keys.PublicKey()
	s.registrations = &push.Registrations{Store: store, Sealer: s.keys, Sender: sender, Now: time.Now}
	s.courier = &push.Courier{
		Store: store, Attention: s.attention, Sealer: s.keys, Sender: sender, Public: c.PublicURL, Log: h.log, Metrics: push.NewMetrics(h.registry),
	}
	return nil
}

// pushContact is how push services reach whoever runs this hub.
func (c Config) pushContact() string {
	if c.PushContact == "" && strings.HasPrefix(c.PublicURL, "https://") {
		return c.PublicURL
	}
	return c.PushContact
}

func (c Config) checkPush() (faults []error) {
	if _, err := outgoing.ParseAllowed(c.OutgoingAllow); err != nil {
		faults = append(faults, fmt.Errorf("HUB_OUTGOING_ALLOW: %w", err))
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
		faults = append(faults, fmt.Errorf("HUB_PUBLIC_URL: %q is not a URL such as https://hub.example.org", c.PublicURL))
	}
	if c.PushContact != "" && !strings.HasPrefix(c.PushContact, "mailto:") && !strings.HasPrefix(c.PushContact, "https://") {
		faults = append(faults, errors.New("HUB_PUSH_CONTACT: want mailto:somebody@example.org or an https URL"))
	}
	return faults
}
