package cards

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// tickPause is how many milliseconds lie between two ticks of progress, or two heartbeats, of one card (S0 §6.4).
const tickPause = 250

// subject is the card that a signal is about: the call, else the step, else the agent's.
func (s *State) subject(t *thread, call, step string, agent event.SubAgent) *node {
	if n := t.find(card.Tool, call); n != nil {
		return n
	}
	if n := t.step("", step); n != nil {
		return n
	}
	return s.in(t, agent).card
}

// pulse tells a signal that may be left out: what comes too soon after the one before, or after the card's end, is.
func (s *State) pulse(n *node, last *int64, kind card.TickKind, inner any) {
	now := s.at.UnixMilli()
	switch {
	case !n.open:
	case *last != 0 && now >= *last && now-*last < tickPause: // a clock may be set back
		s.renew(n)
	default:
		*last = now
		s.tick(n, kind, inner)
	}
}

func (s *State) tick(n *node, kind card.TickKind, inner any) {
	s.tell(n.builder(s).Tick(n.handle(), kind, inner))
	s.renew(n)
}

func (s *State) taskProgress(f Fact) {
	p, ok := read[event.TaskProgressPayload](f)
	if !ok {
		return
	}
	n := s.subject(s.of(f.Run), p.ToolCallID, p.StepID, p.AgentID)
	s.pulse(n, &n.progress, card.Progress, card.ProgressTick{
		Stage: p.Stage, ProgressPct: p.ProgressPct, ItemsProcessed: p.ItemsProcessed, ItemsTotal: p.ItemsTotal, Unit: p.Unit, ETAMS: p.ETAMS,
	})
}

func (s *State) statusChange(f Fact) {
	p, ok := read[event.StatusChangePayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	s.beat(s.subject(t, p.ToolCallID, "", p.AgentID), card.HeartbeatTick{Stage: p.Stage, UptimeMS: p.UptimeMS})
}

func (s *State) sessionState(f Fact) {
	p, ok := read[event.SessionStatePayload](f)
	if !ok {
		return
	}
	s.beat(s.of(f.Run).root, card.HeartbeatTick{Stage: p.State})
}

// beat tells a heartbeat. One of an agent names the call that it is at.
func (s *State) beat(n *node, tick card.HeartbeatTick) {
	if tool := n.thread.openTool(n.scope); tool != nil && n == n.scope.card {
		tick.ActiveToolCardID = tool.id
	}
	s.pulse(n, &n.heartbeat, card.Heartbeat, tick)
}

func (s *State) taskNotification(f Fact) {
	p, ok := read[event.TaskNotificationPayload](f)
	if !ok {
		return
	}
	s.note(s.subject(s.of(f.Run), p.ToolCallID, "", p.AgentID), p.Text, card.Severity(p.Severity))
}

func (s *State) note(n *node, text string, severity card.Severity) {
	s.tick(n, card.Note, card.NoteTick{Text: text, Severity: severity})
}

func (s *State) toolUseSummary(f Fact) {
	p, ok := read[event.ToolUseSummaryPayload](f)
	if !ok {
		return
	}
	s.tick(s.subject(s.of(f.Run), p.ToolCallID, "", p.AgentID), card.Intent, card.IntentTick{Intent: p.Intent})
}

func (s *State) routeDecision(f Fact) {
	p, ok := read[event.RouteDecisionPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	s.tick(s.in(t, p.AgentID).card, card.Escalation, card.EscalationTick{FromMode: p.FromMode, ToMode: p.ToMode, Reason: p.Reason})
}

func (s *State) apiRetry(f Fact) {
	p, ok := read[event.APIRetryPayload](f)
	if !ok {
		return
	}
	why := ""
	if p.Error != nil {
		why = p.Error.Message
	}
	s.retryNote(f, p.AgentID, p.Attempt, why)
}

func (s *State) requestEnd(f Fact) {
	p, ok := read[event.RequestEndPayload](f)
	if !ok || p.RetryInMS == nil {
		return
	}
	s.retryNote(f, p.AgentID, p.Attempt, p.ErrorMessage)
}

// retryNote tells that a call of the model is made again: which attempt it was, from 1, and why it failed, where that is known.
func (s *State) retryNote(f Fact, agent event.SubAgent, attempt int, why string) {
	said := s.words("模型调用失败，正在重试", "The call of the model failed and is tried again")
	if attempt > 0 {
		said = fmt.Sprintf("%s (%d)", said, attempt)
	}
	if why != "" {
		said += ": " + why
	}
	s.note(s.in(s.of(f.Run), agent).card, said, card.Warn)
}

func (s *State) rateLimit(f Fact) {
	p, ok := read[event.RateLimitPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	said := orElse(p.Text, s.words("模型服务要求放慢速度", "The provider of the model asks for patience"))
	s.note(s.in(t, p.AgentID).card, said, card.Warn)
}

func (s *State) contextWarning(f Fact) {
	p, ok := read[event.ContextWarningPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	said := orElse(p.Text, s.words("模型的上下文快满了", "The context of the model is nearly full"))
	s.note(s.in(t, p.AgentID).card, said, card.Warn)
}

// lost tells that a part of what the agent said is missing. Nothing is told of a run that has shown nothing.
func (s *State) lost(f Fact) {
	if t := s.thread(f.Run.ID); t != nil {
		s.note(t.root, s.words("这里缺少一部分内容", "A part of what the agent said is missing here"), card.Warn)
	}
}

// words are the hub's own, in the language of the trace.
func (s *State) words(chinese, english string) string {
	if s.trace.Language == card.English {
		return english
	}
	return chinese
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
