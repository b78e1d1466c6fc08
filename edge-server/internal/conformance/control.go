package conformance

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (c *checker) takes(control string) bool {
	return c.Agent.Profile.Runtime == profile.Events && c.Agent.Profile.Takes(control)
}

// told plays a turn in which the agent is told something at once behind it, before it can have asked its model.
func (c *checker) told(ctx context.Context, turn bridge.Turn, controls ...agentline.Control) (played, error) {
	s := script{stays: c.takes(string(wire.ControlSteer)) || c.takes(string(wire.ControlRetryNow)) || c.takes(string(wire.ControlCompact))}
	all := [][]byte{line(turn)}
	for _, control := range controls {
		encoded, err := control.Encode()
		if err != nil {
			return played{}, err
		}
		s.steer = control.SteerID
		all = append(all, encoded)
	}
	s.pieces = [][]byte{bytes.Join(all, nil)}
	return c.play(ctx, s)
}

// goesOn plays a turn in which the agent is told something, and wants it to end.
func (c *checker) goesOn(ctx context.Context, control agentline.Control) (played, error) {
	p, err := c.told(ctx, c.turn(), control)
	if err == nil {
		c.ledger.check(controlGoesOn, !p.timedOut && p.proper(), "%s, and was told %s", c.outcome(p), control.Type)
	}
	return p, err
}

func playSteer(ctx context.Context, c *checker) error {
	if !c.takes(string(wire.ControlSteer)) {
		return nil
	}
	p, err := c.goesOn(ctx, agentline.Control{Type: agentline.Steer, SteerID: id.NewSteer(), Text: "The check says: be brief."})
	if err == nil && p.ok {
		c.ledger.check(steerTaken, p.taken, "the turn ended well, and nothing said that the agent had heard it")
	}
	return err
}

func playRetryNow(ctx context.Context, c *checker) error {
	if !c.takes(string(wire.ControlRetryNow)) {
		return nil
	}
	_, err := c.goesOn(ctx, agentline.Control{Type: agentline.RetryNow})
	return err
}

func playCompact(ctx context.Context, c *checker) error {
	if !c.takes(string(wire.ControlCompact)) {
		return nil
	}
	_, err := c.goesOn(ctx, agentline.Control{Type: agentline.Compact})
	return err
}

// playCompactTurn plays a turn that only compacts: in the session of the plain turn, if there is one.
func playCompactTurn(ctx context.Context, c *checker) error {
	if !c.takes(string(wire.ControlCompact)) {
		return nil
	}
	p, err := c.told(ctx, bridge.Turn{SessionID: c.plain.session, Compact: true})
	if err == nil {
		c.ledger.check(compactTurn, p.ok && !p.timedOut, "%s", c.outcome(p))
	}
	return err
}

func playThinking(ctx context.Context, c *checker) error {
	if !c.takes(wire.ThinkingLevels) {
		return nil
	}
	turn := c.turn()
	turn.ThinkingLevel = "low"
	p, err := c.told(ctx, turn)
	if err == nil {
		c.like(turnUnknownKeys, p, succeeds)
	}
	return err
}

// heard checks that the agent takes what was said to it, and takes it once.
func (e *eventsEar) heard(t event.Type, payload json.RawMessage) {
	var p event.SteerTakenPayload
	if t != event.SteerTaken || json.Unmarshal(payload, &p) != nil {
		return
	}
	e.ledger.check(steerKnown, p.SteerID == e.steer && e.steer != "", "%.80q was not said in the turn", p.SteerID)
	e.ledger.check(steerKnown, !e.taken || p.SteerID != e.steer, "%.80q is taken twice", p.SteerID)
	e.taken = e.taken || p.SteerID == e.steer
}

// compaction checks that one ends as it began, before the next begins.
func (e *eventsEar) compaction(t event.Type, payload json.RawMessage) {
	var p event.CompactionBeginPayload // an end has these too
	if t != event.CompactionBegin && t != event.CompactionEnd || json.Unmarshal(payload, &p) != nil {
		return
	}
	begun, open := e.compacts[p.AgentID]
	if t == event.CompactionBegin {
		e.ledger.check(compactionPairs, !open, "a compaction for %s begins before the one for %s has ended", p.Reason, begun.Reason)
		e.compacts[p.AgentID] = p
		return
	}
	e.ledger.check(compactionPairs, open && begun.Reason == p.Reason && begun.Mode == p.Mode, "a compaction for %s ends that has not begun", p.Reason)
	delete(e.compacts, p.AgentID)
}
