package cards

import (
	"strings"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// compactionBegin tells what the agent is at: there is nothing to show yet.
func (s *State) compactionBegin(f Fact) {
	if p, ok := read[event.CompactionBeginPayload](f); ok {
		s.beat(s.in(s.of(f.Run), p.AgentID).card, card.HeartbeatTick{Stage: "compacting"})
	}
}

// compactionEnd is a card as that of a compaction of which only the end is told, or a note about one that came to nothing.
func (s *State) compactionEnd(f Fact) {
	p, ok := read[event.CompactionEndPayload](f)
	switch {
	case !ok:
	case p.Status == event.RequestCompleted:
		s.remembered(f, p.AgentID, card.MemoryOpPayload{Op: opCompact, Subject: string(p.Reason)})
	default:
		said := s.words("压缩上下文失败", "The context could not be made smaller")
		if p.ErrorMessage != "" {
			said += ": " + p.ErrorMessage
		}
		s.note(s.in(s.of(f.Run), p.AgentID).card, said, card.Warn)
	}
}

// toolServers tells of servers that were not reached: the agent goes on without their tools.
func (s *State) toolServers(f Fact) {
	p, ok := read[event.MCPConnectEndPayload](f)
	if !ok {
		return
	}
	var away []string
	for _, r := range p.Results {
		if r.Status != event.RequestCompleted {
			away = append(away, strings.TrimSuffix(r.Server+": "+r.Error, ": "))
		}
	}
	if len(away) > 0 {
		said := s.words("有工具服务器没有连上", "Tool servers were not reached")
		s.note(s.in(s.of(f.Run), p.AgentID).card, said+": "+strings.Join(away, "; "), card.Warn)
	}
}
