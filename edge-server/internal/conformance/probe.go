package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// probe is a turn that tries to show a breach.
type probe struct {
	name string
	asks bool // it needs permission
	play func(ctx context.Context, c *checker) error
}

// probes are in the order in which they are played: the plain turn first, because the others are compared with it.
func probes() []probe {
	return []probe{
		{"plain", false, playPlain}, {"resumed", false, playResumed}, {"unknown session", false, playUnknownSession},
		{"pieces", false, playPieces}, {"unknown keys", false, playUnknownKeys}, {"version", false, playVersion}, {"unicode", false, playUnicode},
		{"large", false, playLarge}, {"attachments", false, playAttachments}, {"no turn", false, playNone},
		{"stop while it waits", false, playStopWaiting}, {"stop while it speaks", false, playStopSpeaking},
		{"allow", true, playAllow}, {"deny", true, playDeny}, {"updated input", true, playUpdated}, {"order", true, playOrder},
		{"no answer", true, playNoAnswer}, {"tool of a client", true, playTool}, {"tool of a client fails", true, playToolFails},
		{"steer", false, playSteer}, {"retry now", false, playRetryNow}, {"compact", false, playCompact},
		{"compact alone", false, playCompactTurn}, {"thinking level", false, playThinking},
	}
}

// ProbeNames are what Options.Skip may name.
func ProbeNames() []string {
	var names []string
	for _, p := range probes() {
		names = append(names, p.name)
	}
	return names
}

func (c *checker) turn() bridge.Turn { return bridge.Turn{Message: c.Message} }

// simple plays one line and the end of stdin.
func (c *checker) simple(ctx context.Context, turn []byte, session string) (played, error) {
	return c.play(ctx, script{pieces: [][]byte{turn}, sessionID: session})
}

// outcome says in words how a turn ended.
func (c *checker) outcome(p played) string {
	if p.timedOut {
		return fmt.Sprintf("it was still running after %s", c.Timeout)
	}
	return p.why
}

func playPlain(ctx context.Context, c *checker) error {
	p, err := c.simple(ctx, line(c.turn()), "")
	if err != nil {
		return err
	}
	c.plain = p
	if p.timedOut {
		c.ledger.breach(turnEnds, "%s", c.outcome(p))
		c.hopeless = "not tried: the plain turn does not end"
		return nil
	}
	c.ledger.keep(turnEnds)
	c.ledger.check(turnAnswers, p.ok, "%s", p.why)
	if p.exit.Code != 0 {
		c.ledger.check(exitSaysWhy, p.errored, "exit code %d without an error event", p.exit.Code)
	}
	return nil
}

func playResumed(ctx context.Context, c *checker) error {
	session := c.plain.session
	if session == "" {
		return nil // stateless
	}
	turn := c.turn()
	turn.SessionID = session
	p, err := c.simple(ctx, line(turn), session)
	if err != nil {
		return err
	}
	c.ledger.check(sessionResumes, p.ok || !c.plain.ok, "session %.80q: %s", session, c.outcome(p))
	c.ledger.check(sessionResumes, p.session == "" || p.session == session, "session %.80q went on as %.80q", session, p.session)
	return nil
}

func playUnknownSession(ctx context.Context, c *checker) error {
	const session = "switchyard-check-no-such-session"
	turn := c.turn()
	turn.SessionID = session
	p, err := c.simple(ctx, line(turn), session)
	if err != nil {
		return err
	}
	c.like(sessionUnknown, p, played.proper)
	return nil
}

// like records whether a turn ended well; it says nothing about an agent whose plain turn does not.
func (c *checker) like(rule RuleID, p played, well func(played) bool) {
	if c.plain.ok {
		c.ledger.check(rule, !p.timedOut && well(p), "%s", c.outcome(p))
	}
}

func succeeds(p played) bool { return p.ok }

func (p played) proper() bool { return p.ended.proper() }

func playPieces(ctx context.Context, c *checker) error {
	p, err := c.play(ctx, script{pieces: inPieces(line(c.turn()))})
	if err == nil {
		c.like(turnPieces, p, succeeds)
	}
	return err
}

func playUnknownKeys(ctx context.Context, c *checker) error {
	later := map[string]any{"later": map[string]any{"nested": []int{1}}, "priority": 7, "Message": "not this one"}
	p, err := c.simple(ctx, with(line(c.turn()), later), "")
	if err == nil {
		c.like(turnUnknownKeys, p, succeeds)
	}
	return err
}

func playVersion(ctx context.Context, c *checker) error {
	p, err := c.simple(ctx, with(line(c.turn()), map[string]any{"protocol_version": "9.9"}), "")
	if err == nil {
		c.like(turnVersion, p, succeeds)
	}
	return err
}

func playUnicode(ctx context.Context, c *checker) error {
	const text = "“quoted” \"and\" \\ back\tslash,\nline two\r\n{\"message\":\"x\"} $HOME %s `id` 漢字 🚀 e\u0301 \u2028 \ufeff عربي"
	p, err := c.simple(ctx, line(bridge.Turn{Message: c.Message + "\n" + text}), "")
	if err == nil {
		c.like(turnUnicode, p, succeeds)
	}
	return err
}

func playLarge(ctx context.Context, c *checker) error {
	const size = 1 << 20
	p, err := c.simple(ctx, line(bridge.Turn{Message: c.Message + strings.Repeat(" large", size/len(" large"))}), "")
	if err == nil {
		c.like(turnLarge, p, played.proper)
	}
	return err
}

func playAttachments(ctx context.Context, c *checker) error {
	picture := bridge.Attachment{
		Kind: "image", URL: "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=", Filename: "dot.gif", MIMEType: "image/gif", Size: 26,
	}
	note := bridge.Attachment{Kind: "other", URL: "https://example.org/a%20note.txt"}
	p, err := c.simple(ctx, line(bridge.Turn{Attachments: slices.Concat([]bridge.Attachment{picture}, []bridge.Attachment{note})}), "")
	if err == nil {
		c.like(turnAttachments, p, played.proper)
	}
	return err
}

func playNone(ctx context.Context, c *checker) error {
	p, err := c.play(ctx, script{})
	if err == nil {
		c.ledger.check(turnNone, !p.timedOut, "%s", c.outcome(p))
	}
	return err
}

func playStopWaiting(ctx context.Context, c *checker) error {
	turn := line(c.turn())
	return c.playStop(ctx, script{pieces: [][]byte{turn[:len(turn)/2]}, stop: beforeTheTurn})
}

func playStopSpeaking(ctx context.Context, c *checker) error {
	return c.playStop(ctx, script{pieces: [][]byte{line(c.turn())}, stop: atTheFirstLine})
}

func (c *checker) playStop(ctx context.Context, s script) error {
	p, err := c.play(ctx, s)
	if err == nil && p.stopped {
		c.ledger.check(termEnds, !p.resisted, "it had to be killed after %s", c.Agent.Profile.Grace)
	}
	return err
}
