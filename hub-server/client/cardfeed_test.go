package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

func TestCardsGoOnWhereTheyWere(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1", Agent: "agent_1"})
		again := make(chan string, 1)
		go func() {
			hub := <-h.sockets
			h.expect("session.create {SessionID:sess_1 AgentID:agent_1 ")
			hub.tell(card.Opened, card.OpenedInner{})
			h.expect("session.resume {TraceID:" + testTrace + " LastSeq:0 ")
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 2})
			hub.event(h.main().Add(bubble, card.MessagePayload{}, nil))
			second := h.text("a")
			hub.event(second)
			hub.socket.CloseNow()
			hub = <-h.sockets
			h.expect("session.create")
			hub.tell(card.Opened, card.OpenedInner{})
			h.expect("session.resume {TraceID:" + testTrace + " LastSeq:2 MessageCursors:map[msg_1:2]}")
			third := h.text("b")
			hub.event(h.text("d")) // live, before the answer
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 3, ToSeq: 4})
			hub.event(second)
			hub.event(third)
			hub.event(card.Event{
				Type: card.Append, Envelope: card.Envelope{TraceID: testTrace, CardID: "msg_1", Seq: 4},
				Payload: json.RawMessage(`{"channel":"text","chunk":"c"}`),
			})
			again <- "done"
		}()
		if u := f.event("opened"); u.Link != LinkUp {
			t.Errorf("%+v", u)
		}
		f.event("resumed")
		f.event("card.add")
		f.event("card.append")
		f.down()
		f.event("opened")
		f.event("resumed")
		f.event("card.append")
		f.event("card.append")
		f.text("abc")
		<-again
	})
}

func TestAQuestionThatIsSentAgainIsShownOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			asked := h.main().PromptUser(card.PromptPayload{RequestID: "req_1", Kind: "question", Inner: json.RawMessage(`{}`)})
			for last, cut := range []bool{true, false} {
				hub := <-h.sockets
				h.expect("session.create")
				hub.tell(card.Opened, card.OpenedInner{})
				hub.event(asked)
				h.expect(fmt.Sprintf("session.resume {TraceID:%s LastSeq:%d ", testTrace, last))
				hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 1})
				hub.event(asked)
				if cut {
					hub.socket.CloseNow()
				}
			}
		}()
		f.event("opened")
		f.event("prompt.user")
		f.event("resumed")
		f.down()
		f.event("opened")
		f.event("resumed")
		synctest.Wait()
		if prompts := f.feed.Forest().Prompts(); len(prompts) != 1 || !prompts[0].Visible() {
			t.Errorf("%+v", prompts)
		}
	})
}

func TestAGapIsAskedForOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			hub := h.accept(0)
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 1, ToSeq: 1})
			hub.event(h.main().Add(bubble, card.MessagePayload{}, nil))
			lost, third := h.text("a"), h.text("b")
			hub.event(third)
			h.expect("session.resume {TraceID:" + testTrace + " LastSeq:1 ")
			hub.event(h.text("c")) // nothing is asked while the answer is awaited
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 2, ToSeq: 4})
			hub.event(lost)
			hub.event(third)
			h.text("never sent")
			fifth := h.text("e")
			hub.event(fifth)
			h.expect("session.resume {TraceID:" + testTrace + " LastSeq:3 ")
			hub.tell(card.Resumed, card.ResumedInner{TraceID: testTrace, FromSeq: 4, ToSeq: 6})
			hub.event(fifth) // the hub does not have it
			h.accept(3)
		}()
		f.event("opened")
		f.event("resumed")
		f.event("card.add")
		f.event("resumed")
		f.event("card.append")
		f.event("card.append")
		f.text("ab")
		f.event("resumed")
		if err := f.down(); !strings.Contains(err.Error(), "event 4") {
			t.Error(err)
		}
		f.event("opened")
	})
}

func TestWhatHasExpiredIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			hub := h.accept(0)
			hub.tell(card.ResumeFailed, card.ResumeFailedInner{TraceID: testTrace, Reason: card.EventsExpired})
			h.trace.Last = 90
			hub.event(h.main().Add(bubble, card.MessagePayload{}, nil))
			hub.event(h.text("a"))
			hub.socket.CloseNow()
			h.accept(92)
		}()
		f.event("opened")
		f.event("resume_failed")
		f.event("card.add")
		f.event("card.append")
		f.text("a")
		f.down()
		f.event("opened")
	})
}

