package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/card"
)

func TestEndsOfAConnectionAreWaitedForAsTheyAsk(t *testing.T) {
	for _, c := range []struct {
		name        string
		code        websocket.StatusCode
		reason      string
		least, most time.Duration
	}{
		{"1006", 0, "", 75 * time.Millisecond, 130 * time.Millisecond},
		{"1011", websocket.StatusInternalError, "oops", 75 * time.Millisecond, 130 * time.Millisecond},
		{"1012", websocket.StatusServiceRestart, "restart, retry_ms=1500", 1500 * time.Millisecond, 1880 * time.Millisecond},
		{"1013", websocket.StatusTryAgainLater, "slow, resume", 5 * time.Second, 6300 * time.Millisecond},
		{"4408", 4408, "silent, resume", 75 * time.Millisecond, 130 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *cardHub) {
				f := h.follow(CardOptions{Session: "sess_1"})
				waited := make(chan time.Duration, 1)
				go func() {
					hub := h.accept(0)
					if c.code == 0 {
						hub.socket.CloseNow()
					} else {
						hub.socket.Close(c.code, c.reason)
					}
					began := time.Now()
					h.accept(0)
					waited <- time.Since(began)
				}()
				f.event("opened")
				f.down()
				f.event("opened")
				if got := <-waited; got < c.least || got > c.most {
					t.Errorf("came back after %v", got)
				}
			})
		})
	}
}

func TestTooManyConnectionsInVainEndTheFeed(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		h.refuse = func(w http.ResponseWriter) bool {
			h.problem(w, http.StatusInternalServerError, ProblemCodeInternal)
			return true
		}
		f := h.follow(CardOptions{Session: "sess_1"})
		began := time.Now()
		for range defaultAttempts - 1 {
			f.down()
		}
		if err := f.end(); CodeOf(err) != ProblemCodeInternal || !strings.Contains(err.Error(), "10 connections") {
			t.Error(err)
		}
		if took := time.Since(began); took < 15*time.Second || took > 45*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
}

func TestAConnectionThatBringsSomethingBeginsTheCountAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1", Attempts: 2})
		go func() {
			for last := range 4 {
				hub := h.accept(last)
				hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace})
				hub.event(h.main().Add(bubble, card.MessagePayload{}, nil))
				hub.socket.CloseNow()
			}
			for range 1 {
				(<-h.sockets).socket.CloseNow()
			}
		}()
		for range 4 {
			f.event("opened")
			f.event("resumed")
			f.event("card.add")
			f.down()
		}
		if err := f.end(); err == nil {
			t.Error("no end")
		}
	})
}

func TestAConversationThatIsNotThereEndsTheFeed(t *testing.T) {
	gone := card.NewError(card.InvalidInput, "There is no such agent.", card.English)
	ways := map[string]func(h *cardHub){
		"before it is open": func(h *cardHub) {
			hub := <-h.sockets
			h.expect("session.create")
			hub.refuse(gone, map[string]any{"type": "session.create"})
		},
		"when the person has left": func(h *cardHub) {
			h.accept(0).socket.Close(websocket.StatusPolicyViolation, "not in the conversation any more")
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *cardHub) {
				f := h.follow(CardOptions{Session: "sess_1"})
				go way(h)
				u, err, _ := f.next()
				for err == nil && u.Event != nil {
					u, err, _ = f.next()
				}
				if !errors.Is(err, ErrNoCards) {
					t.Errorf("%+v, %v", u, err)
				}
			})
		})
	}
}

func TestAHubThatCannotOpenNowIsAskedLater(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		waited := make(chan time.Duration, 1)
		busy := card.NewError(card.Overloaded, "busy", card.English)
		busy.RetryAfterMS = 3000
		go func() {
			hub := <-h.sockets
			h.expect("session.create")
			hub.refuse(busy, map[string]any{"type": "session.create"})
			began := time.Now()
			hub = <-h.sockets
			waited <- time.Since(began)
			h.expect("session.create")
			hub.tell(card.Opened, card.OpenedInner{})
			h.expect("session.resume")
			hub.refuse(busy, map[string]any{"type": "session.resume"})
			h.accept(0)
		}()
		f.down()
		f.event("opened")
		if got := <-waited; got < 3*time.Second || got > 4*time.Second {
			t.Errorf("came back after %v", got)
		}
		f.down()
		f.event("opened")
	})
}

func TestALoginThatHasEndedIsRenewedOrSaid(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			h.accept(0).socket.Close(closeLoggedOut, "login ended")
			hub := h.accept(0)
			h.mu.Lock()
			h.renewable = false
			h.mu.Unlock()
			hub.socket.Close(closeLoggedOut, "login ended")
		}()
		f.event("opened")
		f.down()
		f.event("opened")
		if h.renewed() != 1 {
			t.Errorf("renewed %d times", h.renewed())
		}
		f.down()
		if err := f.end(); !errors.Is(err, ErrLoggedOut) {
			t.Error(err)
		}
	})
}
