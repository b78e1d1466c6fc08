package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/board"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a shell without a terminal: what it wants done is done at once.
type desk struct {
	*shell
	t   *testing.T
	hub *testhub.Hub
}

func newDesk(t *testing.T, hub *testhub.Hub) *desk {
	t.Helper()
	c, err := client.New(client.Options{Hub: hub.URL, Keeper: client.NewMemoryKeeper(client.Credentials{
		AccessToken: "access x", RefreshToken: "refresh x", ExpiresAt: time.Now().Add(time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, hub: hub, shell: &shell{
		ctx: t.Context(), client: c, hands: newHands(c), now: time.Now, board: board.New(board.Options{Me: hub.User.ID, Zone: time.UTC}),
	}}
	d.see(told{Update: client.Update{Ready: true}})
	return d
}

// take hands the shell a message, and does all that follows from it.
func (d *desk) see(msg tea.Msg) {
	_, cmd := d.Update(msg)
	d.run(cmd)
	for len(d.hands.queue) > 0 {
		d.see(d.hands.change(d.ctx, <-d.hands.queue))
	}
}

func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	default:
		d.see(msg)
	}
}

func (d *desk) press(code rune, mod tea.KeyMod) { d.see(tea.KeyPressMsg{Code: code, Mod: mod}) }

func (d *desk) typed(text string) {
	for _, r := range text {
		d.see(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (d *desk) mustShow(want string) {
	d.t.Helper()
	if seen := d.board.View().String(); !strings.Contains(seen, want) {
		d.t.Errorf("%q is not seen:\n%s", want, seen)
	}
}

// follow hands the shell what the hub tells until something is seen.
func (d *desk) follow(until string) {
	d.t.Helper()
	for u, err := range d.client.Feed(client.KeptByCaller(""), client.FeedOptions{Since: time.Now()}).Follow(d.t.Context()) {
		if err != nil {
			d.t.Fatal(err)
		}
		d.see(told{u, nil})
		if strings.Contains(d.board.View().String(), until) {
			return
		}
	}
	d.t.Fatalf("%q was never seen:\n%s", until, d.board.View())
}

func town(t *testing.T) (*testhub.Hub, client.SessionID) {
	h := testhub.New(t)
	h.Sessions = []client.Session{{
		ID: "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", Name: "demo", UpdatedAt: time.Now(), Members: []client.SessionMember{
			{MemberID: h.User.ID, MemberType: client.MemberTypeUser, Name: "ada"}, {MemberID: h.Agents[0].ID, MemberType: client.MemberTypeAgent, Name: "scout"},
		},
	}}
	session := h.Sessions[0].ID
	h.Change(func() { h.Say(session, "good morning") })
	return h, session
}

func (d *desk) messages(session client.SessionID) (all []client.Message) {
	d.hub.Change(func() { all = append(all, d.hub.Messages[session]...) })
	return all
}

func TestWhatIsTypedIsDoneAtTheHub(t *testing.T) {
	h, session := town(t)
	d := newDesk(t, h)
	d.mustShow("demo")
	d.mustShow("ada") // who said good morning
	d.mustShow("good morning")
	d.press(tea.KeyEnter, 0)
	d.typed("and to you")
	d.press(tea.KeyEnter, 0)
	if all := d.messages(session); len(all) != 2 || string(all[1].Content) != `{"text":"and to you"}` {
		t.Fatalf("the hub has %+v", all)
	}
	d.press(tea.KeyEscape, 0)
	d.typed("k+")
	d.typed("👍")
	d.press(tea.KeyEnter, 0)
	d.typed("p")
	d.typed("r")
	d.typed("indeed")
	d.press(tea.KeyEnter, 0)
	all := d.messages(session)
	if len(all[0].Reactions) != 1 || all[0].Pinned.PinnedAt.IsZero() || len(all) != 3 {
		t.Errorf("the hub has %+v", all)
	}
	d.press(tea.KeyEscape, 0)
	d.typed("k")
	d.typed("e")
	d.press('u', tea.ModCtrl)
	d.typed("good evening")
	d.press(tea.KeyEnter, 0)
	if all := d.messages(session); string(all[0].Content) != `{"text":"good evening"}` {
		t.Errorf("the hub has %s", all[0].Content)
	}
	d.press(tea.KeyEscape, 0)
	d.typed("k")
	d.typed("dy")
	if all := d.messages(session); !all[0].Recalled {
		t.Errorf("the hub has %+v", all[0])
	}
}

func TestMessagesAreFoundAtTheHub(t *testing.T) {
	h, session := town(t)
	h.Change(func() {
		for range 2 * pageSize {
			h.Say(session, "and so on")
		}
	})
	d := newDesk(t, h)
	d.typed("s")
	d.typed("morning")
	d.press(tea.KeyEnter, 0)
	d.mustShow("1 say “morning”")
	d.press(tea.KeyEnter, 0)
	d.mustShow("▌  good morning")
}

func TestARefusalOfTheHubIsSeenAndTheTextStays(t *testing.T) {
	h, session := town(t)
	d := newDesk(t, h)
	d.press(tea.KeyEnter, 0)
	d.typed("@nobody are you there?")
	d.press(tea.KeyEnter, 0)
	d.mustShow(`✗ not sent: nobody is called "nobody"; agents here: scout`)
	if all := d.messages(session); len(all) != 1 {
		t.Errorf("the hub has %+v", all)
	}
	d.press(tea.KeyLeft, 0)
	d.mustShow("@nobody are you there?")
}

func TestAnAgentIsFollowedAnsweredAndStopped(t *testing.T) {
	h, _ := town(t)
	h.Run = func(h *testhub.Hub, task client.AgentTask) {
		h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
		h.Append(task, "message.delta", "run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":"I look."}`)
		h.Ask(task, "Bash", `{"command":"ls"}`)
	}
	d := newDesk(t, h)
	d.press(tea.KeyEnter, 0)
	d.typed("@scout go")
	d.press(tea.KeyEnter, 0)
	d.follow("I look.")
	d.follow("scout asks")
	d.press('o', tea.ModCtrl)
	d.typed("a")
	var asked client.Prompt
	h.Change(func() { asked = h.Prompts[0] })
	if asked.State != client.PromptStateAnswered || asked.Answer.Decision != client.PromptDecisionAllow {
		t.Errorf("the hub has %+v", asked)
	}
	d.press(tea.KeyTab, tea.ModShift)
	d.press(tea.KeyTab, 0)
	d.typed("cy")
	h.Change(func() {
		if h.Tasks[0].State != client.RunStateCancelling {
			t.Errorf("the run is %s", h.Tasks[0].State)
		}
	})
}

func TestTheScreenTakesTheTerminalWholeAndSaysWhereTheCursorIs(t *testing.T) {
	h, _ := town(t)
	d := newDesk(t, h)
	d.see(tea.WindowSizeMsg{Width: 50, Height: 20})
	d.press(tea.KeyEnter, 0)
	d.see(tea.PasteMsg{Content: "你好"})
	v := d.View()
	if !v.AltScreen || !v.ReportFocus || v.Cursor == nil || v.Cursor.X != 5 || v.Cursor.Y != 18 {
		t.Errorf("view %+v, cursor %+v", v, v.Cursor)
	}
	if n := strings.Count(v.Content, "\n"); n != 19 {
		t.Errorf("%d lines", n+1)
	}
}

func TestQuittingEndsTheProgram(t *testing.T) {
	h, _ := town(t)
	d := newDesk(t, h)
	_, cmd := d.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if cmd == nil {
		t.Fatal("nothing is done")
	}
	quits := false
	var look func(tea.Cmd)
	look = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.QuitMsg:
			quits = true
		case tea.BatchMsg:
			for _, c := range msg {
				look(c)
			}
		}
	}
	look(cmd)
	if !quits {
		t.Error("the program goes on")
	}
}

// What waits is bounded, and order is kept.
func TestTooMuchAtOnceIsSaidAndNotForgotten(t *testing.T) {
	h, session := town(t)
	d := newDesk(t, h)
	for range maxWaiting {
		d.do([]board.Effect{board.Send{Session: session, Text: "x"}})
	}
	d.do([]board.Effect{board.Send{Session: session, Text: "too much"}})
	d.mustShow("too much waits for the hub")
}

// However much the hub tells at once, it is drawn once a frame; a key is seen at once.
func TestTheScreenIsDrawnOnceAFrame(t *testing.T) {
	h, _ := town(t)
	d := newDesk(t, h)
	d.Update(drawn{})
	d.Update(told{Update: client.Update{Event: client.Event{Link: client.LinkDown, Err: client.ErrUnreachable}}})
	if seen := d.View().Content; !strings.Contains(seen, "offline since") {
		t.Errorf("the first thing is not seen at once:\n%s", seen)
	}
	d.Update(told{Update: client.Update{Ready: true}})
	if seen := d.View().Content; !strings.Contains(seen, "offline since") {
		t.Errorf("drawn twice in a frame:\n%s", seen)
	}
	d.Update(drawn{})
	if seen := d.View().Content; !strings.Contains(seen, "● live") {
		t.Errorf("not drawn with the next frame:\n%s", seen)
	}
	d.Update(told{Update: client.Update{Ready: true}})
	d.Update(told{Update: client.Update{Event: client.Event{Link: client.LinkDown, Err: client.ErrUnreachable}}})
	d.Update(tea.KeyPressMsg{Code: tea.KeyTab})
	if seen := d.View().Content; !strings.Contains(seen, "offline since") {
		t.Errorf("a key is not seen at once:\n%s", seen)
	}
}
