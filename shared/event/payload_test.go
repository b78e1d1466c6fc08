package event_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// examples has one payload of each event that our own producers write, with every optional key at least once.
func examples() map[string]any {
	at := time.Date(2026, 5, 22, 12, 0, 0, 123456000, time.UTC)
	sum := strings.Repeat("0a", 32)
	blob := &event.BlobRef{SHA256: sum, Size: 1 << 20}
	exit := 0
	failure := event.ErrorObj{Code: fault.AgentError, Message: "a < b & \"c\"", Retryable: true}
	all := map[string]any{
		"run.queued":                      event.RunQueuedPayload{Reason: "Two other runs come first."},
		"run.started":                     event.RunStartedPayload{StartedAt: at, WorkDir: "/home/u/w"},
		"run.started.bare":                event.RunStartedPayload{StartedAt: at},
		"run.output.batch":                event.OutputBatchPayload{Stream: "stderr", Lines: []string{"<one>", "two\u2028"}},
		"run.cancelling":                  event.RunCancellingPayload{RequestedBy: "user_1", RequestedAt: at},
		"run.cancelling.reason":           event.RunCancellingPayload{RequestedBy: "user_1", RequestedAt: at, Reason: "Wrong <branch>."},
		"run.completed":                   event.RunCompletedPayload{MessageID: "msg_1"},
		"run.completed.silent":            event.RunCompletedPayload{},
		"run.failed":                      event.RunFailedPayload{Error: failure},
		"run.failed.continued":            event.RunFailedPayload{Error: failure, ContinuedBy: "run_0123456789abcdef"},
		"run.cancelled":                   event.RunCancelledPayload{ExternalStopConfirmed: true},
		"run.interrupted":                 event.RunInterruptedPayload{ReasonCode: fault.ProcessLost},
		"run.late_outcome":                event.LateOutcomePayload{Type: event.RunCompleted, Payload: json.RawMessage(`{"message_id":"msg_1"}`)},
		"run.row_refused":                 event.RowRefusedPayload{ProducerSeq: 7, Code: fault.RowUnreadable},
		"run.log_gap":                     event.LogGapPayload{FromProducerSeq: 3, ToProducerSeq: 9},
		"message.started":                 event.MessageStartedPayload{MessageID: "msg_1", Role: "assistant"},
		"message.delta":                   event.DeltaPayload{MessageID: "msg_1", ContentIndex: 0, Delta: "<b>é\u0000"},
		"message.completed":               event.MessageCompletedPayload{MessageID: "msg_1", Content: "hi", ContentChecksum: sum},
		"message.completed.blob":          event.MessageCompletedPayload{MessageID: "msg_1", ContentBlob: blob, ContentChecksum: sum},
		"tool.call.started":               event.ToolStartedPayload{ToolCallID: "t1", ToolName: "read", Arguments: json.RawMessage(`{"n":1.0,"m":1e400}`)},
		"tool.call.started.blob":          event.ToolStartedPayload{ToolCallID: "t1", ToolName: "read", Arguments: json.RawMessage(`{}`), ArgumentsBlob: blob},
		"tool.call.completed":             event.ToolCompletedPayload{ToolCallID: "t1", Result: json.RawMessage(`"<"`), ResultChecksum: sum},
		"tool.call.completed.blob":        event.ToolCompletedPayload{ToolCallID: "t1", ResultBlob: blob, ResultChecksum: sum},
		"tool.call.completed.images":      event.ToolCompletedPayload{ToolCallID: "t1", Result: json.RawMessage(`""`), ResultChecksum: sum, Images: []string{"data:image/png;base64,aGk="}},
		"tool.call.completed.images.blob": event.ToolCompletedPayload{ToolCallID: "t1", Result: json.RawMessage(`""`), ResultChecksum: sum, ImagesBlob: blob},
		"run.agent.tool_output":           event.ToolOutputPayload{ToolCallID: "t1", Delta: "a < b\n", AgentID: "sub_z"},
		"tool.call.failed":                event.ToolFailedPayload{ToolCallID: "t1", Error: failure},
		"artifact.created":                event.ArtifactCreatedPayload{Type: "file", ArtifactID: "art_1", Filename: "report.md", ContentType: "text/markdown", Size: 12, Checksum: sum},
		"run.agent.thinking":              event.DeltaPayload{MessageID: "msg_1", ContentIndex: 1, Delta: "hm"},
		"run.agent.session_init":          event.SessionInitPayload{AgentSessionID: "cli-1"},
		"run.agent.session_init.whole": event.SessionInitPayload{
			AgentSessionID: "cli-1", Model: "tiny", Provider: "ollama", ModelContextWindow: json.RawMessage(`8192`), SystemPrompt: "Be <brief>.",
			Tools: json.RawMessage(`[{"name":"read","description":"Reads.","parameters":{"type":"object"}}]`), AgentState: "/home/u/.chat",
		},
		"run.agent.session_init.blobs":    event.SessionInitPayload{AgentSessionID: "cli-1", SystemPromptBlob: blob, ToolsBlob: blob},
		"run.agent.session_state_changed": event.SessionStatePayload{State: "planning"},
		"run.prompt.requested": event.PromptRequestedPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptPermission, ToolName: "Bash", Input: json.RawMessage(`{"command":"a < b","n":1.0}`),
			Description: "Compares.", ToolCallID: "toolu_1", AgentRequestID: "1", Digest: sum, Asks: event.Person,
		},
		"run.prompt.requested.blob": event.PromptRequestedPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptPermission, ToolName: "Write", Input: json.RawMessage(`{}`), InputBlob: blob,
			AgentRequestID: "2", Digest: sum, Asks: event.Policy,
		},
		"run.prompt.requested.question": event.PromptRequestedPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptQuestion, Inner: json.RawMessage(`{"question":"a < b?","options":[{"label":"yes"}]}`),
			AgentRequestID: "3", Digest: sum, Asks: event.Person, TimeoutMS: 60000,
		},
		"run.prompt.answered.question": event.PromptAnsweredPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptQuestion, Decision: event.Allow, By: event.Person, UserID: "user_1",
			Response: json.RawMessage(`{"selected_options":["yes"],"custom_text":"a < b"}`),
		},
		"run.prompt.answered": event.PromptAnsweredPayload{
			RequestID: "req_0123456789abcdef", Decision: event.Allow, By: event.Person, UserID: "user_1", DeviceID: "dev_1",
			Reason: "Fine.", UpdatedInput: json.RawMessage(`{"command":"ls"}`),
		},
		"run.prompt.answered.policy": event.PromptAnsweredPayload{
			RequestID: "req_0123456789abcdef", Decision: event.Deny, By: event.Policy, Policy: "deny-all", Reason: "Nothing is allowed.",
		},
		"run.prompt.expired":        event.PromptExpiredPayload{RequestID: "req_0123456789abcdef", Kind: event.PromptQuestion, Reason: event.ExpiredByLimit},
		"run.prompt.delivered":      event.PromptDeliveredPayload{RequestID: "req_0123456789abcdef", Decision: event.Allow},
		"run.process_ended":         event.ProcessEndedPayload{Reason: event.EndedAtTurnLimit, Code: fault.Timeout, Pending: []id.Request{"req_0123456789abcdef"}},
		"run.checkpoint":            json.RawMessage(`{"step":3,"note":"the plan stands"}`),
		"run.agent.session_metrics": json.RawMessage(`{"input_tokens":12,"context":0.25}`),
		"run.agent.result":          event.AgentResultPayload{Usage: json.RawMessage(`{"input_tokens":12}`), ExitCode: &exit},
	}
	maps.Copy(all, scopedExamples())
	maps.Copy(all, agentFactExamples())
	maps.Copy(all, clientToolExamples(sum))
	maps.Copy(all, fidelityExamples(sum))
	return all
}

