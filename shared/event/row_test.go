package event_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
)

const runHex = "0123456789abcdef"

func envelope(payload string) event.Envelope {
	return event.Envelope{
		Version: event.Version, ID: "evt_0123456789abcdef0123", Seq: 42, Type: "run.agent.tool_call",
		Scope:   event.Scope{ConversationID: "sess_1", ThreadID: "t", RunID: "run_" + runHex, EdgeID: "edge_1"},
		TraceID: "trace_" + strings.Repeat("ab", 16), SpanID: strings.Repeat("cd", 8),
		SentAt:  time.Date(2026, 5, 22, 12, 0, 0, 123456000, time.UTC),
		Payload: json.RawMessage(payload),
	}
}

func TestRowsKeepPayloadBytes(t *testing.T) {
	// What encoding/json would rewrite: markup, line separators, number spellings, NUL escapes, spaces, key order, repeated keys.
	payload := "{ \"b\":\"<&>\\u003c\u2028\u2029\", \"n\":[1.0,1e400,-0,0.10e+5], \"z\":\"\\u0000\\/\", \"a\":1, \"a\":2, \"😀\":\"\\ud83d\\ude00\" }"
	row, err := event.AppendRow(nil, envelope(payload))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/row.json", row)
	if got, err := event.ParseRow(row); err != nil || string(got.Payload) != payload || !reflect.DeepEqual(got, envelope(payload)) {
		t.Errorf("read back %+v, %v", got, err)
	}
	spaced := strings.Replace(string(row), `"payload":`, `"payload" : `+"\n\t", 1)
	if got, err := event.ParseRow([]byte(spaced)); err != nil || string(got.Payload) != payload {
		t.Errorf("with spaces around: %q, %v", got.Payload, err)
	}
}

