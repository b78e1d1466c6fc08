package cards

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// openURL is the tool that clients offer here.
func openURL(timeout time.Duration) card.ClientTool {
	return card.ClientTool{
		Name: "open_url", Description: "Opens a page on the person's screen.", TimeoutMS: timeout.Milliseconds(),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`),
	}
}

// opener is a client of the Go SDK that opens pages, and what it is told.
type opener struct {
	t     *testing.T
	feed  *client.CardFeed
	calls chan client.CardCall // that it was asked for
	free  chan string          // what it answers; "" for whatever ends the call otherwise

	mu   sync.Mutex
	ends int           // of turns
	ups  int           // of links
	more chan struct{} // closed when either has grown
	over chan struct{}
}

func (s *stage) opener(of *rig.Device, session string, timeout time.Duration) *opener {
	s.t.Helper()
	o := &opener{t: s.t, calls: make(chan client.CardCall, 4), free: make(chan string), more: make(chan struct{}), over: make(chan struct{})}
	o.feed = of.Cards(client.CardOptions{Session: session, Attempts: -1, Tools: []client.CardTool{{ClientTool: openURL(timeout), Run: o.open}}})
	ctx, stop := context.WithCancel(context.WithoutCancel(s.t.Context()))
	go o.follow(ctx)
	s.t.Cleanup(func() { stop(); <-o.over })
	o.until("the link", func() bool { return o.ups > 0 })
	return o
}

func (o *opener) open(ctx context.Context, call client.CardCall) (client.CardResult, error) {
	o.calls <- call
	select {
	case said := <-o.free:
		return client.CardResult{Output: said, Metadata: map[string]any{"render_hint": "url"}}, nil
	case <-ctx.Done():
		return client.CardResult{}, ctx.Err()
	}
}

func (o *opener) follow(ctx context.Context) {
	defer close(o.over)
	for u, err := range o.feed.Follow(ctx) {
		if err != nil {
			return
		}
		o.mu.Lock()
		if u.Link == client.LinkUp {
			o.ups++
		}
		if u.Event != nil && u.Event.Type == card.Close && u.Event.Envelope.CardKind == card.Turn {
			o.ends++
		}
		close(o.more)
		o.more = make(chan struct{})
		o.mu.Unlock()
	}
}

func (o *opener) until(what string, so func() bool) {
	o.t.Helper()
	late := time.After(rig.Patience)
	for {
		o.mu.Lock()
		done, more := so(), o.more
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-more:
		case <-late:
			o.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (o *opener) called() client.CardCall {
	o.t.Helper()
	select {
	case call := <-o.calls:
		return call
	case <-time.After(rig.Patience):
		o.t.Fatal("the client is not asked")
		return client.CardCall{}
	}
}

func (o *opener) ended(turns int) {
	o.t.Helper()
	o.until(fmt.Sprintf("the end of turn %d", turns), func() bool { return o.ends == turns })
}

// logged are the events of a run, in a word each, and what the agent has said last.
func (s *stage) logged(run id.Run) (types []string, text string) {
	s.t.Helper()
	s.Owner().UntilState(run, client.RunStateCompleted)
	for _, e := range s.Owner().Log(run) {
		switch t := e.EventType; t {
		case "tool.call.started", "run.prompt.requested", "run.prompt.answered", "run.prompt.expired", "tool.call.completed", "tool.call.failed", "run.prompt.delivered":
			types = append(types, t)
		case "message.completed":
			var p event.MessageCompletedPayload
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				s.t.Fatal(err)
			}
			text = p.Content
		}
	}
	return types, text
}

var carriedOut = []string{"tool.call.started", "run.prompt.requested", "run.prompt.answered", "tool.call.completed", "run.prompt.delivered"}

// A client of the Go SDK carries out what an agent calls, by line and by MCP. In the first call the hub is killed while the client is at it.
func TestAClientOfTheSDKCarriesOutTheToolsOfAnAgent(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	owner := s.Owner()
	session := owner.Group("pages", "worker")
	watched := owner.Watch()
	defer watched.Close()
	o := s.opener(owner, session, time.Hour)
	for i, ask := range []string{"Open the page", "Use the server"} {
		run := owner.Run(session, "@worker "+ask)
		call := o.called()
		if call.Name != "open_url" || string(call.Input) != `{"url":"https://a.example/"}` || call.Run != run {
			t.Errorf("the client is asked for %+v of %s", call, call.Input)
		}
		if task := owner.Task(run); task.State != client.RunStateRunning {
			t.Errorf("the run is %s while a client is waited for", task.State)
		}
		s.noQuestions(owner, run)
		if i == 0 {
			s.KillHub()
			s.StartHub()
			o.until("another link", func() bool { return o.ups > 1 })
		}
		o.free <- "A page"
		o.ended(i + 1)
		types, text := s.logged(run)
		if !slices.Equal(types, carriedOut) || !strings.Contains(text, "It is open: ") || !strings.Contains(text, "A page") {
			t.Errorf("%s: the log has %v, and the agent says %q", ask, types, text)
		}
		s.noQuestions(owner, run)
	}
	if len(o.calls) != 0 {
		t.Error("a call was carried out more than once")
	}
	for _, frame := range watched.Frames() {
		if strings.Contains(frame, "notification.new") && strings.Contains(frame, `"type":"prompt"`) {
			t.Errorf("a person is told: %s", frame)
		}
	}
}

// noQuestions checks that no person is asked anything.
func (s *stage) noQuestions(of *rig.Device, run id.Run) {
	s.t.Helper()
	mine, err := client.Decode[client.PromptList](of.API().ListPrompts(s.t.Context(), &client.ListPromptsParams{}))
	if err != nil || len(mine.Items) != 0 {
		s.t.Errorf("questions to people: %+v, %v", mine, err)
	}
	asked, err := client.Decode[client.PromptList](of.API().ListAgentTaskPrompts(s.t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
	if err != nil || len(asked.Items) != 0 {
		s.t.Errorf("approvals of the run: %+v, %v", asked, err)
	}
}

// A call that the client does not answer in time fails, and the agent goes on.
func TestACallOfAClientsToolIsOverInTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	session := s.Owner().Group("pages", "worker")
	o := s.opener(s.Owner(), session, 1500*time.Millisecond)
	run := s.Owner().Run(session, "@worker Open the page")
	call := o.called()
	o.ended(1)
	types, text := s.logged(run)
	want := []string{"tool.call.started", "run.prompt.requested", "run.prompt.expired", "tool.call.failed", "run.prompt.delivered"}
	if !slices.Equal(types, want) || text != "It is not open: timeout." {
		t.Errorf("the log has %v, and the agent says %q", types, text)
	}
	late := s.resumed(s.Owner(), session)
	late.say(card.ToolResult{ToolUseID: call.ID, Status: "ok"}, "late")
	late.refused("prompt_expired")
}

// resumed is a connection that has been told the trace of a conversation from its beginning.
func (s *stage) resumed(of *rig.Device, session string) *line {
	s.t.Helper()
	l := s.dialAs(of, &script{t: s.t}, client.NewCardForest())
	l.say(card.SessionCreate{SessionID: session}, "")
	l.opened()
	l.say(card.SessionResume{TraceID: string(l.trace)}, "")
	var p struct {
		Inner card.ResumedInner `json:"inner"`
	}
	if err := json.Unmarshal(l.told(card.Resumed).Payload, &p); err != nil {
		s.t.Fatal(err)
	}
	for l.script.last() < int64(p.Inner.ToSeq) {
		l.event()
	}
	return l
}

// refused hears that a frame was not taken.
func (l *line) refused(code string) {
	l.s.t.Helper()
	e := l.told(card.SessionError)
	if !strings.Contains(string(e.Payload), `"code":"`+code+`"`) || !strings.Contains(string(e.Payload), `"type":"invalid_input"`) {
		l.s.t.Errorf("it is refused with %s, want %s", e.Payload, code)
	}
	l.ping()
}

// Two devices see a call, and the first result counts; another person's does not, nor does a second one.
func TestTheFirstResultOfTwoDevicesCounts(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	owner := s.Owner()
	session := owner.Group("pages", "worker")
	stranger, user := s.Invite("bob")
	if _, err := client.Decode[client.Nothing](owner.API().AddMember(s.t.Context(), session,
		&client.AddMemberParams{IdempotencyKey: uuid.NewString()}, client.MemberInput{MemberID: user})); err != nil {
		t.Fatal(err)
	}
	phone := s.dialAs(owner, &script{t: t}, client.NewCardForest())
	phone.say(card.SessionCreate{SessionID: session, Tools: []card.ClientTool{openURL(time.Hour)}}, "")
	phone.opened()
	desk := s.resumed(owner.Another("desk", s.HubURL()), session)
	bob := s.resumed(stranger, session)
	run := owner.Run(session, "@worker Open the page")
	call := desk.until(`"target":"client"`).Envelope.CardID
	bob.until(`"target":"client"`)
	bob.say(card.ToolResult{ToolUseID: call, Status: "ok", Output: json.RawMessage(`"bob's"`)}, "")
	bob.refused("not_found")
	first := card.ToolResult{ToolUseID: call, Status: "ok", Output: json.RawMessage(`"the desk's"`)}
	desk.say(first, "")
	desk.until(`the desk's`)
	phone.until(`"target":"client"`)
	phone.end()
	phone.say(first, "") // the same again is taken without a word
	phone.nothing()
	phone.say(card.ToolResult{ToolUseID: call, Status: "ok", Output: json.RawMessage(`"the phone's"`)}, "")
	phone.refused("already_answered")
	if types, text := s.logged(run); !slices.Equal(types, carriedOut) || !strings.Contains(text, "the desk's") {
		t.Errorf("the log has %v, and the agent says %q", types, text)
	}
}

// What is said about a tool of a client's is what testdata has.
func TestACallOfAClientsToolIsWhatTheTranscriptSays(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	l := s.dial(&script{t: t}, client.NewCardForest())
	l.agent = "worker"
	l.say(card.SessionCreate{
		AgentID: s.Owner().AgentID("worker"), Capabilities: card.Capabilities{ClientTools: true}, Tools: []card.ClientTool{openURL(time.Minute)},
	}, "conversation with worker")
	l.opened()
	l.say(text("Open the page"), "client-tool")
	call := l.until(`"target":"client"`)
	l.say(card.ToolResult{ToolUseID: call.Envelope.CardID, Status: "ok", Output: json.RawMessage(`"A page"`), Metadata: map[string]any{"render_hint": "url"}}, "")
	l.end()
	l.nothing()
	l.script.mustBe("client-tool")
}
