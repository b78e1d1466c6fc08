package main

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// endOfListening is the steer with which the scene ends.
const endOfListening = "Enough."

// listening takes what the person says to it while it works, until that is enough, and makes its context shorter when it is told to.
func (s *stage) listening() error {
	if err := s.say("I am listening."); err != nil {
		return err
	}
	for {
		c, err := s.told()
		if err != nil {
			return err
		}
		switch c.Type {
		case agentline.Steer:
			s.out.Fact(event.SteerTaken, event.SteerTakenPayload{SteerID: c.SteerID})
			if err := s.say("You say: " + c.Text); err != nil || c.Text == endOfListening {
				return err
			}
		case agentline.Compact:
			if err := s.compact(); err != nil {
				return err
			}
		}
	}
}

// patience has a request that is made again only after a day, unless the person will not wait.
func (s *stage) patience() error {
	const day = 24 * time.Hour
	s.out.Fact(event.RequestBegin, event.RequestBeginPayload{RequestID: "req-1", Attempt: 1})
	s.out.Fact(event.RequestEnd, event.RequestEndPayload{
		RequestID: "req-1", Status: event.RequestTimeout, ErrorMessage: "No answer.", Attempt: 1, RetryInMS: new(day.Milliseconds()),
	})
	for {
		c, err := s.told()
		if err != nil {
			return err
		}
		if c.Type == agentline.RetryNow {
			break
		}
	}
	s.out.Fact(event.RequestBegin, event.RequestBeginPayload{RequestID: "req-2", Attempt: 2})
	if err := s.say("That went well."); err != nil {
		return err
	}
	s.out.Fact(event.RequestEnd, event.RequestEndPayload{RequestID: "req-2", Status: event.RequestCompleted, Attempt: 2})
	return nil
}

// compact says a summary in place of what was before it.
func (s *stage) compact() error {
	s.out.Fact(event.CompactionBegin, event.CompactionBeginPayload{
		Reason: event.CompactedByHand, Mode: event.CompactionSummarize, Context: 1000, Turns: 2,
	})
	if err := s.say("They talked."); err != nil {
		return err
	}
	s.out.Fact(event.CompactionEnd, event.CompactionEndPayload{
		Reason: event.CompactedByHand, Mode: event.CompactionSummarize, Status: event.RequestCompleted,
	})
	return nil
}

// told waits for something that the agent is told while it works.
func (s *stage) told() (agentline.Control, error) {
	line, err := s.hear()
	if err != nil {
		return agentline.Control{}, err
	}
	c, err := agentline.ParseControl(line)
	if err != nil {
		return c, fmt.Errorf("listen: %w", err)
	}
	return c, nil
}
