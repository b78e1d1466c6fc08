package frames

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

var header = Header{
	Run: "run_9f2c1b7ad0e44c55", Session: "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55",
	Agent: "agent_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
}

const (
	canceller = id.User("user_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
	edge      = id.Edge("edge_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55")
)

// committed is an event as it lies in the log.
func committed(seq runlog.EventSeq, t event.Type, payload string) runlog.StoredEvent {
	return runlog.StoredEvent{
		ID: "evt_0123456789abcdef0123", Run: header.Run, Seq: seq, Type: t, WireType: event.Wire(t), Edge: edge,
		OccurredAt: time.Unix(1, 0), RecordedAt: time.Date(2026, 9, 7, 10, 30, 0, 123456000, time.FixedZone("x", 3600)),
		Payload: json.RawMessage(payload),
	}
}

// The frames of each kind of event, byte for byte: clients and their stores depend on them.
func TestFramesAreStable(t *testing.T) {
	late := committed(9, event.MessageDelta, `{"message_id":"msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55","content_index":0,"delta":"after the end"}`)
	late.Late = true
	own := committed(3, event.RunCancelling, `{"requested_by":"user_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55","requested_at":"2026-09-07T09:30:00Z"}`)
	own.Edge = ""
	answered := committed(8, event.PromptAnswered, `{"request_id":"req_0123456789abcdef","decision":"allow","by":"person","user_id":"`+string(canceller)+`"}`)
	answered.Edge = ""
	for name, c := range map[string]struct {
		e  runlog.StoredEvent
		by id.User
	}{
		"asked":       {e: committed(7, event.PromptRequested, `{"request_id":"req_0123456789abcdef","kind":"permission","tool_name":"Bash","input":{"command":"ls <é>", "n":1.0},"agent_request_id":"1","digest":"0a","asks":"person"}`)},
		"answered":    {e: answered},
		"delta":       {e: committed(2, event.MessageDelta, `{"message_id":"msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55","content_index":0,"delta":"<b>\"é\"\n 你好 & so on</b>"}`)},
		"tool_result": {e: committed(4, event.ToolFailed, `{"tool_call_id":"c1","error":{"code":"agent_error","message":"no","retryable":false}}`)},
		"unknown":     {e: committed(5, "run.agent.of_tomorrow", `{"x":1.50}`)},
		"late":        {e: late},
		"hubs_own":    {e: own},
		"completed":   {e: committed(6, event.RunCompleted, `{"message_id":"msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"}`)},
		"failed":      {e: committed(6, event.RunFailed, `{"error":{"code":"agent_exited","message":"It ended with code 3.","retryable":true}}`)},
		"timeout":     {e: committed(6, event.RunFailed, `{"error":{"code":"timeout","message":"It took too long.","retryable":true}}`)},
		"interrupted": {e: committed(6, event.RunInterrupted, `{"reason_code":"process_lost"}`)},
		"cancelled":   {e: committed(6, event.RunCancelled, `{"external_stop_confirmed":true}`), by: canceller},
		"stopped":     {e: committed(6, event.RunCancelled, `{"external_stop_confirmed":true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := Stream(header, c.e)
			if err != nil {
				t.Fatal(err)
			}
			bodies := []delivery.Body{first}
			second, ended, err := Outcome(header, c.e, c.by)
			if err != nil {
				t.Fatal(err)
			}
			if ended {
				bodies = append(bodies, second)
			}
			compare(t, name, bodies)
		})
	}
}

func compare(t *testing.T, name string, bodies []delivery.Body) {
	t.Helper()
	api, err := apicontract.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for i, b := range bodies {
		raw := delivery.NewFrame(b, "").Append(nil, uint64(i)+1)
		if err := api.Frame(raw); err != nil {
			t.Error(err)
		}
		got = append(append(got, raw...), '\n')
	}
	path := filepath.Join("testdata", name+".ndjson")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("frames are\n%s, want\n%s", got, want)
	}
}

func TestStreamCarriesTheStoredBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, err := event.Encode(map[string]string{"delta": rapid.String().Draw(t, "text")})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Stream(header, committed(1, event.MessageDelta, string(payload)))
		if err != nil {
			t.Fatal(err)
		}
		var frame struct{ Payload string }
		if err := json.Unmarshal(b.Payload, &frame); err != nil {
			t.Fatal(err)
		}
		if frame.Payload != string(payload) {
			t.Errorf("payload came out as %q, stored is %q", frame.Payload, payload)
		}
	})
}

func TestOnlyTheFirstOutcomeIsOne(t *testing.T) {
	late := committed(9, event.RunCompleted, `{}`)
	late.Late = true
	for _, e := range []runlog.StoredEvent{late, committed(9, event.RunLateOutcome, `{"type":"run.failed","payload":{}}`)} {
		if b, ended, err := Outcome(header, e, ""); ended || err != nil {
			t.Errorf("%s gave %s, error %v", e.Type, b.Type, err)
		}
	}
}
