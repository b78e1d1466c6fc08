package story

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// one is ask for a command that answers with one thing.
func one[T any](h *home, args ...string) T {
	h.t.Helper()
	all := ask[T](h, args...)
	if len(all) != 1 {
		h.t.Fatalf("yard %q printed %d lines", args, len(all))
	}
	return all[0]
}

// refused runs a command that must fail with an exit code, and say something.
func (h *home) refused(code int, says string, args ...string) {
	h.t.Helper()
	p := h.yard(args...)
	if got := p.Wait(yardPatience); got != code || !strings.Contains(p.Log().String(), says) {
		h.t.Errorf("yard %q ended with code %d and %q, want %d and %q", args, got, p.Log(), code, says)
	}
}

// invited is the home of another person of the same hub, who is logged in.
func (h *home) invited(name string) *home {
	h.t.Helper()
	other := &home{t: h.t, bin: h.bin, state: filepath.Join(h.t.TempDir(), name)}
	ready := one[client.Invitation](h, "invite")
	p := rig.StartReading(h.t, "correct horse battery staple\n", "yard login", []string{"YARD_HOME=" + filepath.Join(other.state, "yard")}, filepath.Join(h.bin, "yard"),
		"login", "--hub", h.address(), "--user", name, "--invitation", ready.Token)
	if code := p.Wait(yardPatience); code != 0 {
		h.t.Fatalf("login of %s ended with code %d", name, code)
	}
	return other
}

func TestMessagesAreChangedFromATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, text := range []string{"hello", "the plan"} {
		if code := h.yard("send", "--session", "demo", text).Wait(yardPatience); code != 0 {
			t.Fatalf("send ended with code %d", code)
		}
	}
	edited := one[client.Message](h, "message", "edit", "demo:2", "We", "meet", "on", "Friday.")
	if string(edited.Content) != `{"text":"We meet on Friday."}` || edited.Revision != 1 || edited.EditedAt.IsZero() {
		t.Errorf("edited: %+v", edited)
	}
	if now := one[client.ReactionList](h, "message", "react", "demo:2", "👍").Items; len(now) != 1 || now[0].Count != 1 {
		t.Errorf("reactions: %+v", now)
	}
	one[client.MessagePinPayload](h, "message", "pin", "demo:2")
	pins := one[client.PinList](h, "pins", "demo").Items
	if len(pins) != 1 || pins[0].ID != edited.ID || len(pins[0].Reactions) != 1 {
		t.Errorf("pins: %+v", pins)
	}
	one[struct{}](h, "message", "unreact", "demo:2", "👍")
	one[struct{}](h, "message", "unpin", edited.ID)
	if now := one[client.ReactionList](h, "message", "reactions", "demo:2").Items; len(now) != 0 {
		t.Errorf("reactions: %+v", now)
	}
	if pins := one[client.PinList](h, "pins", "demo").Items; len(pins) != 0 {
		t.Errorf("pins: %+v", pins)
	}
	if left := one[client.Message](h, "message", "recall", "demo:2"); !left.Recalled {
		t.Errorf("recalled: %+v", left)
	}
	all := one[client.MessageList](h, "messages", "demo").Items
	if len(all) != 2 || all[0].Recalled || !all[1].Recalled || string(all[1].Content) != "{}" {
		t.Errorf("messages: %+v", all)
	}
	h.refused(1, "no message 9 in demo", "message", "recall", "demo:9")
	h.refused(5, "conflict", "message", "edit", "demo:2", "again")
	h.interrupt()
}

func TestPeopleBefriendOneAnotherAndLogOutFromTerminals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	grace := h.invited("grace")
	if asked := one[client.Contact](h, "friend", "request", "grace", "--message", "It is me."); asked.State != client.ContactStateRequestSent {
		t.Errorf("asked: %+v", asked)
	}
	told := one[client.NotificationList](grace, "notifications", "--unread").Items
	if len(told) != 1 || told[0].Type != client.NotificationPayloadTypeFriendRequest {
		t.Fatalf("grace was told %+v", told)
	}
	one[client.NotificationPayload](grace, "notification", "read", told[0].ID)
	if told := one[client.NotificationList](grace, "notifications", "--unread").Items; len(told) != 0 {
		t.Errorf("unread: %+v", told)
	}
	one[struct{}](grace, "notification", "read-all")
	from := one[client.ContactList](grace, "friends").Items
	if len(from) != 1 || from[0].State != client.ContactStateRequestReceived || from[0].Message != "It is me." {
		t.Fatalf("friends of grace: %+v", from)
	}
	if now := one[client.Contact](grace, "friend", "accept", from[0].Username); now.State != client.ContactStateFriend {
		t.Errorf("accepted: %+v", now)
	}
	if left := one[client.ContactList](grace, "friends").Items; len(left) != 1 || left[0].Online || left[0].LastSeenAt.IsZero() {
		t.Errorf("a friend who has no connection is listed as %+v", left)
	}
	one[client.Person](grace, "friend", "block", from[0].Username)
	h.refused(5, "not_found", "friend", "request", "grace")
	one[client.Contact](grace, "friend", "unblock", from[0].Username)
	if left := one[client.ContactList](grace, "friends").Items; len(left) != 0 {
		t.Errorf("friends after a block: %+v", left)
	}
	watch := grace.watch("a")
	one[struct{}](grace, "logout", "--everywhere")
	if code := watch.now.Wait(yardPatience); code == 0 {
		t.Error("a device that was logged out everywhere ended as if nothing were")
	}
	grace.refused(3, "not logged in", "friends")
	h.interrupt()
}

// address is where the hub of this home is.
func (h *home) address() string {
	h.t.Helper()
	var ready struct {
		Hub string `json:"hub"`
	}
	if err := json.Unmarshal([]byte(h.up.Out().String()), &ready); err != nil || ready.Hub == "" {
		h.t.Fatalf("yard up printed %q (%v)", h.up.Out(), err)
	}
	return ready.Hub
}
