package conformance

import "context"

// asking plays a turn with permission on, in which stdin stays open.
func (c *checker) asking(ctx context.Context, a answering) (played, error) {
	turn := c.turn()
	turn.Permission = true
	return c.play(ctx, script{pieces: [][]byte{line(turn)}, asks: true, answers: a})
}

// playAllow comes first: an agent that does not start, or never asks, needs no other turn with permission.
func playAllow(ctx context.Context, c *checker) error {
	p, err := c.asking(ctx, allowing)
	switch {
	case err != nil:
		return err
	case p.timedOut && c.ledger.broken(permissionID):
		c.unasked = "not tried: what the agent asks cannot be answered"
	case p.driver.asked == 0 && p.timedOut:
		c.ledger.breach(turnOneLine, "%s, and asked for nothing", c.outcome(p))
		c.unasked = "not tried: the agent does not start while stdin is open"
	case p.driver.asked > 0:
		c.ledger.keep(turnOneLine)
		c.answered(permissionAllow, p)
	default:
		c.ledger.keep(turnOneLine)
	}
	return nil
}

// answered records how a turn ended in which something was asked and answered. A request whose id was used before has no answer.
func (c *checker) answered(rule RuleID, p played) {
	if p.driver.asked > 0 && !c.ledger.broken(permissionUnique) {
		c.ledger.check(rule, !p.timedOut && p.proper(), "%s", c.outcome(p))
	}
}

func playDeny(ctx context.Context, c *checker) error {
	p, err := c.asking(ctx, denying)
	if err == nil {
		c.answered(permissionDeny, p)
	}
	return err
}

func playUpdated(ctx context.Context, c *checker) error {
	p, err := c.asking(ctx, updating)
	if err == nil && p.driver.wanted > 0 {
		c.answered(permissionUpdated, p)
	}
	return err
}

func playOrder(ctx context.Context, c *checker) error {
	p, err := c.asking(ctx, reversing)
	if err == nil && p.driver.most > 1 {
		c.answered(permissionOrder, p)
	}
	return err
}

func playNoAnswer(ctx context.Context, c *checker) error {
	p, err := c.asking(ctx, forgetting)
	if err != nil || p.driver.asked == 0 {
		return err
	}
	c.ledger.check(permissionWaits, !p.driver.early, "it did not wait for an answer")
	if p.driver.eof {
		c.ledger.check(permissionEOF, !p.timedOut, "%s", c.outcome(p))
	}
	return nil
}
