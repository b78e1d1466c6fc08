package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

var update = flag.Bool("update", false, "write golden files again")

// messages has one of each control message, every optional key set.
func messages() map[string]any {
	at := time.Date(2026, 5, 22, 12, 0, 0, 0, time.UTC)
	receipt := wire.CommitReceipt{
		Incarnation: "0123456789abcdef", Seq: 42, Chain: wire.Chain{}.Next([]byte("row")), Epoch: "fedcba9876543210", Signature: "00ff",
	}
	return map[string]any{
		"hello": wire.Hello{
			Protocol: wire.Protocol, Incarnation: "0123456789abcdef", BootNonce: "0011223344556677", Floor: 7, FloorChain: receipt.Chain, Head: 43,
			Committed: &receipt, Version: "v1.0.0", Hostname: "mac", LiveRuns: []id.Run{"run_0123456789abcdef"}, Shows: true, Controls: true,
			Profiles: []wire.Profile{{Name: "scout", Runtime: "events", Description: "reads history", Controls: wire.Controls()}, {Name: "chat", Runtime: "bridge"}},
		},
		"capabilities": wire.Capabilities{Profiles: []wire.Profile{{Name: "scout", Runtime: "events", Description: "reads history"}}},
		"welcome": wire.Welcome{
			Incarnation: "0123456789abcdef", Watermark: 42, Chain: receipt.Chain, Credit: 1 << 20, Generation: 3, Epoch: "fedcba9876543210",
			MaxFrame: wire.DefaultFrame,
		},
		"committed": wire.CommittedTo{Receipt: receipt, Credit: 1 << 20},
		"rewind":    wire.Rewind{Generation: 4, From: 43},
		"refused":   wire.Refused{Code: wire.NeedBlob, Detail: strings.Repeat("0a", 32), Retry: true},
		"show":      wire.Show{Runs: []id.Run{"run_0123456789abcdef"}},
		"shown": wire.Shown{RunID: "run_0123456789abcdef", Command: &wire.Command{
			DeliveryID: "dlv_1", Kind: wire.Start, RunID: "run_0123456789abcdef", Lease: 2, Body: json.RawMessage(`{}`), Signature: "00ff",
		}},
		"ping":         wire.Ping{Nonce: 1 << 63},
		"pong":         wire.Pong{Nonce: 1 << 63},
		"cancel_order": wire.CancelOrder{RequestedBy: "user_1", RequestedAt: at},
		"command": wire.Command{
			DeliveryID: "dlv_1", Kind: wire.Start, RunID: "run_0123456789abcdef", Lease: 2, Body: json.RawMessage(`{"prompt":"hi","n":1.0}`), Signature: "00ff",
		},
		"dispatch": wire.Dispatch{
			TaskID: "run_0123456789abcdef", SessionID: "sess_1", AgentID: "agent_1", AgentName: "scout", Profile: "scout", Runtime: "events",
			Prompt: "what changed?", SessionName: "demo", TriggerID: "msg_1", TriggerUserID: "user_1", TraceID: strings.Repeat("ab", 16), CreatedAt: at,
		},
		"dispatch_continues": wire.Dispatch{
			TaskID: "run_0123456789abcdef", SessionID: "sess_1", AgentID: "agent_1", AgentName: "scout", Profile: "scout", Runtime: "bridge",
			TriggerUserID: "user_1", TraceID: strings.Repeat("ab", 16), CreatedAt: at,
			Attachments: []wire.Attachment{
				{Kind: "image", URL: "https://example.org/a.png?b=1&c=2", Filename: "a.png", MIMEType: "image/png", Size: 3}, {Kind: "other", URL: "data:,x"},
			},
			Manner: wire.Manner{CoordinatorMode: "plan", PlanConfirmation: "required"},
			Continues: &wire.Continues{
				RunID: "run_fedcba9876543210", RequestID: "req_1", Decision: event.Deny,
				Grants: []wire.Grant{{RequestID: "req_2", Digest: strings.Repeat("0a", 32), UpdatedInput: json.RawMessage(`{"n":1.0}`)}},
			},
		},
		"dispatch_compact": wire.Dispatch{
			TaskID: "run_0123456789abcdef", SessionID: "sess_1", AgentID: "agent_1", AgentName: "chat", Profile: "chat", Runtime: "events",
			TriggerUserID: "user_1", TraceID: strings.Repeat("ab", 16), CreatedAt: at, ApprovalMode: wire.AllowReadonly, Compact: true, ThinkingLevel: "high",
		},
		"control_steer":    wire.ControlOrder{What: wire.ControlSteer, SteerID: "steer_0123456789abcdef", Text: "a < b first"},
		"control_approval": wire.ControlOrder{What: wire.ControlApprovalMode, Mode: wire.AlwaysAsk},
		"answer": wire.Answer{
			RequestID: "req_1", Decision: event.Allow, Reason: "Fine.", UpdatedInput: json.RawMessage(`{"command":"ls"}`),
			Digest: strings.Repeat("0a", 32), UserID: "user_1",
		},
		"receipt": wire.CommandReceipt{
			DeliveryID: "dlv_1", RunID: "run_0123456789abcdef", Status: wire.Rejected, Code: fault.Busy, Detail: "The disk is nearly full.",
		},
	}
}

