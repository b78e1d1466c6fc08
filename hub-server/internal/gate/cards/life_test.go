package cards

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

type (
	ctx     = context.Context
	session = id.Session
)

func TestInterruptStopsTheTurnThatIsRunning(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		c, reader := s.hub.joined(s.ada, s.session), s.hub.joined(bob, s.session)
		c.say(`{"type":"session.interrupt"}`) // nothing to stop is no error
		c.settle()
		first := s.asked(c, "hi")
		s.begins(s.edge, first)
		reader.say(`{"type":"session.interrupt"}`)
		reader.told("error permission_denied agent_operate_required")
		c.say(`{"type":"user.message","text":"and then"}`) // waits for its turn
		c.say(`{"type":"session.interrupt","trace_id":%q}`, c.had[0].Envelope.TraceID)
		c.settle()
		open, err := w.chats.OpenRuns(t.Context(), s.session)
		if s.must(err); len(open) != 2 {
			t.Fatalf("open are %v, want the turn and the one that waits", open)
		}
		for _, one := range open {
			r, err := w.record.Runs.Get(t.Context(), one)
			if s.must(err); (r.State == run.StateCancelling) != (one == first) {
				t.Errorf("the turn asked for with %s is %s", r.Trigger, r.State)
			}
		}
		s.tells(s.edge, first, "run.cancelled", object{"external_stop_confirmed": true})
		c.until("the end of the turn", func(e card.Event) bool {
			return e.Type == card.Close && e.Envelope.CardKind == card.Turn && strings.Contains(string(e.Payload), `"cancelled"`)
		})
		for _, e := range c.had {
			if k := c.kind(e); k != "" && k != "opened" && k != "updated" {
				t.Errorf("it is answered with %s", k)
			}
		}
	})
}

func TestWhoMayReadAndNotOperateHearsAndMaySayWhatNoAgentAnswers(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		c, reader := s.hub.joined(s.ada, s.session), s.hub.joined(bob, s.session)
		reader.say(`{"type":"user.message","text":"good morning"}`)
		reader.say(`{"type":"user.message","text":"@scout go"}`)
		reader.told("error permission_denied agent_operate_required")
		c.text("good morning")
		message := s.begins(s.edge, s.asked(c, "hi"))
		s.says(s.edge, s.run(s.session), message, "Hello")
		reader.text("good morningHello")
	})
}

func TestSEC13WhoIsRemovedHearsNothingMore(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := w.person("bob")
		_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		ada, gone := s.hub.joined(s.ada, s.session), w.hub().joined(bob, s.session)
		run := s.asked(ada, "hi")
		message := s.begins(s.edge, run)
		s.says(s.edge, run, message, "before ")
		gone.text("before ")
		s.must(s.hub.Sessions.RemoveMember(t.Context(), s.ada.Principal, s.session, bob.member()))
		s.says(s.edge, run, message, "secret")
		ada.text("before secret")
		if closed := gone.ends(); closed.Code != closeLeft {
			t.Errorf("it ends with %v", closed)
		}
		if last := gone.had[len(gone.had)-1]; gone.kind(last) != "error invalid_input session_not_found" {
			t.Errorf("the last word is %+v", last)
		}
		for _, line := range gone.lines {
			if strings.Contains(line, "secret") {
				t.Errorf("told %s", line)
			}
		}
	})
}

func TestALoginThatEndsClosesItsConnectionsAndNoOthers(t *testing.T) {
	s := newScene(sole(t))
	phone := s.ada
	phone.Family, phone.token = "another", "another token"
	s.logins.mu.Lock()
	s.logins.known[phone.token] = phone.Principal
	s.logins.mu.Unlock()
	c, stays := s.hub.joined(phone, s.session), s.hub.joined(s.ada, s.session)
	s.hub.CloseFamily("another")
	if closed := c.ends(); closed.Code != closeEnded {
		t.Errorf("it ends with %v", closed)
	}
	late := s.hub.dial(phone, "") // its token was judged before the login ended
	if closed := late.ends(); closed.Code != closeEnded {
		t.Errorf("one that comes late ends with %v", closed)
	}
	stays.settle()
	checked := s.town.hub(func(h *Server) { h.pace.alive = 10 * time.Millisecond })
	unheard := checked.joined(s.ada, s.session)
	s.logins.mu.Lock()
	s.logins.ended = map[account.Family]bool{s.ada.Family: true}
	s.logins.mu.Unlock()
	if closed := unheard.ends(); closed.Code != closeEnded {
		t.Errorf("one that nobody told of ends with %v", closed)
	}
}

func TestAStoppingHubSaysSoAndLetsNobodyIn(t *testing.T) {
	s := newScene(sole(t))
	open, waiting := s.hub.joined(s.ada, s.session), s.hub.dial(s.ada, "")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.hub.shut()
	}()
	for _, c := range []*client{open, waiting} {
		if closed := c.ends(); closed.Code != websocket.StatusServiceRestart || !strings.Contains(closed.Reason, "retry_ms=") {
			t.Errorf("it ends with %v", closed)
		}
	}
	<-stopped
	if status := s.refused("/v1/ws", "Bearer "+string(s.ada.token)); status != http.StatusServiceUnavailable {
		t.Errorf("afterwards the answer is %d", status)
	}
}