func TestPayloadBytes(t *testing.T) {
	for name, payload := range examples() {
		got, err := event.Encode(payload)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, filepath.Join("testdata", "payload", name+".json"), got)
	}
	files, err := os.ReadDir(filepath.Join("testdata", "payload"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(examples()) {
		t.Errorf("%d files for %d examples", len(files), len(examples()))
	}
}

func TestEveryEventOfOursHasAnExample(t *testing.T) {
	for _, r := range event.Rows() {
		if _, ok := examples()[string(r.Stored)]; !ok && !r.Reserved {
			t.Errorf("%s has no example", r.Stored)
		}
	}
}

func TestPayloadsAreReadBackAndNewKeysIgnored(t *testing.T) {
	for name, payload := range examples() {
		if _, opaque := payload.(json.RawMessage); opaque {
			continue
		}
		encoded, err := event.Encode(payload)
		if err != nil {
			t.Fatal(err)
		}
		extended := append([]byte(`{"added_later":{"x":1}`), encoded[1:]...)
		if len(encoded) > len(`{}`) {
			extended = append([]byte(`{"added_later":{"x":1},`), encoded[1:]...)
		}
		back := reflect.New(reflect.TypeOf(payload))
		if err := json.Unmarshal(extended, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), payload) {
			t.Errorf("%s: read %+v, %v", name, back.Elem(), err)
		}
	}
}

// TestOurFieldsDoNotSoundLikeSecrets holds envelope and payload structs to S2's rule on key names (R19): what sounds like a secret is
// refused or masked elsewhere, so none of our own keys may.
func TestOurFieldsDoNotSoundLikeSecrets(t *testing.T) {
	shapes := []reflect.Type{reflect.TypeFor[event.Envelope]()}
	for _, payload := range examples() {
		shapes = append(shapes, reflect.TypeOf(payload))
	}
	for _, shape := range shapes {
		for _, key := range keysOf(shape) {
			if event.SecretKey(key) || strings.Contains(key, "credential") {
				t.Errorf("%s has key %s", shape, key)
			}
		}
	}
}

func keysOf(shape reflect.Type) []string {
	for shape.Kind() == reflect.Pointer || shape.Kind() == reflect.Slice {
		shape = shape.Elem()
	}
	if shape.Kind() != reflect.Struct || shape == reflect.TypeFor[time.Time]() {
		return nil
	}
	var keys []string
	for i := range shape.NumField() {
		if field := shape.Field(i); field.Anonymous {
			keys = append(keys, keysOf(field.Type)...)
			continue
		}
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		if kind := shape.Field(i).Type.Kind(); kind == reflect.Int64 { // it only counts, as the tokens of a budget
			continue
		}
		keys = append(append(keys, name), keysOf(shape.Field(i).Type)...)
	}
	return keys
}

func TestRawPayloadsAreFinal(t *testing.T) {
	const text = "{ \"a\":\"<\u2028\", \"n\":1.0 }"
	if got, err := event.Encode(json.RawMessage(text)); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []any{json.RawMessage(`{`), json.RawMessage(nil), func() {}, event.ToolStartedPayload{Arguments: json.RawMessage(`{`)}} {
		if got, err := event.Encode(bad); err == nil {
			t.Errorf("encoded %T as %q", bad, got)
		}
	}
	got, err := event.Encode(event.ToolStartedPayload{Arguments: json.RawMessage("\"\xff\"")})
	if err != nil || !strings.Contains(string(got), "\"\uFFFD\"") {
		t.Errorf("broken UTF-8 became %q, %v", got, err)
	}
}
