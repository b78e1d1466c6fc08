package event_test

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestDigestOfAPromptIsThatOfWhatIsShown(t *testing.T) {
	digest := func(tool, input string) string {
		t.Helper()
		d, err := event.PromptDigest(tool, json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	shown := digest("Bash", `{"command":"ls","n":1.0}`)
	if want, _ := event.Checksum([]byte(`{"input":{"command":"ls","n":1.0},"tool_name":"Bash"}`)); shown != want {
		t.Errorf("digest is %s, want %s", shown, want)
	}
	if same := digest("Bash", ` { "n" : 1.0, "command": "l\u0073" } `); same != shown {
		t.Error("spaces, order and spelling count")
	}
	for _, other := range []string{digest("bash", `{"command":"ls","n":1.0}`), digest("Bash", `{"command":"ls","n":1}`), digest("Bash", `{}`)} {
		if other == shown {
			t.Error("another request has the same digest")
		}
	}
	if _, err := event.PromptDigest("Bash", json.RawMessage(`{`)); err == nil {
		t.Error("what is no JSON has a digest")
	}
}
