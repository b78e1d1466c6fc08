package story

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// hearing is a conversation with an agent that can be told everything while it works.
type hearing struct {
	*rig.Rig
	d       *rig.Device
	seen    *rig.Recorder
	session string
}

func newHearing(t *testing.T) *hearing {
	t.Helper()
	r := rig.New(t, rig.Options{})
	r.AddEdge("laptop", map[string]string{"worker": rig.Profile("events", r.Program("testagent"), "--scenes") + rig.Controlled})
	s := &hearing{Rig: r, d: r.Device("a", r.HubURL())}
	s.seen = s.d.Watch()
	s.session = s.d.Group("told", "worker")
	return s
}

// until waits for an event of a run whose payload holds a text.
func (s *hearing) until(run id.Run, kind event.Type, text string) {
	s.T.Helper()
	s.Eventually(string(kind)+" "+text, func() bool {
		return slices.ContainsFunc(s.d.Log(run), func(e client.RunEvent) bool {
			payload, err := json.Marshal(e.Payload)
			return err == nil && event.Type(e.EventType) == kind && strings.Contains(string(payload), text)
		})
	})
}

func (s *hearing) steer(text string) id.Steer {
	s.T.Helper()
	receipt, err := client.Decode[client.OmniSteerReceipt](s.d.API().SteerOmniTask(s.T.Context(), s.session,
		&client.SteerOmniTaskParams{IdempotencyKey: uuid.NewString()}, client.OmniSteerInput{Text: text}))
	if err != nil {
		s.T.Fatalf("steer: %v", err)
	}
	return id.Steer(receipt.SteerID)
}

// history is the conversation as OmniMessages, a line each.
func (s *hearing) history() string {
	s.T.Helper()
	page, err := client.Decode[client.OmniHistory](s.d.API().ListOmniMessages(s.T.Context(), s.session, &client.ListOmniMessagesParams{}))
	if err != nil {
		s.T.Fatalf("read the history: %v", err)
	}
	lines, err := json.Marshal(page.Messages)
	if err != nil {
		s.T.Fatalf("%v", err)
	}
	return string(lines)
}

// TestAnAgentAtWorkHearsWhatPeopleTellIt steers an agent, has it make its context shorter while it works and afterwards, and ends its wait, with the
// real programs and from the surface of S1.
func TestAnAgentAtWorkHearsWhatPeopleTellIt(t *testing.T) {
	t.Parallel()
	s := newHearing(t)
	ctx := t.Context()

	run := s.d.Run(s.session, "@worker Listen")
	s.until(run, event.MessageDone, "I am listening.")
	steer := s.steer("only Go")
	s.until(run, event.SteerTaken, string(steer))
	s.until(run, event.MessageDone, "You say: only Go")
	s.steer("Enough.")
	s.seen.UntilEnded(run)
	if text := s.history(); !strings.Contains(text, `[user_steering]\nonly Go`) || strings.Index(text, "only Go") > strings.Index(text, "You say: only Go") {
		t.Errorf("the history is\n%s", text)
	}

	compacted, err := client.Decode[client.OmniCompactReceipt](s.d.API().CompactOmniSession(ctx, s.session))
	if err != nil {
		t.Fatalf("compact: %v", err)
	}
	s.seen.UntilEnded(id.Run(compacted.RunID))
	s.until(id.Run(compacted.RunID), event.CompactionEnd, "completed")

	patient := s.d.Run(s.session, "@worker Be patient")
	s.until(patient, event.RequestEnd, "retry_in_ms")
	s.Eventually("a wait that can be ended", func() bool {
		receipt, err := client.Decode[client.OmniRetryReceipt](s.d.API().RetryOmniNow(ctx, s.session))
		return err == nil && receipt.Skipped
	})
	s.seen.UntilEnded(patient)
	s.until(patient, event.RequestEnd, "completed")
	if text := s.history(); !strings.Contains(text, `[context_summary]\nThey talked.`) {
		t.Errorf("the history is\n%s", text)
	}
}