func TestAClientPingsEvery30Seconds(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		pings := make(chan time.Duration, 3)
		go func() {
			hub := h.accept(0)
			for began := time.Now(); ; began = time.Now() {
				h.expect("ping")
				pings <- time.Since(began)
				if len(pings) == cap(pings) {
					hub.event(h.main().Add(bubble, card.MessagePayload{}, nil))
					return
				}
				hub.sendRaw([]byte(`{"type":"pong"}` + "\n"))
			}
		}()
		f.event("opened")
		f.event("card.add") // a pong is not told
		for range 3 {
			if got := <-pings; got != 30*time.Second {
				t.Errorf("pinged after %v", got)
			}
		}
	})
}

func TestAHubThatAnswersNoPingIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			h.accept(0)
			h.expect("ping")
			h.accept(0)
		}()
		f.event("opened")
		began := time.Now()
		if err := f.down(); !errors.Is(err, errSilent) || time.Since(began) != silence {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		f.event("opened")
	})
}

func TestWhatCannotBeTakenNowIsSentAgainByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		waits := make(chan time.Duration, lastRetry)
		busy := card.NewError(card.Overloaded, "busy", card.English)
		go func() {
			hub := h.accept(0)
			for range lastRetry + 1 {
				began := time.Now()
				h.expect("user.message {Text: Content:[{Type:text Text:hi ")
				waits <- time.Since(began)
				hub.refuse(busy, map[string]any{"event_id": "c1", "type": "user.message"})
			}
		}()
		f.event("opened")
		if id, err := f.feed.Send(card.UserMessage{Text: "hi"}, "c1"); err != nil || id != "c1" {
			t.Fatal(id, err)
		}
		<-waits
		for failures := 1; failures <= lastRetry; failures++ {
			if u := f.event("error"); u.Failed == nil || !u.Failed.Again || u.Failed.EventID != "c1" {
				t.Fatalf("failure %d: %+v", failures, u.Failed)
			}
			least := time.Duration([]int{0, 1, 2, 4, 8}[failures-1]) * time.Second
			if got := <-waits; got < least || got > least*5/4 {
				t.Errorf("sent again %v after failure %d", got, failures)
			}
		}
		if u := f.event("error"); u.Failed == nil || u.Failed.Again || u.Failed.Error.UserMessage == "" {
			t.Errorf("%+v", u.Failed)
		}
	})
}

func TestWhatIsWrongIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		go func() {
			hub := h.accept(0)
			h.expect("prompt.user_response")
			hub.refuse(card.NewError(card.InvalidInput, "no", card.English), map[string]any{"event_id": "c1"})
			hub.refuse(card.NewError(card.Overloaded, "busy", card.English), nil)
			h.expect("ping") // and nothing before
		}()
		f.event("opened")
		if _, err := f.feed.Send(card.PromptResponse{RequestID: "req_1", Decision: "approved"}, "c1"); err != nil {
			t.Fatal(err)
		}
		for _, eventID := range []string{"c1", ""} {
			if u := f.event("error"); u.Failed.Again || u.Failed.EventID != eventID {
				t.Errorf("%+v", u.Failed)
			}
		}
		time.Sleep(pingEvery + time.Second)
	})
}

func TestWhatIsDueIsSentOverTheNextConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		sent := make(chan string, 1)
		go func() {
			hub := h.accept(0)
			h.expect("session.interrupt")
			later := card.NewError(card.RateLimit, "slow down", card.English)
			later.RetryAfterMS = 60_000
			hub.refuse(later, map[string]any{"event_id": "c1"})
			time.Sleep(time.Second)
			hub.socket.CloseNow()
			h.accept(0)
			sent <- h.heard()
		}()
		f.event("opened")
		if _, err := f.feed.Send(card.SessionInterrupt{}, "c1"); err != nil {
			t.Fatal(err)
		}
		f.event("error")
		f.down()
		f.event("opened")
		if got := <-sent; !strings.HasPrefix(got, "session.interrupt") {
			t.Error(got)
		}
	})
}

func TestNothingIsSentWithoutAConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{Session: "sess_1"})
		if _, err := f.feed.Send(card.UserMessage{Text: "hi"}, ""); !errors.Is(err, ErrNoStream) {
			t.Error(err)
		}
	})
}

func TestAConversationIsMadeOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, h *cardHub) {
		f := h.follow(CardOptions{})
		keys := make(chan string, 3)
		go func() {
			for range 3 {
				hub := <-h.sockets
				got, _ := card.ReadFrame([]byte(<-h.said))
				keys <- got.EventID + got.Frame.(card.SessionCreate).SessionID
				if len(keys) == 2 {
					hub.tell(card.Opened, card.OpenedInner{})
					h.expect("session.resume")
				}
				hub.socket.CloseNow()
			}
		}()
		f.down()
		f.event("opened")
		f.down()
		first, second := <-keys, <-keys
		f.down()
		third := <-keys
		if first != second || !strings.HasPrefix(first, "evt_") || third != first+"sess_1" {
			t.Errorf("%q, %q, %q", first, second, third)
		}
	})
}
