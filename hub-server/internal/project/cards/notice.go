package cards

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	iconWarning = "warning"
	maxTopics   = 256 // of one conversation; what comes after them is not shown
)

func (s *State) notice(f Fact) {
	if p, ok := read[event.NoticePayload](f); ok {
		s.system(f, card.SystemPayload{Topic: p.Topic, Summary: p.Summary, ActionHint: p.ActionHint})
	}
}

// authStatus shows a login that has to be made again.
func (s *State) authStatus(f Fact) {
	p, ok := read[event.AuthStatusPayload](f)
	if !ok || p.Status != event.AuthExpired {
		return
	}
	said := orElse(p.Summary, s.words("智能体的登录已过期", "The login of the agent has expired"))
	s.system(f, card.SystemPayload{Topic: event.TopicAuthExpired, Summary: said, ActionHint: p.ActionHint})
}

// system adds a card at the root that never closes, once for each topic of the conversation (S0 §10.9). It opens no turn.
func (s *State) system(f Fact, payload card.SystemPayload) {
	if payload.Topic == "" || slices.Contains(s.topics, payload.Topic) || len(s.topics) >= maxTopics {
		return
	}
	s.topics = append(s.topics, payload.Topic)
	b := s.trace.At(s.at, f.Run.ID)
	ref := card.Ref{ID: s.newID(card.System, ""), Kind: card.System}
	e := b.Add(ref, payload, &card.Hint{Summary: summary(payload.Summary), Icon: iconWarning})
	e.Envelope.Severity = card.Warn
	s.tell(e)
}
