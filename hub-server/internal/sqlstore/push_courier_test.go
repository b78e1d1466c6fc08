package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/outgoing"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push/webpush"
	"github.com/switchyard-dev/switchyard/hub-server/internal/pushtest"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// post is a person with a phone that has an ntfy topic and a browser with a subscription, receivers for both, and a courier that runs.
type post struct {
	*pushed
	ntfy, browser  *pushtest.Service
	phone, laptop  id.Device
	registrations  *push.Registrations
	attention      *memstate.Attention
	courier        *push.Courier
	late           atomic.Int64 // how much the courier's clock is ahead
	vouched        *webpush.Sender
	lostRecordings atomic.Bool
}

type silent struct{}

func (silent) Publish(subject.Subject, []byte) error { return nil }

func (silent) Listen(context.Context, subject.Pattern, func(subject.Subject, []byte)) (func(), error) {
	return func() {}, nil
}

// forgetful is a store whose hub dies between sending and recording, when it is told to.
type forgetful struct {
	*Pushes
	lose *atomic.Bool
}

func (f forgetful) Record(ctx context.Context, o push.Order, out push.Outcome) error {
	if f.lose.Swap(false) {
		return errors.New("died")
	}
	return f.Pushes.Record(ctx, o, out)
}

func newPost(t *testing.T, s *Store, w *Writer) *post {
	t.Helper()
	p := &post{pushed: newPushed(t, s, w, 0), attention: memstate.NewAttention("hub", silent{})}
	quiet := slog.New(slog.DiscardHandler)
	keys, err := account.OpenKeyring(filepath.Join(t.TempDir(), "keys.json"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if p.vouched, err = webpush.NewSender([]byte("a secret"), "mailto:ops@example.org"); err != nil {
		t.Fatal(err)
	}
	reader := pushtest.NewBrowser()
	p.ntfy = pushtest.NewNtfy(t, "tk_secret")
	p.browser = pushtest.NewPushService(t, reader, p.vouched.PublicKey)
	allowed, err := outgoing.ParseAllowed([]string{p.ntfy.Address(), p.browser.Address()})
	if err != nil {
		t.Fatal(err)
	}
	client := outgoing.NewClient(outgoing.Config{Allowed: allowed, TLS: p.browser.TLS()})
	t.Cleanup(client.Close)
	sender := &outgoing.Sender{Client: client, Keys: p.vouched, Now: time.Now}
	p.registrations = &push.Registrations{Store: p.Pushes, Sealer: keys, Sender: sender, Now: time.Now}
	p.courier = &push.Courier{
		Store: forgetful{p.Pushes, &p.lostRecordings}, Attention: p.attention, Sealer: keys, Sender: sender, Public: "https://hub.example/", Log: quiet,
		Metrics: push.NewMetrics(telemetry.NewRegistry("test")), Now: func() time.Time { return time.Now().Add(time.Duration(p.late.Load())) },
	}
	p.phone, p.laptop = p.device(p.user), p.device(p.user)
	p.devices = []id.Device{p.phone, p.laptop}
	p.enrol(p.phone, push.Ntfy, push.Address{URL: p.ntfy.URL + "/ada-7Qx", Token: "tk_secret"})
	p.enrol(p.laptop, push.WebPush, push.Address{URL: p.browser.URL + "/send/abc", Key: reader.Key(), Auth: reader.Secret()})
	return p
}

func (p *post) enrol(device id.Device, c push.Channel, a push.Address) {
	p.t.Helper()
	if _, err := p.registrations.Register(p.t.Context(), account.Principal{User: p.user, Device: device}, c, a, false); err != nil {
		p.t.Fatal(err)
	}
}

// run lets the courier run until the test ends or stop is called.
func (p *post) run() (stop func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.courier.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	}
	p.t.Cleanup(stop)
	return stop
}

// becomes waits until a notification is in that state on a device.
func (p *post) becomes(notification string, device id.Device, state push.State) push.Delivery {
	p.t.Helper()
	const look, patience = 10 * time.Millisecond, 20 * time.Second
	for begin := time.Now(); ; <-time.After(look) {
		all, err := p.Deliveries(p.t.Context(), p.user, notification)
		if err != nil {
			p.t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(d push.Delivery) bool { return d.Device == device })
		if i >= 0 && all[i].State == state {
			return all[i]
		}
		if time.Since(begin) > patience {
			p.t.Fatalf("%s never became %s: %+v; ntfy got %d requests, the browser %d", notification, state, all, len(p.ntfy.Got()), len(p.browser.Got()))
		}
	}
}

func (p *post) tellOf(o occasion) {
	p.t.Helper()
	o.user = p.user
	do(p.t, p.writer, nil, func(ctx context.Context, tx *Tx) error { return tx.planPush(ctx, o) })
}

func TestAPushReachesBothKindsOfReceiverAndIsTakenBackWhenItIsRead(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		p.run()
		p.tellOf(occasion{notification: "n1", kind: "agent_done", run: "run_1"})
		if d := p.becomes("n1", p.phone, push.Sent); d.Status != 200 || d.Tries != 1 || d.SentAt.IsZero() {
			t.Errorf("recorded %+v", d)
		}
		if d := p.becomes("n1", p.laptop, push.Sent); d.Status != 201 {
			t.Errorf("recorded %+v", d)
		}
		p.read("n1")
		p.becomes("n1", p.phone, push.Cleared)
		p.becomes("n1", p.laptop, push.Cleared)

		ntfy, browser := p.ntfy.Got(), p.browser.Got()
		if len(ntfy) != 2 || len(browser) != 2 {
			t.Fatalf("ntfy got %+v, the browser %+v", ntfy, browser)
		}
		topic := push.Topic("n1")
		if m := ntfy[0].Text; ntfy[0].Fault != nil || m["topic"] != "ada-7Qx" || m["message"] != "An agent has finished." || m["sequence_id"] != topic ||
			m["click"] != "https://hub.example/sessions//tasks/run_1" {
			t.Errorf("ntfy got %+v", ntfy[0])
		}
		if g := ntfy[1]; g.Method != http.MethodPut || g.Path != "/ada-7Qx/"+topic+"/clear" || g.Header.Get("Authorization") != "Bearer tk_secret" {
			t.Errorf("ntfy was told %+v", g)
		}
		for i, kind := range []string{"notification", "clear"} {
			g := browser[i]
			if g.Fault != nil || g.Text["kind"] != kind || g.Text["tag"] != topic || g.Header.Get("Topic") != topic || len(g.Body) != len(browser[0].Body) {
				t.Errorf("the browser got %+v", g)
			}
		}
	})
}

func TestWhoLooksAtADeviceIsPushedNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		desk, session := id.NewDevice(), id.NewSession()
		p.attention.Look(t.Context(), push.Glance{User: p.user, Device: desk, Session: session})
		p.run()
		p.tell("seen")
		for _, device := range p.devices {
			if d := p.becomes("seen", device, push.Suppressed); d.Code != push.CodeActive || d.ActiveDevice != desk || d.ActiveSession != session {
				t.Errorf("recorded %+v", d)
			}
		}
		p.attention.Away(t.Context(), p.user, desk)
		p.tell("unseen")
		p.becomes("unseen", p.phone, push.Sent)
		if got := p.ntfy.Got(); len(got) != 1 || got[0].Text["sequence_id"] != push.Topic("unseen") {
			t.Errorf("ntfy got %+v", got)
		}
	})
}

func TestWhatAServiceSaysIsWhatIsRecorded(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		p.run()
		for _, c := range []struct {
			status int
			header string
			state  push.State
			code   push.Code
		}{
			{400, "", push.Failed, push.CodeRefused},
			{403, "", push.Failed, push.CodeRefused},
			{413, "", push.Failed, push.CodeRefused},
			{307, "http://169.254.169.254/latest", push.Failed, push.CodeRedirected},
			{302, "https://elsewhere.example/", push.Failed, push.CodeRedirected},
		} {
			p.browser.Answer(func(w http.ResponseWriter, _ *http.Request) bool {
				if c.header != "" {
					w.Header().Set("Location", c.header)
				}
				w.WriteHeader(c.status)
				return true
			})
			name := string(c.code) + http.StatusText(c.status)
			p.tell(name)
			if d := p.becomes(name, p.laptop, c.state); d.Code != c.code || d.Status != c.status || !d.Due.IsZero() || !d.SentAt.IsZero() {
				t.Errorf("%d is recorded as %+v", c.status, d)
			}
			p.becomes(name, p.phone, push.Sent) // one device's trouble is not another's
		}
		p.browser.Status(http.StatusGone)
		p.tell("gone")
		if d := p.becomes("gone", p.laptop, push.Failed); d.Code != push.CodeGone || d.Status != 410 {
			t.Errorf("recorded %+v", d)
		}
		if left, err := p.Registrations(t.Context(), p.user); err != nil || len(left) != 1 || left[0].Device != p.phone {
			t.Errorf("registered are %+v %v", left, err)
		}
	})
}