func TestPayloadDoesNotAliasTheRow(t *testing.T) {
	row, err := event.AppendRow(nil, envelope(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := event.ParseRow(row)
	if err != nil {
		t.Fatal(err)
	}
	clear(row)
	if string(got.Payload) != `{"a":1}` {
		t.Errorf("payload changed to %q", got.Payload)
	}
}

func TestRowsOfNewerEdgesAreReadable(t *testing.T) {
	row := `{"newer":{"x":[1]},"version":"v1","id":"evt_0123456789abcdef0123","seq":1,"type":"vendor.new-thing","scope":{"runId":"run_x","planet":"mars"},"sentAt":"2026-05-22T12:00:00Z","payload":{"unknown":true}}`
	got, err := event.ParseRow([]byte(row))
	if err != nil || got.Type != "vendor.new-thing" || string(got.Payload) != `{"unknown":true}` {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestMalformedRowsAreRefused(t *testing.T) {
	good, err := event.AppendRow(nil, envelope(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, with string) string {
		changed := strings.Replace(string(good), old, with, 1)
		if changed == string(good) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return changed
	}
	for name, row := range map[string]string{
		"empty":               "",
		"no JSON":             "nope",
		"cut short":           string(good[:len(good)-1]),
		"two values":          string(good) + "{}",
		"an array":            "[]",
		"another version":     change(`"v1"`, `"v2"`),
		"no version":          change(`"version":"v1",`, ``),
		"another id":          change(`"evt_`, `"run_`),
		"no seq":              change(`"seq":42,`, ``),
		"seq zero":            change(`"seq":42`, `"seq":0`),
		"negative seq":        change(`"seq":42`, `"seq":-1`),
		"seq with fraction":   change(`"seq":42`, `"seq":1.5`),
		"no type":             change(`"type":"run.agent.tool_call",`, ``),
		"type with a space":   change(`run.agent.tool_call`, `run agent`),
		"scope of other kind": change(`"scope":{`, `"scope":[],"x":{`),
		"no time":             change(`"sentAt":"2026-05-22T12:00:00.123456Z",`, ``),
		"time in words":       change(`2026-05-22T12:00:00.123456Z`, `noon`),
		"payload null":        change(`"payload":{}`, `"payload":null`),
		"payload array":       change(`"payload":{}`, `"payload":[]`),
		"no payload":          change(`,"payload":{}`, ``),
		"trace unprefixed":    change(`trace_ab`, `abababab`),
		"trace all zero":      change(strings.Repeat("ab", 16), strings.Repeat("0", 32)),
		"trace too short":     change(strings.Repeat("ab", 16), "abab"),
		"span too short":      change(strings.Repeat("cd", 8), "cd"),
		"span without trace":  change(`"traceId":"trace_`+strings.Repeat("ab", 16)+`",`, ``),
		"not UTF-8":           change(`{}`, "{\"a\":\"\xff\"}"),
		"too deep":            change(`{}`, `{"a":`+strings.Repeat("[", 31)+strings.Repeat("]", 31)+`}`),
		"too large":           change(`{}`, `{"a":"`+strings.Repeat("x", event.MaxRowBytes)+`"}`),
	} {
		if _, err := event.ParseRow([]byte(row)); !errors.Is(err, event.ErrRow) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := event.ParseRow([]byte(change(`{}`, `{"a":`+strings.Repeat("[", 30)+strings.Repeat("]", 30)+`}`))); err != nil {
		t.Errorf("the deepest row allowed: %v", err)
	}
}

func TestWhatIsNoRowIsNotWritten(t *testing.T) {
	for name, spoil := range map[string]func(*event.Envelope){
		"no version":    func(e *event.Envelope) { e.Version = "" },
		"payload cut":   func(e *event.Envelope) { e.Payload = e.Payload[:2] },
		"payload empty": func(e *event.Envelope) { e.Payload = nil },
		"two payloads":  func(e *event.Envelope) { e.Payload = json.RawMessage(`{},"seq":{}`) },
		"too large": func(e *event.Envelope) {
			e.Payload = json.RawMessage(`{"a":"` + strings.Repeat("x", event.MaxRowBytes) + `"}`)
		},
	} {
		e := envelope(`{"a":1}`)
		spoil(&e)
		before := []byte("kept")
		got, err := event.AppendRow(before, e)
		if !errors.Is(err, event.ErrRow) || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if tooLarge := errors.Is(err, event.ErrRowTooLarge); tooLarge != (name == "too large") {
			t.Errorf("%s: too large: %v", name, tooLarge)
		}
	}
}

func TestRowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := event.Encode(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
		if err != nil {
			t.Fatal(err)
		}
		e := envelope(string(text))
		e.Seq = rapid.Uint64Min(1).Draw(t, "seq")
		e.Scope.ThreadID = strings.ToValidUTF8(rapid.String().Draw(t, "thread"), "?")
		e.SentAt = time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "time")).UTC()
		row, err := event.AppendRow(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := event.ParseRow(row); err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
}

// FuzzParseRow: whatever is read can be written, and reads the same again with the same payload bytes.
func FuzzParseRow(f *testing.F) {
	sample, err := os.ReadFile("testdata/row.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	for _, seed := range []string{`{}`, `null`, `{"payload":{}}`, `{"VERSION":"v1"}`, "\ufeff{}", fmt.Sprintf(`{"seq":%d}`, uint64(1)<<63)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := event.ParseRow(data)
		if err != nil {
			if !errors.Is(err, event.ErrRow) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		row, err := event.AppendRow(nil, e)
		if errors.Is(err, event.ErrRowTooLarge) {
			return // our spelling of the head may be longer than theirs
		}
		if err != nil {
			t.Fatalf("read but not writable: %v", err)
		}
		again, err := event.ParseRow(row)
		if err != nil || string(again.Payload) != string(e.Payload) || again.Seq != e.Seq || again.Type != e.Type {
			t.Fatalf("%+v became %+v, %v", e, again, err)
		}
	})
}
