package bridge_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

func TestTurnLine(t *testing.T) {
	for _, c := range []struct {
		name string
		turn bridge.Turn
		want string
	}{
		{"new session", bridge.Turn{Message: "hi <b>"},
			`{"type":"turn","message":"hi <b>","session_id":"","session_name":"default","protocol_version":"0.4"}`},
		{"everything", bridge.Turn{
			Message: "a\nb", SessionID: "s", SessionName: "demo", Permission: true,
			Attachments: []bridge.Attachment{{Kind: "image", URL: "https://x/a.png", Filename: "a.png", MIMEType: "image/png", Size: 3}}},
			`{"type":"turn","message":"a\nb","session_id":"s","session_name":"demo","attachments":[{"kind":"image",` +
				`"url":"https://x/a.png","filename":"a.png","mime_type":"image/png","size":3}],"permission":true,"protocol_version":"0.4"}`},
		{"a manner", bridge.Turn{Message: "hi", Permission: true, CoordinatorMode: "plan", PlanConfirmation: "required"},
			`{"type":"turn","message":"hi","session_id":"","session_name":"default","permission":true,"coordinator_mode":"plan",` +
				`"plan_confirmation":"required","protocol_version":"0.4"}`},
		{"a shorter context alone is something to do", bridge.Turn{SessionID: "s", Compact: true, ThinkingLevel: "high"},
			`{"type":"turn","message":"","session_id":"s","session_name":"default","compact":true,"thinking_level":"high","protocol_version":"0.4"}`},
		{"an attachment alone is content", bridge.Turn{Attachments: []bridge.Attachment{{Kind: "file", URL: "file:///a"}}},
			`{"type":"turn","message":"","session_id":"","session_name":"default","attachments":[{"kind":"file","url":"file:///a"}],` +
				`"protocol_version":"0.4"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.turn.Encode()
			if err != nil || string(got) != c.want+"\n" {
				t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestEmptyTurnIsNotSentNorRead(t *testing.T) {
	if line, err := (bridge.Turn{SessionID: "s"}).Encode(); !errors.Is(err, bridge.ErrEmptyTurn) {
		t.Errorf("encoded %q, %v", line, err)
	}
	if _, err := bridge.ParseTurn([]byte(`{"type":"turn","message":"","session_id":""}`)); !errors.Is(err, bridge.ErrEmptyTurn) {
		t.Errorf("error %v", err)
	}
}

func TestAgentsReadTurnsOfAnyVersion(t *testing.T) {
	got, err := bridge.ParseTurn([]byte(`{"type":"turn","message":"x","session_id":"s","protocol_version":"9","new":[1]}`))
	if want := (bridge.Turn{Message: "x", SessionID: "s", SessionName: "default"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{``, `x`, `[]`, `{}`, `{"type":"partial","message":"x"}`, `{"type":"turn","message":1}`} {
		if got, err := bridge.ParseTurn([]byte(bad)); !errors.Is(err, bridge.ErrTurn) {
			t.Errorf("%s: %+v, %v", bad, got, err)
		}
	}
}

func TestTurnsRoundTripInOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := bridge.Turn{
			Message: rapid.StringN(1, -1, -1).Draw(t, "message"), SessionID: rapid.String().Draw(t, "id"),
			SessionName: rapid.StringN(1, -1, -1).Draw(t, "name"), Permission: rapid.Bool().Draw(t, "permission"),
			CoordinatorMode: rapid.SampledFrom([]string{"", "react", "plan"}).Draw(t, "mode"),
		}
		line, err := turn.Encode()
		if err != nil || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("%q, %v", line, err)
		}
		if got, err := bridge.ParseTurn(line); err != nil || !reflect.DeepEqual(got, turn) {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
}

func FuzzParseTurn(f *testing.F) {
	f.Add([]byte(`{"type":"turn","message":"x","session_id":"","protocol_version":"0.4"}`))
	f.Add([]byte(`{"type":"turn","attachments":[{"kind":"image","url":"data:,"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		turn, err := bridge.ParseTurn(data)
		if err != nil {
			return
		}
		line, err := turn.Encode()
		if err != nil {
			t.Fatalf("read but not writable: %v", err)
		}
		if again, err := bridge.ParseTurn(line); err != nil || !reflect.DeepEqual(again, turn) {
			t.Fatalf("%+v became %+v, %v", turn, again, err)
		}
	})
}

func TestPermissionResponseLine(t *testing.T) {
	for _, c := range []struct {
		response bridge.PermissionResponse
		want     string
	}{
		{bridge.PermissionResponse{RequestID: "1", Behavior: bridge.Allow}, `{"type":"permission_response","request_id":"1","behavior":"allow"}`},
		{bridge.PermissionResponse{RequestID: "1", Behavior: bridge.Allow, UpdatedInput: []byte(`{"a":1.0}`)},
			`{"type":"permission_response","request_id":"1","behavior":"allow","updated_input":{"a":1.0}}`},
		{bridge.PermissionResponse{RequestID: "1", Behavior: bridge.Deny, Message: "no"},
			`{"type":"permission_response","request_id":"1","behavior":"deny","message":"no"}`},
	} {
		if got, err := c.response.Encode(); err != nil || string(got) != c.want+"\n" {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}