func TestAServiceInTroubleIsTriedAgainLaterAndThenGivenUp(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		p.run()
		p.ntfy.Answer(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "1800")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		p.tell("late")
		var tries []time.Duration
		var before time.Time
		for try := 1; ; try++ {
			waitUntil(t, func() bool { return len(p.ntfy.Got()) >= try })
			d := p.settled("late", p.phone, before)
			before = d.ChangedAt
			if d.State == push.Failed {
				if try != 8 || d.Code != push.CodeUnavailable || d.Status != 503 {
					t.Errorf("given up with %+v", d)
				}
				break
			}
			ahead := time.Until(d.Due)
			tries = append(tries, ahead)
			if ahead < 29*time.Minute {
				t.Errorf("try %d: the next one comes in %s, though the service has asked for 30 minutes", try, ahead)
			}
			p.late.Add(int64(ahead - time.Duration(p.late.Load()) + time.Second))
		}
		if len(tries) != 7 {
			t.Errorf("waits %v", tries)
		}
		p.tell("again")
		p.ntfy.Answer(nil)
		p.late.Add(int64(2 * time.Hour))
		p.becomes("again", p.phone, push.Sent)
	})
}

// settled waits until what the next try came to is recorded.
func (p *post) settled(notification string, device id.Device, before time.Time) (found push.Delivery) {
	p.t.Helper()
	waitUntil(p.t, func() bool {
		all, err := p.Deliveries(p.t.Context(), p.user, notification)
		if err != nil {
			p.t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(d push.Delivery) bool { return d.Device == device && d.Status != 0 && d.ChangedAt.After(before) })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	t.Helper()
	for begin := time.Now(); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("never")
		}
	}
}

// A hub that dies between sending and recording has the push sent once more, under the topic that makes a device show it once.
func TestAPushThatWasNotRecordedGoesOutAgainUnderTheSameTopic(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		if err := p.Unregister(t.Context(), p.user, p.phone); err != nil {
			t.Fatal(err)
		}
		p.lostRecordings.Store(true)
		stop := p.run()
		p.tell("twice")
		waitUntil(t, func() bool { return len(p.browser.Got()) == 1 && !p.lostRecordings.Load() })
		stop()
		p.late.Store(int64(2 * time.Minute)) // another hub, after the claim has run out
		p.run()
		p.becomes("twice", p.laptop, push.Sent)
		got := p.browser.Got()
		if len(got) != 2 || got[0].Header.Get("Topic") != got[1].Header.Get("Topic") || got[0].Text["tag"] != got[1].Text["tag"] || got[1].Fault != nil {
			t.Errorf("the browser got %+v", got)
		}
	})
}

// A slow or silent receiver keeps nobody else waiting, and is tried again.
func TestASlowReceiverKeepsNobodyWaiting(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		release := make(chan struct{})
		defer close(release)
		p.browser.Answer(func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return true
		})
		p.run()
		p.tell("slow")
		p.becomes("slow", p.phone, push.Sent)
		d := p.becomes("slow", p.laptop, push.Pending)
		p.tell("next")
		p.becomes("next", p.phone, push.Sent)
		waitUntil(t, func() bool {
			all, err := p.Deliveries(t.Context(), p.user, "slow")
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range all {
				if one.Device == d.Device {
					return one.Code == push.CodeTimeout && one.State == push.Pending && one.Tries == 1
				}
			}
			return false
		})
	})
}