// refused tries to connect and returns the answer.
func (s *scene) refused(path, credential string) int {
	s.t.Helper()
	_, resp, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(s.hub.server.URL, "http")+path, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {credential}},
	})
	if err == nil || resp == nil {
		s.t.Fatalf("let in, or no answer: %v", err)
	}
	return resp.StatusCode
}

func TestNobodyIsLetInWithoutACredentialAndNotTooOften(t *testing.T) {
	s := newScene(sole(t))
	for path, credential := range map[string]string{"/v1/ws": "Bearer x", "/v1/ws?token=x": "Bearer " + string(s.ada.token)} {
		if status := s.refused(path, credential); status != http.StatusUnauthorized && status != http.StatusBadRequest {
			t.Errorf("%s is answered %d", path, status)
		}
	}
	s.hub = s.town.hub(func(h *Server) { h.roll.perUser = 2 })
	first, second := s.hub.joined(s.ada, s.session), s.hub.joined(s.ada, s.session)
	if status := s.refused("/v1/ws", "Bearer "+string(s.ada.token)); status != http.StatusTooManyRequests {
		t.Errorf("a third is answered %d", status)
	}
	first.settle()
	second.settle()
}

func TestAClientThatIsSilentIsCutAndOneThatAnswersPingsIsNot(t *testing.T) {
	s := newScene(sole(t))
	brief := s.town.hub(func(h *Server) { h.pace.ping, h.pace.silent = 20*time.Millisecond, 300*time.Millisecond })
	mute, alive := s.dumb(brief), brief.joined(s.ada, s.session)
	heard := make(chan error, 1)
	go func() { // reading answers pings
		_, err := alive.tryNext()
		heard <- err
	}()
	if _, err := io.Copy(io.Discard, mute); err != nil {
		t.Error(err)
	}
	select {
	case err := <-heard:
		t.Errorf("one that answers pings is cut, too: %v", err)
	default:
	}
	alive.say(`{"type":"ping"}`)
	if err := <-heard; err != nil || !strings.Contains(string(alive.raw), "pong") {
		t.Errorf("it hears %s, %v", alive.raw, err)
	}
}

// dumb is a client that shakes hands and then neither reads frames nor says anything.
func (s *scene) dumb(h *hub) net.Conn {
	s.t.Helper()
	raw, err := net.Dial("tcp", strings.TrimPrefix(h.server.URL, "http://"))
	s.must(err)
	s.t.Cleanup(func() { raw.Close() })
	_, err = io.WriteString(raw, "GET /v1/ws?session_id="+string(s.session)+" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer "+string(s.ada.token)+"\r\n\r\n")
	s.must(err)
	return raw
}

func TestCloseCodesAreThoseOfTheContract(t *testing.T) {
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc.Paths.Find("/v1/ws").Get.Extensions["x-close-codes"])
	if err != nil {
		t.Fatal(err)
	}
	var listed map[string]struct{ Code websocket.StatusCode }
	if err := json.Unmarshal(text, &listed); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]websocket.StatusCode{
		"restart": closeRestart, "try_later": closeTryLater, "left": closeLeft, "login_ended": closeEnded, "silent": closeSilent,
		"not_text": closeNotText, "endless": closeEndless,
	} {
		if listed[name].Code != code {
			t.Errorf("%s is %d here and %d in the contract", name, code, listed[name].Code)
		}
		delete(listed, name)
	}
	if len(listed) > 0 {
		t.Errorf("the contract has %v besides", listed)
	}
}

func TestSizesOfAMessageAreThoseOfTheContract(t *testing.T) {
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for of, most := range map[string]uint64{
		"CardSocketUserMessage.text": chat.MaxContent, "CardSocketBlock.text": chat.MaxContent, "CardSocketSource.data": maxFrame, "CardSocketInject.text": maxFrame,
	} {
		schema, field, _ := strings.Cut(of, ".")
		if said := doc.Components.Schemas[schema].Value.Properties[field].Value.MaxLength; said == nil || *said != most {
			t.Errorf("%s has at most %d here; the contract says %+v", of, most, said)
		}
	}
}

func TestOnlyWhatCannotBeSkippedEndsAConnection(t *testing.T) {
	s := newScene(sole(t))
	for name, c := range map[string]struct {
		frame []byte
		want  websocket.StatusCode
	}{
		"no UTF-8": {[]byte("{\"type\":\"ping\",\"event_id\":\"\xff\"}"), closeNotText},
		"no end":   {make([]byte, maxFrame+1+maxEndless), closeEndless},
	} {
		t.Run(name, func(t *testing.T) {
			one := s.hub.joined(s.ada, s.session)
			one.write(websocket.MessageText, c.frame)
			if end := one.ends(); end.Code != c.want {
				t.Errorf("it ends with %d %s, want %d", end.Code, end.Reason, c.want)
			}
		})
	}
}
