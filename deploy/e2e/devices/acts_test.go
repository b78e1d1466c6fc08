package devices

import (
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// typing is told to others of the conversation at once, and is in no order with what is kept.
func typing(s *stage) {
	if err := s.ada.live.Typing(s.room); err != nil {
		s.t.Fatal(err)
	}
	s.bob.live.untilType("typing")
}

func replyAndEdit(s *stage) {
	first := s.say("what I said").MessageID
	s.bob.live.Post(s.room, client.MessageInput{ClientMsgID: newKey(), Content: rig.Text("so you say"), ReplyToMessageID: first})
	did[client.Message](s, "edit")(s.ada.live.API().EditMessage(s.t.Context(), first, client.MessageEdit{Content: rig.Text("what I meant")}))
}

func recall(s *stage) {
	said := s.say("I never said that").MessageID
	s.react(said)
	s.pin(said)
	s.done("recall")(s.ada.live.API().RecallMessage(s.t.Context(), said))
}

func (s *stage) pin(message string) {
	s.t.Helper()
	s.done("pin")(s.bob.live.API().PinMessage(s.t.Context(), message))
}

func unpin(s *stage) {
	said := s.say("pinned for a moment").MessageID
	s.pin(said)
	s.done("unpin")(s.ada.live.API().UnpinMessage(s.t.Context(), said))
}

func (s *stage) react(message string) {
	s.t.Helper()
	s.done("react")(s.bob.live.API().AddReaction(s.t.Context(), message, client.ReactionInput{Reaction: "👍"}))
}

func unreact(s *stage) {
	said := s.say("liked for a moment").MessageID
	s.react(said)
	s.done("take a reaction back")(s.bob.live.API().RemoveReaction(s.t.Context(), said, &client.RemoveReactionParams{Reaction: "👍"}))
}

// read marks in another order than that of the numbers, too: the mark only moves forward.
func read(s *stage) {
	first, second := s.say("one").SeqID, s.say("two").SeqID
	for _, seq := range []client.SeqID{second, first} {
		s.done("mark as read")(s.bob.live.API().MarkRead(s.t.Context(), s.room, client.ReadMarkInput{LastReadSeq: seq}))
	}
}

func private(s *stage) {
	in, once := client.PrivateSessionInput{MemberID: s.bob.id}, &client.CreatePrivateSessionParams{IdempotencyKey: newKey()}
	did[client.Session](s, "open a private conversation")(s.ada.live.API().CreatePrivateSession(s.t.Context(), once, in))
}

func dissolve(s *stage) {
	s.done("dissolve")(s.ada.live.API().DissolveSession(s.t.Context(), s.group("not for long", s.bob)))
}

func removal(s *stage) {
	s.done("remove")(s.ada.live.API().RemoveMember(s.t.Context(), s.group("of three", s.bob, s.carol), s.carol.id))
}

// leaving is told to who has left as well: all of their devices forget the conversation.
func leaving(s *stage) {
	s.done("leave")(s.bob.live.API().LeaveSession(s.t.Context(), s.group("left", s.bob)))
}

func rename(s *stage) {
	name, announcement := "another name", "we meet at noon"
	in := client.SessionInfoInput{Name: &name, Announcement: &announcement}
	did[client.Session](s, "rename")(s.ada.live.API().UpdateSessionInfo(s.t.Context(), s.room, in))
}

func transfer(s *stage) {
	session := s.group("given away", s.bob)
	s.done("give away")(s.ada.live.API().TransferSession(s.t.Context(), session, client.OwnerInput{UserID: s.bob.id}))
}

func mute(s *stage) {
	yes, no := true, false
	for _, muted := range []*bool{&yes, &no} {
		in := client.SessionSettingsInput{Muted: muted, Pinned: &yes}
		did[client.Session](s, "mute")(s.bob.live.API().UpdateSessionSettings(s.t.Context(), s.room, in))
	}
}

func work(s *stage) { s.Owner().UntilState(s.run(worker), client.RunStateCompleted) }

func fail(s *stage) { s.Owner().UntilState(s.run(failing), client.RunStateFailed) }

func cancel(s *stage) {
	run := s.run(forever)
	s.Owner().UntilState(run, client.RunStateRunning)
	did[client.AgentTask](s, "cancel")(s.ada.live.API().CancelAgentTask(s.t.Context(), string(run), client.CancelInput{}))
	s.Owner().UntilState(run, client.RunStateCancelled)
}

// permit answers what the agent asks.
func permit(s *stage) {
	run := s.run(asker)
	s.Owner().UntilState(run, client.RunStateWaitingPerson)
	s.answer(run)
	s.Owner().UntilState(run, client.RunStateCompleted)
}

func (s *stage) answer(run id.Run) {
	s.t.Helper()
	api := s.ada.live.API()
	asked := did[client.PromptList](s, "list questions")(api.ListAgentTaskPrompts(s.t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
	for _, p := range asked.Items {
		did[client.Prompt](s, "answer")(api.AnswerPrompt(s.t.Context(), p.TaskID, p.RequestID, client.PromptAnswerInput{Decision: client.PromptDecisionAllow}))
	}
}

// tellsNothing holds agent.dispatch to saying nothing that only the edge is told.
func tellsNothing(s *stage, p *someone, f client.HubWebSocketFrame) {
	var fields map[string]any
	if err := json.Unmarshal(f.Payload, &fields); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"prompt", "system_prompt", "tool_whitelist", "model_params", "messages", "pinned_messages"} {
		if value, there := fields[name]; there && value != "" {
			s.t.Errorf("agent.dispatch tells %s %s: %v", p.name, name, value)
		}
	}
}

func (s *stage) request(from, to *someone) client.Contact {
	s.t.Helper()
	return did[client.Contact](s, "ask to be friends")(from.live.API().RequestContact(s.t.Context(), client.ContactInput{Username: to.name}))
}

func befriend(s *stage) {
	asked := s.request(s.carol, s.ada)
	did[client.Contact](s, "accept")(s.ada.live.API().AcceptContact(s.t.Context(), asked.RequestID))
}

// visit lets a friend of ada come, and go for longer than a grace, so that the next visit is news again.
func visit(s *stage) {
	came := s.dave.Watch()
	s.ada.live.untilType("device.online")
	came.Close()
	s.ada.live.untilType("device.offline")
}

// greeted comes back as every device does: the first frame of a connection is auth.ok with the number 1, for nobody else.
func greeted(s *stage, r row) {
	for _, p := range s.people() {
		p.leave(s.t)
	}
	for _, p := range s.people() {
		synced := p.comeBack(s.t)
		away := p.away.frames()
		if len(away) == 0 || away[0].Type != r.frame || away[0].SeqID != 1 {
			s.t.Fatalf("%s: %s was greeted with %+v", r, p.name, away)
		}
		s.valid(away)
		if keys := slices.Concat(keysOf(p.live.frames(), r.frame), keysOf(synced, r.frame)); len(keys) > 0 {
			s.t.Errorf("%s: %s was told of another connection: %q", r, p.name, keys)
		}
		greetings := slices.DeleteFunc(away, func(f client.HubWebSocketFrame) bool { return f.Type != r.frame })
		if made := reduce(p.id, greetings).kept(); len(made) > 0 {
			s.t.Errorf("%s was applied: %v", r, made)
		}
	}
}
