package sqlstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// pushed is a store with a person who has devices that are pushed to.
type pushed struct {
	*Pushes
	t       *testing.T
	user    id.User
	devices []id.Device
}

func newPushed(t *testing.T, s *Store, w *Writer, devices int) *pushed {
	t.Helper()
	p := &pushed{Pushes: NewPushes(s, w), t: t, user: id.NewUser()}
	for range devices {
		p.devices = append(p.devices, p.device(p.user))
		p.register(p.devices[len(p.devices)-1])
	}
	return p
}

// device is one with a login.
func (p *pushed) device(user id.User) id.Device {
	p.t.Helper()
	device := id.NewDevice()
	do(p.t, p.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO devices (id, user_id, type, name, family, created_at, last_seen_at, expires_at, end_reason)
VALUES ($1, $2, 'mobile', 'phone', $1, 1, 1, $3, '')`, string(device), string(user), micros(time.Now().Add(time.Hour)))
		return err
	})
	return device
}

func (p *pushed) register(device id.Device) {
	p.t.Helper()
	r := push.Registration{
		Device: device, User: p.user, Channel: push.Ntfy, Host: "ntfy.example", Sealed: []byte("sealed"), CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	if err := p.Register(p.t.Context(), r); err != nil {
		p.t.Fatal(err)
	}
}

// tell makes something to tell.
func (p *pushed) tell(notification string) {
	p.t.Helper()
	do(p.t, p.writer, nil, func(ctx context.Context, tx *Tx) error {
		return tx.planPush(ctx, occasion{notification: notification, user: p.user, kind: "system"})
	})
}

func (p *pushed) read(notification string) {
	p.t.Helper()
	do(p.t, p.writer, nil, func(ctx context.Context, tx *Tx) error { return tx.withdrawPush(ctx, notification, p.user) })
}

func (p *pushed) due(now time.Time) []push.Delivery {
	p.t.Helper()
	due, err := p.Due(p.t.Context(), now, 100)
	if err != nil {
		p.t.Fatal(err)
	}
	return due
}

// claim takes the one delivery that is due at now.
func (p *pushed) claim(now time.Time) push.Order {
	p.t.Helper()
	due := p.due(now)
	if len(due) != 1 {
		p.t.Fatalf("due are %+v, want one", due)
	}
	o, err := p.Claim(p.t.Context(), due[0], now.Add(time.Minute).Truncate(time.Microsecond))
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}

func (p *pushed) record(o push.Order, out push.Outcome) {
	p.t.Helper()
	if err := p.Record(p.t.Context(), o, out); err != nil {
		p.t.Fatal(err)
	}
}

// is checks what became of a notification on the first device.
func (p *pushed) is(notification string, state push.State, code push.Code) push.Delivery {
	p.t.Helper()
	all, err := p.Deliveries(p.t.Context(), p.user, notification)
	if err != nil || len(all) == 0 || all[0].State != state || all[0].Code != code {
		p.t.Fatalf("%s: %+v (%v), want %s %s", notification, all, err, state, code)
	}
	return all[0]
}

var took = push.Outcome{State: push.Sent, Took: true, Status: 201}

func TestOneHubSendsAPushAndAnotherIfThatOneDies(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		p := newPushed(t, s[0], w[0], 1)
		other := NewPushes(s[1], w[1])
		p.tell("n")
		now := time.Now()
		seen := p.due(now)[0]
		first := p.claim(now)
		if _, err := other.Claim(t.Context(), seen, now.Add(time.Minute)); !errors.Is(err, timer.ErrTaken) {
			t.Fatalf("claimed twice: %v", err)
		}
		if due := p.due(now); len(due) != 0 {
			t.Fatalf("due while it is claimed: %+v", due)
		}
		later := now.Add(2 * time.Minute) // the first hub has died
		second := p.claim(later)
		if second.Tries != 2 {
			t.Errorf("the second try is called %d", second.Tries)
		}
		p.record(first, push.Outcome{State: push.Failed, Code: push.CodeRefused}) // it was only slow
		p.is("n", push.Pending, "")
		p.record(second, took)
		if d := p.is("n", push.Sent, ""); d.SentAt.IsZero() || d.Status != 201 || !d.Due.IsZero() {
			t.Errorf("recorded %+v", d)
		}
		if due := p.due(later.Add(time.Hour)); len(due) != 0 {
			t.Errorf("due after all: %+v", due)
		}
	})
}

func TestWhatIsReadIsNotSentOrTakenBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 1)
		now := time.Now().Add(time.Second)

		p.tell("unsent")
		p.read("unsent")
		p.is("unsent", push.Withdrawn, push.CodeRead)
		p.read("unsent")
		p.is("unsent", push.Withdrawn, push.CodeRead)

		p.tell("sent")
		p.record(p.claim(now), took)
		p.read("sent")
		p.is("sent", push.Clearing, push.CodeRead)
		p.record(p.claim(now), push.Outcome{State: push.Cleared, Code: push.CodeRead})
		if d := p.is("sent", push.Cleared, push.CodeRead); d.SentAt.IsZero() {
			t.Error("forgotten that it was sent")
		}

		p.tell("meanwhile") // read while it was being sent
		o := p.claim(now)
		p.read("meanwhile")
		if due := p.due(now); len(due) != 0 {
			t.Fatalf("taken back before it was sent: %+v", due)
		}
		p.record(o, took)
		if d := p.is("meanwhile", push.Clearing, push.CodeRead); d.SentAt.IsZero() || d.Tries != 0 {
			t.Errorf("recorded %+v", d)
		}
		p.record(p.claim(now.Add(time.Second)), push.Outcome{State: push.Cleared, Code: push.CodeRead})

		p.tell("perhaps") // the hub died while it was being sent, and then it was read
		p.claim(now)
		p.read("perhaps")
		if d := p.claim(now.Add(2 * time.Minute)); d.State != push.Clearing {
			t.Errorf("what may have been sent is %s", d.State)
		}
	})
}

func TestADeviceRestsAfterAFailureAndTheOthersGoOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 2)
		p.tell("one")
		p.tell("two")
		now := time.Now().Add(time.Second)
		due := p.due(now)
		if len(due) != 2 || due[0].Device == due[1].Device {
			t.Fatalf("due are %+v, want one of each device", due)
		}
		o, err := p.Claim(t.Context(), due[0], now.Add(time.Minute).Truncate(time.Microsecond))
		if err != nil {
			t.Fatal(err)
		}
		p.record(o, push.Outcome{State: push.Pending, Code: push.CodeTimeout, Again: now.Add(time.Hour)})
		for _, d := range p.due(now) {
			if d.Device == o.Device {
				t.Errorf("due at the device that rests: %+v", d)
			}
		}
		if got := len(p.due(now.Add(2 * time.Hour))); got != 2 {
			t.Errorf("%d devices are due after the rest", got)
		}
	})
}

func TestAnAddressThatIsGoneIsForgottenButNotTheOneInItsPlace(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 1)
		now := time.Now().Add(time.Second)
		p.tell("one")
		o := p.claim(now)
		p.register(p.devices[0]) // again, while the old address was tried
		p.record(o, push.Outcome{State: push.Failed, Code: push.CodeGone, Gone: true})
		p.tell("two")
		o = p.claim(now)
		if o.Registration == nil {
			t.Fatal("the new registration is gone")
		}
		p.record(o, push.Outcome{State: push.Failed, Code: push.CodeGone, Gone: true})
		if all, err := p.Registrations(t.Context(), p.user); err != nil || len(all) != 0 {
			t.Errorf("still there: %+v %v", all, err)
		}
		p.tell("three")
		if due := p.due(now); len(due) != 0 {
			t.Errorf("due to nobody: %+v", due)
		}
	})
}

func TestNothingIsPushedToADeviceThatIsOutOrToSomebodyElse(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 1)
		bob := id.NewUser()
		p.tell("n")
		o := p.claim(time.Now())
		if o.LoginEnded || !o.Member || o.Registration == nil {
			t.Fatalf("order %+v", o)
		}
		if all, err := p.Deliveries(t.Context(), bob, "n"); err != nil || len(all) != 0 {
			t.Errorf("somebody else sees %+v %v", all, err)
		}
		if err := p.Unregister(t.Context(), bob, p.devices[0]); err != nil {
			t.Fatal(err)
		}
		if all, err := p.Registrations(t.Context(), p.user); err != nil || len(all) != 1 {
			t.Errorf("somebody else has ended it: %+v %v", all, err)
		}
		foreign := push.Registration{Device: p.devices[0], User: bob, Channel: push.Ntfy, CreatedAt: time.Now()}
		if err := p.Register(t.Context(), foreign); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("somebody else registers the device: %v", err)
		}
		p.tell("m")
		do(t, w, nil, func(ctx context.Context, tx *Tx) error {
			return tx.endFamily(ctx, "", "", time.Now()) // of nobody
		})
		if _, err := NewAccounts(s, w).EndDevice(t.Context(), p.user, p.devices[0], "logout", time.Now()); err != nil {
			t.Fatal(err)
		}
		if o := p.claim(time.Now()); o.Registration != nil || !o.LoginEnded {
			t.Errorf("order for a device that is out: %+v", o)
		}
		if err := p.Register(t.Context(), push.Registration{Device: p.devices[0], User: p.user, CreatedAt: time.Now()}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a device that is out registers: %v", err)
		}
	})
}

func TestOldDeliveriesAreForgotten(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 1)
		p.tell("one")
		p.tell("two")
		if n, err := p.Forget(t.Context(), time.Now().Add(-time.Hour), 10); n != 0 || err != nil {
			t.Errorf("forgot %d %v", n, err)
		}
		if n, err := p.Forget(t.Context(), time.Now().Add(time.Hour), 1); n != 1 || err != nil {
			t.Errorf("forgot %d %v, want one", n, err)
		}
	})
}

func TestAQuestionIsPushedToWhoMayAnswerAndTakenBackOnceItIsAnswered(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		p := &pushed{Pushes: NewPushes(a.store, a.writer), t: t, user: a.ada.User}
		p.devices = []id.Device{p.device(p.user)}
		p.register(p.devices[0])
		carol := &pushed{Pushes: p.Pushes, t: t, user: id.NewUser()}
		carol.register(carol.device(carol.user))
		a.admit(carol.user) // reads, and may not answer

		request := string(a.ask(event.Person, `{"command":"ls"}`))
		d := p.is(request, push.Pending, "")
		if d.Type != "prompt" || d.Session == "" || d.Run != a.n.ID {
			t.Errorf("planned %+v", d)
		}
		if all, err := carol.Deliveries(t.Context(), carol.user, request); err != nil || len(all) > 0 {
			t.Errorf("pushed to who may not answer: %+v %v", all, err)
		}
		o := p.claim(time.Now().Add(time.Second))
		if !o.Member {
			t.Error("a member counts as none")
		}
		if q, err := p.Quote(t.Context(), d); err != nil || q.From != "scout" || q.Text != `The request to use Bash with {"command":"ls"}` {
			t.Errorf("quote %+v %v", q, err)
		}
		p.record(o, took)
		a.must(id.Request(request), event.Allow)
		p.is(request, push.Clearing, push.CodeRead)
	})
}

func TestWhatAPersonIsToldIsPushedAndTakenBackOnceTheyHaveReadIt(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		p := newPushed(t, s, w, 1)
		session, message, run := id.NewSession(), id.NewMessage(), id.NewRun()
		mention, err := notice.Mentioned(p.user, session, message, id.NewUser())
		if err != nil {
			t.Fatal(err)
		}
		done, err := notice.Done(p.user, run, session, id.NewAgent(), "completed")
		if err != nil {
			t.Fatal(err)
		}
		do(t, w, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO session_members (session_id, member_id, role, last_read_seq, joined_at) VALUES ($1, $2, 'member', 0, 1)`,
				string(session), string(p.user))
			return err
		})
		for range 2 { // the second time it is no news
			do(t, w, nil, func(ctx context.Context, tx *Tx) error { return tx.notify(ctx, mention, done) })
		}
		if d := p.is(string(mention.ID), push.Pending, ""); d.Type != "mention" || d.Session != session || d.Message != message {
			t.Errorf("planned %+v", d)
		}
		if d := p.is(string(done.ID), push.Pending, ""); d.Type != "agent_done" || d.Run != run {
			t.Errorf("planned %+v", d)
		}
		if _, err := NewNotices(s, w).Read(t.Context(), p.user, mention.ID); err != nil {
			t.Fatal(err)
		}
		p.is(string(mention.ID), push.Withdrawn, push.CodeRead)
		p.is(string(done.ID), push.Pending, "")
		if _, err := NewNotices(s, w).ReadAll(t.Context(), p.user, time.Now().Add(time.Hour), 10); err != nil {
			t.Fatal(err)
		}
		p.is(string(done.ID), push.Withdrawn, push.CodeRead)
	})
}