// TestMessageBytes: hub and edge are upgraded in any order, so a key that changes its name is a break.
func TestMessageBytes(t *testing.T) {
	for name, message := range messages() {
		got, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s (%v)\n got %s\nwant %s", name, err, got, want)
		}
	}
}

func TestMessagesAreReadAndNewKeysIgnored(t *testing.T) {
	read := func(t *testing.T, name string, decode func([]byte) (any, error)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		extended := append([]byte(`{"added_later":{"x":[1]},`), data[1:]...)
		if got, err := decode(extended); err != nil || !reflect.DeepEqual(got, messages()[name]) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	read(t, "hello", func(b []byte) (any, error) { return wire.Decode[wire.Hello](b) })
	read(t, "capabilities", func(b []byte) (any, error) { return wire.Decode[wire.Capabilities](b) })
	read(t, "welcome", func(b []byte) (any, error) { return wire.Decode[wire.Welcome](b) })
	read(t, "committed", func(b []byte) (any, error) { return wire.Decode[wire.CommittedTo](b) })
	read(t, "rewind", func(b []byte) (any, error) { return wire.Decode[wire.Rewind](b) })
	read(t, "refused", func(b []byte) (any, error) { return wire.Decode[wire.Refused](b) })
	read(t, "ping", func(b []byte) (any, error) { return wire.Decode[wire.Ping](b) })
	read(t, "pong", func(b []byte) (any, error) { return wire.Decode[wire.Pong](b) })
	read(t, "command", func(b []byte) (any, error) { return wire.Decode[wire.Command](b) })
	read(t, "dispatch", func(b []byte) (any, error) { return wire.Decode[wire.Dispatch](b) })
	read(t, "dispatch_continues", func(b []byte) (any, error) { return wire.Decode[wire.Dispatch](b) })
	read(t, "dispatch_compact", func(b []byte) (any, error) { return wire.Decode[wire.Dispatch](b) })
	read(t, "control_steer", func(b []byte) (any, error) { return wire.Decode[wire.ControlOrder](b) })
	read(t, "control_approval", func(b []byte) (any, error) { return wire.Decode[wire.ControlOrder](b) })
	read(t, "answer", func(b []byte) (any, error) { return wire.Decode[wire.Answer](b) })
	read(t, "cancel_order", func(b []byte) (any, error) { return wire.Decode[wire.CancelOrder](b) })
	read(t, "receipt", func(b []byte) (any, error) { return wire.Decode[wire.CommandReceipt](b) })
}

func TestCommandKeepsTheBytesThatAreSigned(t *testing.T) {
	body, err := json.Marshal(wire.Dispatch{Prompt: "a <b> & \u2028 \x00 \xff €"})
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(wire.Command{Body: body})
	if err != nil {
		t.Fatal(err)
	}
	again, err := wire.Decode[wire.Command](line)
	if err != nil || !bytes.Equal(again.Body, body) {
		t.Errorf("%s became %s, %v", body, again.Body, err)
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":     "",
		"no JSON":     "hello",
		"two values":  `{} {}`,
		"array":       `[]`,
		"other types": `{"protocol":"one"}`,
		"bad chain":   `{"committed":{"chain":"00"}}`,
		"negative":    `{"head":-1}`,
		"too deep":    `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"too large":   `{"x":"` + strings.Repeat("x", wire.MaxControlSize) + `"}`,
	} {
		if got, err := wire.Decode[wire.Hello]([]byte(data)); !errors.Is(err, wire.ErrMessage) || !reflect.DeepEqual(got, wire.Hello{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for name := range messages() {
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		roundTrip[wire.Hello](t, data)
		roundTrip[wire.Capabilities](t, data)
		roundTrip[wire.Welcome](t, data)
		roundTrip[wire.CommittedTo](t, data)
		roundTrip[wire.Command](t, data)
		roundTrip[wire.Dispatch](t, data)
		roundTrip[wire.Answer](t, data)
		roundTrip[wire.CommandReceipt](t, data)
	})
}

// roundTrip: what was read can be written, and reads the same again.
func roundTrip[M any](t *testing.T, data []byte) {
	t.Helper()
	m, err := wire.Decode[M](data)
	if err != nil {
		return
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatalf("read but not writable: %v", err)
	}
	again, err := wire.Decode[M](text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(second, text) {
		t.Fatalf("%s became %s, %v", text, second, err)
	}
}
