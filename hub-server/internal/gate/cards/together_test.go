package cards

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// `make faults` asks 500.
var questions = flag.Int("questions", 50, "how many questions are answered by many devices at once (P11)")

// Of the devices that answer at once, so many do by cards, at three hubs in turn, and so many by REST at these hubs, which is how devices of /client/ws answer.
const (
	byCards = 5
	byREST  = 3
)

// P11. Eight devices answer each question at once, each in its own words: one answer counts, the agent is sent that one and no other, the seven
// others learn which it was, and everybody sees the same reply.
func TestP11OfAnswersByAnyProtocolAtOnceOneCountsAndEverybodySeesTheSameReply(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		r := newRivals(w)
		var asked []id.Request
		for range *questions {
			request := r.asks(r.edge, r.run, event.PromptPermission, bash)
			r.contend(request)
			asked = append(asked, request)
		}
		sent := r.sent()
		for _, request := range asked {
			if got := sent[request]; len(got) != 1 || got[0] != r.won[request] {
				t.Errorf("the agent is sent %v for %s, which %s has answered", got, request, r.won[request])
			}
		}
		t.Logf("figure: P11: %d answers by 2 protocols to %d questions", len(asked)*(byCards+byREST), len(asked))
	})
}

// rivals are devices that answer what an agent asks.
type rivals struct {
	*scene
	run     id.Run
	clients []*client
	rest    []*httptest.Server
	won     map[id.Request]string // whose answer counts
}

func newRivals(w *town) *rivals {
	w.t.Helper()
	r := &rivals{scene: newScene(w), won: map[id.Request]string{}}
	quick := func(s *Server) { s.Inbound = gate.Rate{PerSecond: 1e6, Burst: 1e6} }
	hubs := []*hub{w.hub(quick), w.hub(quick), w.hub(quick)}
	for i := range byCards {
		r.clients = append(r.clients, hubs[i%len(hubs)].joined(r.ada, r.session))
	}
	for _, h := range hubs {
		r.rest = append(r.rest, h.rest())
	}
	r.run = r.asked(r.clients[0], "hi")
	r.begins(r.edge, r.run)
	return r
}

// learnt is what a device has learnt of a question: whose answer counts, and how it was told so.
type learnt struct {
	winner string
	line   string // the reply, of those who hear cards
	err    error
}

// contend has all devices answer a question at once.
func (r *rivals) contend(request id.Request) {
	r.t.Helper()
	for _, c := range r.clients {
		c.until("the question", isPrompt(request))
	}
	begin := make(chan struct{})
	found := make([]learnt, byCards+byREST)
	var devices sync.WaitGroup
	for i := range found {
		devices.Go(func() {
			<-begin
			if name := fmt.Sprint("device ", i); i < byCards {
				found[i] = r.clients[i].claim(request, name)
			} else {
				found[i] = r.post(i, request, name)
			}
		})
	}
	close(begin)
	devices.Wait()
	for i, one := range found {
		if one.err != nil {
			r.t.Fatalf("device %d: %v", i, one.err)
		}
		if one.winner != found[0].winner || i < byCards && one.line != found[0].line {
			r.t.Errorf("device %d learns that %q counts by\n%s\nand device 0 that %q does by\n%s", i, one.winner, one.line, found[0].winner, found[0].line)
		}
	}
	r.won[request] = found[0].winner
}

// claim answers a question by cards, and reads until the reply, and the refusal where another answer has come first.
func (c *client) claim(request id.Request, name string) learnt {
	frame := fmt.Sprintf(`{"type":"prompt.user_response","request_id":%q,"decision":"denied","payload":{"approved":false,"message":%q}}`, request, name)
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
		return learnt{err: err}
	}
	var got learnt
	for refused := false; ; {
		e, err := c.tryNext()
		if err != nil {
			return learnt{err: fmt.Errorf("after %s: %w", c.raw, err)}
		}
		var reply card.ReplyPayload
		switch {
		case e.Type == card.SessionEvent && strings.Contains(string(c.raw), "already_answered"):
			refused = true
		case e.Type == card.SessionEvent:
			return learnt{err: fmt.Errorf("told %s", c.raw)}
		case e.Type == card.PromptReply && json.Unmarshal(e.Payload, &reply) == nil && reply.RequestID == string(request):
			if got.line != "" {
				return learnt{err: fmt.Errorf("told a second reply: %s", c.raw)}
			}
			got = learnt{winner: reply.Reason, line: string(c.raw)}
		}
		if got.line != "" && refused == (got.winner != name) {
			return got
		}
		if got.line != "" && refused {
			return learnt{err: fmt.Errorf("its answer counts and is refused: %s", got.line)}
		}
	}
}

// post answers by REST.
func (r *rivals) post(device int, request id.Request, name string) learnt {
	got, status, err := r.ada.denies(r.rest[device%len(r.rest)], r.run, request, name)
	switch {
	case err != nil:
		return learnt{err: err}
	case status == http.StatusOK && got.Answer.Reason == name:
	case status == http.StatusConflict && got.Code == string(fault.AlreadyAnswered) && got.Answer.Reason != name:
	default:
		return learnt{err: fmt.Errorf("REST says %d %+v to %s", status, got, name)}
	}
	return learnt{winner: got.Answer.Reason}
}

// sent is what is on its way to the agent: the answers, by question.
func (r *rivals) sent() map[id.Request][]string {
	r.t.Helper()
	sent, seen := map[id.Request][]string{}, []id.Delivery{}
	commands, err := sqlstore.NewRunlog(r.store, r.writer, "hub").TakeCommands(r.t.Context(), r.edge)
	r.must(err)
	for _, c := range commands {
		if c.Kind != wire.AnswerPrompt || slices.Contains(seen, c.DeliveryID) {
			continue
		}
		seen = append(seen, c.DeliveryID)
		var answer wire.Answer
		r.must(json.Unmarshal(c.Body, &answer))
		sent[answer.RequestID] = append(sent[answer.RequestID], answer.Reason)
	}
	return sent
}
