package run_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// counters hand out predictable ids: msg_1, msg_2, … and call_1, call_2, …
type counters struct{ messages, calls int }

func (c *counters) options() run.Options {
	return run.Options{
		NewMessageID:  func() id.Message { c.messages++; return id.Message(fmt.Sprint("msg_", c.messages)) },
		NewToolCallID: func() string { c.calls++; return fmt.Sprint("call_", c.calls) },
	}
}

// fatal is what both *testing.T and *rapid.T can do.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// play starts a run and feeds it events.
func play(events ...run.AgentEvent) []run.Candidate {
	n := run.New((&counters{}).options())
	out := n.Start("", time.Unix(0, 0))
	for _, e := range events {
		out = append(out, n.Step(e)...)
	}
	return out
}

// rows gives candidates the envelopes that an edge would write.
func rows(t fatal, candidates []run.Candidate) []event.Envelope {
	t.Helper()
	var out []event.Envelope
	for i, c := range candidates {
		payload, err := c.Encode()
		if err != nil {
			t.Fatalf("encode %s: %v", c.Type, err)
		}
		envelope := event.Envelope{
			Version: event.Version, ID: "evt_0123456789abcdef0123", Seq: uint64(i + 1), Type: event.Wire(c.Type),
			SentAt: time.Unix(1, 0).UTC(), Payload: payload,
		}
		row, err := event.AppendRow(nil, envelope)
		if err != nil {
			t.Fatalf("row of %s: %v", c.Type, err)
		}
		if envelope, err = event.ParseRow(row); err != nil {
			t.Fatalf("parse row of %s: %v", c.Type, err)
		}
		out = append(out, envelope)
	}
	return out
}

// lines renders candidates for comparison.
func lines(t fatal, candidates []run.Candidate) []string {
	t.Helper()
	var out []string
	for _, c := range candidates {
		payload, err := c.Encode()
		if err != nil {
			t.Fatalf("encode %s: %v", c.Type, err)
		}
		out = append(out, string(c.Type)+" "+string(payload))
	}
	return out
}

func types(candidates []run.Candidate) []event.Type {
	var out []event.Type
	for _, c := range candidates {
		out = append(out, c.Type)
	}
	return out
}

// first returns the payload of the first candidate of a type.
func first[P any](t *testing.T, candidates []run.Candidate, kind event.Type) P {
	t.Helper()
	for _, c := range candidates {
		if c.Type == kind {
			return c.Payload.(P)
		}
	}
	t.Fatalf("no %s in %v", kind, types(candidates))
	return *new(P)
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
