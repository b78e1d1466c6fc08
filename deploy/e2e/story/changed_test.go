package story

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// A device has old messages, and misses more than a socket replays. Among it is what became of the old ones. After the reset it shows what a device shows
// that begins with nothing, and what one shows that was there.
func TestADeviceThatIsResetLearnsWhatBecameOfTheMessagesThatItHas(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]func(*testing.T) []string{
		"SQLite":     func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string { return []string{"HUB_DATABASE_URL=" + hubtest.Postgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHolder(t, env(t))
			there, away, fresh := h.device("there"), h.device("away"), h.device("fresh")
			there.begin()
			away.begin()
			stay := there.follow()
			h.change()
			h.noise()
			if reason := away.begin(); reason != "too_far_behind" {
				t.Fatalf("the device that was away was not reset, but %q", reason)
			}
			fresh.begin()
			h.ada.Send(h.home, goodbye)
			was := <-stay
			for name, other := range map[string]*heldState{"away": away.until(), "fresh": fresh.until()} {
				compareHeld(t, name, was, other)
			}
		})
	}
}

// holder is bob, whose devices hold what ada says.
type holder struct {
	*rig.Rig
	t           *testing.T
	ada, bob    *rig.Device
	home, noisy string
	old         []string // messages of ada
}

func newHolder(t *testing.T, env []string) *holder {
	r := rig.New(t, rig.Options{Env: append(env, "HUB_REQUESTS_PER_MINUTE=1000000")})
	h := &holder{Rig: r, t: t, ada: r.Owner()}
	var bob string
	h.bob, bob = r.Invite("bob")
	h.home, h.noisy = h.ada.Group("home"), h.ada.Group("noisy")
	for _, s := range []string{h.home, h.noisy} {
		key := &client.AddMemberParams{IdempotencyKey: uuid.NewString()}
		h.must(client.Decode[client.Nothing](h.ada.API().AddMember(t.Context(), s, key, client.MemberInput{MemberID: bob})))
		h.ada.Send(s, "hello")
	}
	for n := range 6 {
		text := fmt.Sprintf("old %d", n)
		receipt := h.ada.Post(h.home, client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text(text)})
		h.old = append(h.old, receipt.MessageID)
	}
	h.react(h.bob, h.old[0], "🎉")
	return h
}

func (h *holder) must(_ client.Nothing, err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *holder) react(by *rig.Device, message, way string) {
	h.t.Helper()
	h.must(client.Decode[client.Nothing](by.API().AddReaction(h.t.Context(), message, client.ReactionInput{Reaction: way})))
}

// change is what bob's device misses.
func (h *holder) change() {
	ctx, a, b := h.t.Context(), h.ada.API(), h.bob.API()
	done := func(v client.Nothing, err error) { h.t.Helper(); h.must(v, err) }
	done(client.Decode[client.Nothing](b.RemoveReaction(ctx, h.old[0], &client.RemoveReactionParams{Reaction: "🎉"})))
	done(client.Decode[client.Nothing](a.RecallMessage(ctx, h.old[1])))
	done(client.Decode[client.Nothing](a.EditMessage(ctx, h.old[2], client.MessageEdit{Content: rig.Text("old 2, said better")})))
	done(client.Decode[client.Nothing](a.PinMessage(ctx, h.old[3])))
	h.react(h.ada, h.old[4], "👍")
	renamed, muted := "the home", true
	done(client.Decode[client.Nothing](a.UpdateSessionInfo(ctx, h.home, client.SessionInfoInput{Name: &renamed})))
	done(client.Decode[client.Nothing](b.UpdateSessionSettings(ctx, h.noisy, client.SessionSettingsInput{Muted: &muted})))
	h.ada.Send(h.home, "for @bob to read")
	done(client.Decode[client.Nothing](b.MarkRead(ctx, h.home, client.ReadMarkInput{LastReadSeq: 8})))
	done(client.Decode[client.Nothing](a.MarkRead(ctx, h.home, client.ReadMarkInput{LastReadSeq: 3})))
	done(client.Decode[client.Nothing](a.RequestContact(ctx, client.ContactInput{Username: "bob"})))
}

// noise is more than 4 MiB, which a socket does not replay.
func (h *holder) noise() {
	for n := range 80 {
		h.ada.Send(h.noisy, fmt.Sprint(n)+strings.Repeat(" noise", 10_000))
	}
}

// holding is one device of bob.
type holding struct {
	*rig.Device
	t    *testing.T
	home string
	feed *client.Feed
}

type heldState struct {
	records map[string]string
	marks   map[string]int64
}

func (h *holder) device(name string) *holding {
	d := h.bob.Another(name, h.HubURL())
	return &holding{Device: d, t: h.t, home: h.home, feed: d.Feed(client.KeptByCaller(""), client.FeedOptions{})}
}

// begin follows until everything that was missed is told, and says why the hub did not continue.
func (d *holding) begin() (reason string) {
	for u, err := range d.feed.Follow(d.t.Context()) {
		if err != nil {
			d.t.Fatal(err)
		}
		if u.Resume != nil {
			reason = u.Resume.Reason
		}
		if u.Ready {
			break
		}
	}
	return reason
}

// until follows until the farewell.
func (d *holding) until() *heldState {
	for u, err := range d.feed.Follow(d.t.Context()) {
		if err != nil {
			d.t.Error(err)
		}
		if err != nil || isFarewell(u) {
			break
		}
	}
	return &heldState{records: heldRecords(d.feed.State()), marks: d.feed.State().Marks()}
}

func (d *holding) follow() <-chan *heldState {
	done := make(chan *heldState, 1)
	go func() { done <- d.until() }()
	return done
}

// heldRecords leaves out the records of joins: who is in a conversation is part of the conversation's.
func heldRecords(r *client.Reducer) map[string]string {
	mine := map[string]bool{}
	for _, s := range r.Sessions() {
		mine[s.SessionID] = true
	}
	records := recordsOf(r, mine)
	maps.DeleteFunc(records, func(key, _ string) bool { return strings.HasPrefix(key, "member ") })
	return records
}

func compareHeld(t *testing.T, who string, want, got *heldState) {
	t.Helper()
	for key, value := range want.records {
		if got.records[key] != value {
			t.Errorf("%s: %s is\n%.400s, want\n%.400s", who, key, got.records[key], value)
		}
	}
	for key := range got.records {
		if want.records[key] == "" {
			t.Errorf("%s: %s is there no more", who, key)
		}
	}
	if !maps.Equal(want.marks, got.marks) || len(want.marks) != 2 {
		t.Errorf("%s: marks %v, want %v", who, got.marks, want.marks)
	}
}