func TestAnAddressInTheOwnNetworkIsNeverSpokenTo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPost(t, s, w)
		inside := pushtest.NewNtfy(t, "") // is not allowed
		p.enrol(p.phone, push.Ntfy, push.Address{URL: inside.URL + "/topic"})
		p.run()
		p.tell("n")
		if d := p.becomes("n", p.phone, push.Failed); d.Code != push.CodeForbidden || d.Status != 0 {
			t.Errorf("recorded %+v", d)
		}
		result, err := p.registrations.Test(t.Context(), account.Principal{User: p.user, Device: p.phone})
		if err != nil || result.Code != push.CodeForbidden {
			t.Errorf("the test says %+v %v", result, err)
		}
		if got := inside.Got(); len(got) > 0 {
			t.Errorf("spoken to: %+v", got)
		}
	})
}

func TestAMutedConversationPushesNothingAndSoDoesOneThatWasLeft(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		p := newPost(t, a.store, a.writer)
		p.user = a.ada.User
		phone := p.device(p.user)
		address := push.Address{URL: p.ntfy.URL + "/topic", Token: "tk_secret"}
		if _, err := p.registrations.Register(t.Context(), account.Principal{User: p.user, Device: phone}, push.Ntfy, address, false); err != nil {
			t.Fatal(err)
		}
		change := func(set string) {
			t.Helper()
			do(t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
				_, err := tx.Exec(ctx, `UPDATE session_members SET `+set+` WHERE member_id = $1`, string(p.user))
				return err
			})
		}
		p.run()
		change(`muted = TRUE`)
		p.tellOf(occasion{notification: "muted", kind: "mention", session: a.n.Session})
		if d := p.becomes("muted", phone, push.Suppressed); d.Code != push.CodeMuted {
			t.Errorf("recorded %+v", d)
		}
		change(`muted = FALSE, left_at = 5`)
		p.tellOf(occasion{notification: "left", kind: "mention", session: a.n.Session})
		if d := p.becomes("left", phone, push.Withdrawn); d.Code != push.CodeNotMember {
			t.Errorf("recorded %+v", d)
		}
		if got := p.ntfy.Got(); len(got) > 0 {
			t.Errorf("ntfy got %+v", got)
		}
	})
}

// Nothing of what was said goes out unless the person wants that, and nothing of an address can be read in the store.
func TestTextGoesOutOnlyToWhoAskedForItAndAddressesAreSealed(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		p := newPost(t, a.store, a.writer)
		p.user = a.ada.User
		phone, laptop := p.device(p.user), p.device(p.user)
		for device, text := range map[id.Device]bool{phone: false, laptop: true} {
			address := push.Address{URL: p.ntfy.URL + "/topic-" + string(device[4:12]) + map[bool]string{true: "-text"}[text], Token: "tk_secret"}
			if _, err := p.registrations.Register(t.Context(), account.Principal{User: p.user, Device: device}, push.Ntfy, address, text); err != nil {
				t.Fatal(err)
			}
		}
		request := string(a.ask(event.Person, `{"command":"rm canary"}`))
		p.run()
		p.becomes(request, phone, push.Sent)
		p.becomes(request, laptop, push.Sent)
		said := map[bool]string{}
		for _, g := range p.ntfy.Got() {
			text, err := json.Marshal(g.Text)
			if err != nil {
				t.Fatal(err)
			}
			topic, _ := g.Text["topic"].(string)
			said[len(topic) > len("topic-12345678")] = string(text)
		}
		for text, want := range map[bool]bool{true: true, false: false} {
			for _, word := range []string{"canary", "scout"} {
				if got := slices.Contains(splitWords(said[text]), word); got != want {
					t.Errorf("with text %v %q is said: %v in %s", text, word, got, said[text])
				}
			}
		}
		rows, err := a.store.readDB.QueryContext(t.Context(), `SELECT sealed FROM push_registrations`)
		sealed, err := collect(rows, err, func(row Scanner) (b []byte, err error) { err = row.Scan(&b); return b, err })
		if err != nil || len(sealed) != 4 {
			t.Fatalf("%d rows: %v", len(sealed), err)
		}
		for _, one := range sealed {
			if slices.Contains(splitWords(string(one)), "tk_secret") || slices.Contains(splitWords(string(one)), "topic") {
				t.Errorf("readable: %s", one)
			}
		}
	})
}

func splitWords(s string) (words []string) {
	word := []rune{}
	for _, r := range s + " " {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			word = append(word, r)
			continue
		}
		words, word = append(words, string(word)), word[:0]
	}
	return words
}
